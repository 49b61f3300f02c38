"""Lines, tokens, sentences, labels and packed files that are too large are refused with their line, and the way out."""

import gzip

import pytest

from perceptron_core.corpus import make_format, read_sentences, unpacking
from perceptron_core.corpus.pieces import Piece
from perceptron_core.errors import InputError, UserError
from perceptron_core.limits import VARIABLE, Limits, limits

COLUMNS = make_format("columns", ["word", "tag"], "tag")


@pytest.fixture
def limited(monkeypatch):
    def change(text):
        monkeypatch.setenv(VARIABLE, text)
        limits.cache_clear()

    yield change
    limits.cache_clear()


def read(path, fmt=COLUMNS):
    return list(read_sentences(path, fmt))


def refused(path, told, line, fmt=COLUMNS):
    with pytest.raises(InputError, match=told) as caught:
        read(path, fmt)
    assert (caught.value.line, VARIABLE in str(caught.value)) == (line, True)


@pytest.mark.parametrize("packed", [False, True])
def test_a_long_line(tmp_path, limited, packed):
    limited(f"line={3 << 20}")
    path = tmp_path / "x"
    data = b"a A\nb B\n" + b"x" * (3 << 20) + b"y Z\n"
    path.write_bytes(gzip.compress(data) if packed else data)
    refused(path, "the line is longer than 3,145,728 bytes", 3)
    path.write_bytes(data.replace(b"y Z", b""))
    with pytest.raises(InputError, match="found 1 column"):
        read(path)


def test_a_long_line_where_a_piece_begins(tmp_path, limited):
    limited("line=100")
    (tmp_path / "x").write_bytes(b"a A\n" + b"b" * 5_000)
    with pytest.raises(InputError, match="has a line longer than 100 bytes"):
        list(read_sentences(Piece(0, str(tmp_path / "x"), 1, 6, None), COLUMNS))


def test_a_long_token(tmp_path, limited):
    (tmp_path / "x").write_text("a A\n\nb B\n" + "w" * (1 << 20) + "w C\n\nd D\n")
    refused(tmp_path / "x", "a token of the sentence that begins here is longer than 1,048,576 characters", 3)
    limited("token=5")
    (tmp_path / "y").write_text("aaaaa A\n\nb BBBBBB\n")
    refused(tmp_path / "y", "longer than 5 characters", 3)
    limited("token=6")
    assert len(read(tmp_path / "y")) == 2


@pytest.mark.parametrize("name, text", [("columns", "a A\n\nb B\nc C\nd D\n"), ("word_tag", "a_A\n\nb_B c_C d_D\n")])
def test_a_long_sentence(tmp_path, limited, name, text):
    limited("sentence=2")
    (tmp_path / "x").write_text(text)
    refused(
        tmp_path / "x",
        "a sentence that begins here has more than 2 tokens",
        3,
        make_format(name, ["word", "tag"], "tag"),
    )


def test_a_sentence_that_does_not_end_is_not_kept(tmp_path, limited):
    """It is refused after the limit and a chunk or two, not at the end of the file."""
    limited("sentence=1000")
    (tmp_path / "x").write_text("a A\n" * 800_000)
    refused(tmp_path / "x", "more than 1,000 tokens", 1)


def test_a_packed_file_that_unpacks_to_very_much(tmp_path, limited, monkeypatch):
    monkeypatch.setattr(unpacking, "EXPANDED_FREELY", 1 << 18)
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(b"a A\n\n" * 100_000))
    with pytest.raises(InputError, match="unpacks to more than 250 times its size; .*expansion=N"):
        read(path)
    limited("expansion=5000")
    assert len(read(path)) == 100_000


@pytest.mark.parametrize("text", ["line", "line=", "line=x", "line=-1", "line=0", "lines=3", "line=" + "9" * 99])
def test_limits_that_are_none(limited, text):
    limited(text)
    with pytest.raises(UserError, match=f"{VARIABLE}: .* is not a limit; .*line, token, sentence, labels, expansion"):
        limits()


def test_limits_are_read_once_from_the_environment(limited):
    limited("line=7,labels=9")
    assert limits() == Limits()._replace(line=7, labels=9)
