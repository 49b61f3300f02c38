"""Pieces of files: wherever a file is split, no sentence is lost, doubled or broken, and errors name the right line."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

import perceptron_jobs.corpora.pieces
from perceptron_core.corpus import Piece, make_format, read_sentences, split_file
from perceptron_core.errors import InputError

COLUMNS = make_format("columns", ["word", "pos"], "pos")
TAGGED = make_format("word_tag", ["word"], "tag")

words = st.text("abжш猫", min_size=1, max_size=4)
blank = st.sampled_from(["\n", "\n\n", " \n", "\t\n\n", "\r\n"])
sentence = st.lists(words, min_size=1, max_size=4)


def pieces_of(data: bytes, cuts: list[int]) -> list[Piece]:
    edges = sorted({0, *(cut % (len(data) + 1) for cut in cuts)} - {len(data)})
    return [Piece(0, "corpus", n, a, b) for n, (a, b) in enumerate(zip(edges, [*edges[1:], None]))]


def opener(data: bytes):
    return lambda path, start: io.BufferedReader(io.BytesIO(data[start:]))


@given(st.lists(st.tuples(sentence, blank), min_size=1, max_size=8), st.lists(st.integers(0, 300), max_size=6))
def test_pieces_of_columns_have_every_sentence_once(sentences, cuts):
    text = "".join("".join(f"{word} X\n" for word in tokens) + end for tokens, end in sentences)
    data = text.encode()
    whole = list(read_sentences("corpus", COLUMNS, keep_text=True, opener=opener(data)))
    parts = [
        list(read_sentences(piece, COLUMNS, keep_text=True, opener=opener(data))) for piece in pieces_of(data, cuts)
    ]

    def columns(found):
        return [s.columns for s in found if s.columns[0]]

    def written(found):
        return "".join(COLUMNS.write(s, s.labels or ()) for s in found)

    assert columns(s for part in parts for s in part) == columns(whole)
    assert "".join(written(part) for part in parts) == written(whole)


@given(st.lists(sentence, min_size=1, max_size=8), st.lists(st.integers(0, 300), max_size=6))
def test_pieces_of_lines_have_every_sentence_once(sentences, cuts):
    data = "".join(" ".join(f"{word}_X" for word in tokens) + "\n" for tokens in sentences).encode()
    whole = [s.columns for s in read_sentences("corpus", TAGGED, opener=opener(data))]
    parts = [s.columns for piece in pieces_of(data, cuts) for s in read_sentences(piece, TAGGED, opener=opener(data))]
    assert parts == whole


def test_an_error_names_the_line_of_the_file_not_of_the_piece():
    data = b"a X\n\nb X\nb X\n\nbroken\n\n"
    last = pieces_of(data, [9])[-1]
    with pytest.raises(InputError, match="^corpus:6: "):
        list(read_sentences(last, COLUMNS, opener=opener(data)))


def test_a_file_is_cut_into_pieces_of_about_the_size_asked_for():
    assert split_file(3, "f", 100, 40) == [Piece(3, "f", 0, 0, 50), Piece(3, "f", 1, 50, None)]
    assert split_file(3, "f", 10, 40) == [Piece(3, "f", 0, 0, None)]


def test_a_corpus_in_pieces_makes_the_same_shards_and_the_same_predictions(
    corpus, must, contents, tmp_path, monkeypatch
):
    task, text = corpus / "task.yaml", corpus / "train.txt"
    given = ("--train", text, corpus / "dev.txt", "--shards", 3)
    must("prepare", task, *given, "--output", tmp_path / "whole")
    must("train", task, "--prepared", tmp_path / "whole", "--run-dir", tmp_path / "run", "--epochs", 1)
    tagged = must("predict", tmp_path / "run", text, corpus / "dev.txt")
    score = must("evaluate", tmp_path / "run", text)
    monkeypatch.setattr(perceptron_jobs.corpora.pieces, "PIECE_BYTES", 500)
    assert (
        len(perceptron_jobs.corpora.pieces.cut_files([str(text)], COLUMNS, perceptron_jobs.corpora.pieces.Cluster()))
        > 3
    )
    must("prepare", task, *given, "--output", tmp_path / "pieces")
    assert contents(tmp_path / "pieces") == contents(tmp_path / "whole")
    assert must("predict", tmp_path / "run", text, corpus / "dev.txt") == tagged
    assert must("evaluate", tmp_path / "run", text) == score
