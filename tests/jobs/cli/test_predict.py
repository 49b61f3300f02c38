"""`perceptron predict`: every input line comes back, in order, with the guess in its place."""

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest


def without_last_column(text: str) -> str:
    return "".join(line.rpartition(" ")[0] + "\n" if line else "\n" for line in text.split("\n")[:-1])


def guesses(text: str) -> list[str]:
    return [line.split()[-1] for line in text.split("\n") if line.strip()]


@pytest.fixture(scope="module")
def tagger(tmp_path_factory, must):
    """Trains a tagger of words for a format: tagger(name of the format, training text) → model."""

    def make(fmt: str, text: str, more: str = "", columns: str = "[word, tag]", predict: str = "tag") -> Path:
        folder = tmp_path_factory.mktemp(fmt)
        task = f"format: {fmt}\ncolumns: {columns}\npredict: {predict}\nfeatures: ['word[-1..1]', 'suffix2[0]']\n"
        (folder / "task.yaml").write_text(task + more, encoding="utf-8")
        (folder / "train").write_text(text, encoding="utf-8")
        must("train", folder / "task.yaml", "--train", folder / "train", "--run-dir", folder / "run")
        return folder / "run" / "model"

    return make


@pytest.fixture(scope="module")
def dev_text(corpus) -> str:
    return (corpus / "dev.txt").read_text(encoding="utf-8")


def test_the_guess_is_the_last_column_and_the_rest_is_untouched(trained, corpus, dev_text, must):
    tagged = must("predict", trained, corpus / "dev.txt")
    assert without_last_column(tagged) == dev_text
    assert set(guesses(tagged)) <= {"B-NP", "I-NP", "B-VP", "B-名", "I-名", "O"}
    gold = guesses(dev_text)
    right = sum(a == b for a, b in zip(gold, guesses(tagged)))
    assert len(gold) > right > 0.8 * len(gold)


def test_without_the_gold_column_the_guesses_are_the_same(trained, corpus, dev_text, must, tmp_path):
    bare = without_last_column(dev_text)
    (tmp_path / "bare.txt").write_text(bare, encoding="utf-8")
    tagged = must("predict", trained, tmp_path / "bare.txt")
    assert without_last_column(tagged) == bare
    assert guesses(tagged) == guesses(must("predict", trained, corpus / "dev.txt"))


def test_standard_input_and_output(trained, corpus, dev_text, must, tmp_path):
    expected = must("predict", trained, corpus / "dev.txt")
    assert must("predict", trained, "-", "--output", "-", stdin=dev_text) == expected
    assert must("predict", trained, "-", "--output", tmp_path / "out.txt", stdin=dev_text) == ""
    assert (tmp_path / "out.txt").read_text(encoding="utf-8") == expected


def test_several_files_come_out_in_their_order(trained, corpus, dev_text, must, tmp_path):
    (tmp_path / "中.gz").write_bytes(gzip.compress("кот NN B-NP\n\n".encode()))
    one = must("predict", trained, corpus / "dev.txt")
    two = must("predict", trained, tmp_path / "中.gz")
    assert must("predict", trained, tmp_path / "中.gz", corpus / "dev.txt", tmp_path / "中.gz") == two + one + two
    assert must("predict", trained, corpus / "dev.txt", "-", stdin="кот NN B-NP\n\n") == one + two


def test_last_and_averaged_weights(trained, must, corpus, tmp_path):
    choices = {
        which: must("predict", trained, corpus / "train.txt", "--weights", which) for which in ("last", "averaged")
    }
    assert choices["last"] != choices["averaged"] == must("predict", trained, corpus / "train.txt")
    model = trained / "model"
    for which, tagged in choices.items():
        assert must("predict", model, corpus / "train.txt", "--weights", which) == tagged


def test_an_output_appears_whole_over_an_older_one(trained, corpus, must, contents, tmp_path):
    (tmp_path / "out.txt").write_text("older")
    must("predict", trained, corpus / "dev.txt", "--output", tmp_path / "out.txt")
    assert list(contents(tmp_path)) == ["out.txt"]
    assert (tmp_path / "out.txt").read_text(encoding="utf-8") == must("predict", trained, corpus / "dev.txt")
    assert (tmp_path / "out.txt").stat().st_mode & 0o444 == 0o444


def test_a_device_stays_a_device(trained, corpus, must):
    must("predict", trained, corpus / "dev.txt", "--output", "/dev/null")
    assert Path("/dev/null").is_char_device()


def test_comments_blank_lines_docstart_and_carriage_returns_are_kept(tagger, must, tmp_path):
    options = "format_options: {comment: '# '}\n"
    model = tagger("columns", "the D\nкот N\n\n猫 N\n", options)
    text = "# note\n-DOCSTART- -X-\n\n\nthe D\r\nкот N\r\n\r\n# второй\n猫\tN\n\n\n# end\n"
    (tmp_path / "in.txt").write_bytes(text.encode())
    expected = "# note\n-DOCSTART- -X-\n\n\nthe D D\r\nкот N N\r\n\r\n# второй\n猫\tN\tN\n\n\n# end\n"
    assert must("predict", model, tmp_path / "in.txt") == expected


