"""Corpora that are made of others."""

import gzip

import pytest

from perceptron_core.errors import InputError
from perceptron_jobs.experiment.makers import MAKERS

TREEBANK = """# newdoc id = weblog-one
# sent_id = weblog-one-0001
# text = The cat   sat .
1\tThe\t_\tDET\t_\t_\t_\t_\t_\t_

# sent_id = email-two-0001
# text = Кот\tспит
1\tКот\t_\tNOUN\t_\t_\t_\t_\t_\t_
"""


def test_genres_are_the_beginnings_of_the_sentences_names(tmp_path):
    with gzip.open(tmp_path / "bank.conllu.gz", "wt", encoding="utf-8") as file:
        file.write(TREEBANK)
    lines = list(MAKERS["genres"](str(tmp_path / "bank.conllu.gz")))
    assert lines == ["weblog\tThe cat sat .\n", "email\tКот спит\n"]
    (tmp_path / "none.conllu").write_text("# text = Words\n", encoding="utf-8")
    with pytest.raises(InputError, match="none.conllu:1: the text has no `# sent_id = GENRE-…` before it"):
        list(MAKERS["genres"](str(tmp_path / "none.conllu")))


def test_a_made_corpus_is_trained_on_and_made_anew(write, corpus, must, perceptron, tmp_path):
    bank = tmp_path / "bank.conllu"
    bank.write_text(TREEBANK, encoding="utf-8")
    made = {"genres": {"task": "text", "train": str(bank), "dev": str(bank), "make": "genres"}}
    table = {"rows": "run", "values": ["dev", "dev.last", "features"]}
    path = write("made", corpora=made, seeds=[1], runs={"serial": {}}, table=table, figure=None, papers=None)
    must("experiment", path, "--data", corpus, "--output", tmp_path / "out")
    assert (tmp_path / "out" / "corpora" / "genres-train.txt").read_text(encoding="utf-8").startswith("weblog\tThe cat")
    assert "| serial | 100.00 | 100.00 |" in (tmp_path / "out" / "made.md").read_text(encoding="utf-8")
    bank.write_text(TREEBANK.replace("cat", "dog"), encoding="utf-8")
    refused = perceptron("experiment", path, "--data", corpus, "--output", tmp_path / "out")
    assert refused.code == 2 and "was made of another corpus" in refused.err