def test_conllu_gets_the_guess_in_the_predicted_column(tagger, must, tmp_path):
    def word(number: str, form: str, tag: str) -> str:
        return "\t".join([number, form, "_", tag, "_", "_", "0", "_", "_", "a=b"]) + "\n"

    train = "# text = the 猫\n" + word("1", "the", "DET") + word("2", "猫", "NOUN") + "\n" + word("1", "спит", "VERB")
    model = tagger("conllu", train, columns="[form, upos]", predict="upos")
    given = "# sent_id = 1\n" + word("1-2", "the猫", "_") + word("1", "the", "_") + word("2", "猫", "_")
    given += word("2.1", "?", "_") + "\n# sent_id = 2\n" + word("1", "спит", "X") + "\n"
    (tmp_path / "in.conllu").write_text(given, encoding="utf-8")
    expected = given.replace(word("1", "the", "_"), word("1", "the", "DET"))
    expected = expected.replace(word("2", "猫", "_"), word("2", "猫", "NOUN"))
    expected = expected.replace(word("1", "спит", "X"), word("1", "спит", "VERB"))
    assert must("predict", model, tmp_path / "in.conllu") == expected


def test_word_tag_lines_and_raw_lines(tagger, must):
    model = tagger("word_tag", "the_D 猫_N a_b_N\nспит_V ._.\n")
    tagged = "the_D 猫_N\n\nспит_V ._.\n"
    assert must("predict", model, "-", stdin="the_X 猫_X\n\nспит_X ._X\n") == tagged
    assert must("predict", model, "-", stdin="the 猫\n\nспит .\n") == tagged
    assert must("predict", model, "-", "--format", "raw", stdin="the  猫 a_b\n") == "the_D 猫_N a_b_N\n"


def test_raw_lines_for_a_model_of_columns(tagger, must):
    model = tagger("columns", "the D\nкот N\n\n猫 N\n")
    assert must("predict", model, "-", "--format", "raw", stdin="the 猫\n\nкот\n") == "the_D 猫_N\n\nкот_N\n"


def test_the_same_on_local(trained, corpus, must):
    files = [corpus / "dev.txt", corpus / "train.txt"]
    assert must("predict", trained, *files, "-r", "local") == must("predict", trained, *files)


def test_a_model_that_was_moved_alone(trained, corpus, must, tmp_path, monkeypatch):
    (tmp_path / "m").write_bytes((trained / "model").read_bytes())
    monkeypatch.chdir(tmp_path)
    assert must("predict", "m", corpus / "dev.txt") == must("predict", trained, corpus / "dev.txt")


@pytest.mark.parametrize("link", ["same", "symbolic", "hard", "other path"])
def test_an_output_that_is_also_an_input_is_refused(link, trained, corpus, perceptron, dev_text, tmp_path):
    given, output = tmp_path / "in.txt", tmp_path / "out.txt"
    given.write_text(dev_text, encoding="utf-8")
    if link == "symbolic":
        output.symlink_to(given)
    elif link == "hard":
        os.link(given, output)
    else:
        output = given if link == "same" else tmp_path / "x" / ".." / "in.txt"
        (tmp_path / "x").mkdir()
    outcome = perceptron("predict", trained, corpus / "dev.txt", given, "--output", output)
    assert outcome.code == 2 and f"{output} is the same file as {given}, which is read" in outcome.err
    assert given.read_text(encoding="utf-8") == dev_text and output.samefile(given)


def test_a_model_is_not_overwritten_by_what_it_says(trained, corpus, perceptron):
    before = (trained / "model").read_bytes()
    epoch = max(trained.glob("epoch-*"))
    for model, output in ((trained, trained / "model"), (trained / "model",) * 2, (trained, epoch / "weights")):
        for command in (("predict", model, corpus / "dev.txt"), ("export", model)):
            outcome = perceptron(*command, "--output", output)
            assert outcome.code == 2 and "which is read; choose another --output" in outcome.err
    assert (trained / "model").read_bytes() == before
    outcome = perceptron("import", trained / "model", "--task", corpus / "task.yaml", "--output", trained / "model")
    assert outcome.code == 2 and "which is read; choose another --output" in outcome.err


def test_standard_output_that_is_also_an_input_is_refused(trained, corpus, tmp_path):
    (tmp_path / "in.txt").write_bytes((corpus / "dev.txt").read_bytes())
    command = [sys.executable, "-I", "-m", "perceptron_jobs.cli.main", "predict", str(trained), tmp_path / "in.txt"]
    with open(tmp_path / "in.txt", "ab") as file:
        outcome = subprocess.run(command, stdout=file, stderr=subprocess.PIPE, text=True, timeout=120)
    assert outcome.returncode == 2 and "standard output is the same file as" in outcome.stderr
    assert (tmp_path / "in.txt").read_bytes() == (corpus / "dev.txt").read_bytes()


def test_many_chunks_and_pieces_come_back_in_order(trained, corpus, dev_text, must, tmp_path, monkeypatch):
    expected = must("predict", trained, corpus / "dev.txt")
    monkeypatch.setattr("perceptron_jobs.mr.predict.CHUNK", 2)
    monkeypatch.setattr("perceptron_jobs.corpora.pieces.PIECE_BYTES", 500)
    monkeypatch.setattr("perceptron_core.evaluation.predictor.ROOM", 0)
    assert must("predict", trained, corpus / "dev.txt") == expected
    assert must("predict", trained, corpus / "dev.txt", "-r", "local") == expected


def test_of_a_bad_file_nothing_is_printed(trained, corpus, perceptron, tmp_path):
    (tmp_path / "bad.txt").write_text("the DT\n\nthe\n", encoding="utf-8")
    outcome = perceptron("predict", trained, corpus / "dev.txt", tmp_path / "bad.txt")
    assert (outcome.code, outcome.out) == (2, "") and "bad.txt:3: " in outcome.err
