"""Corpus files: plain and gzipped, lines, encodings, and the errors of files that cannot be read."""

import gzip
import os

import pytest

from perceptron_core.corpus import files as corpus_files
from perceptron_core.corpus import make_format, read_lines, read_sentences
from perceptron_core.errors import InputError

TEXT = "Мама NN\nмыла VB\n\n世界 NN\n"
WORDS = [("Мама", "мыла"), ("世界",)]


@pytest.fixture
def fmt():
    return make_format("columns", ["word", "pos"], "pos")


def write(path, data):
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def words(path, fmt):
    return [sentence.columns[0] for sentence in read_sentences(path, fmt)]


def all_lines(path):
    return [line for lines in read_lines(path) for line in lines]


def error_of(path, fmt):
    with pytest.raises(InputError) as caught:
        list(read_sentences(path, fmt))
    assert caught.value.source == str(path)
    return caught.value


@pytest.mark.parametrize("name", ["a.txt", "a.gz"])
@pytest.mark.parametrize("pack", [str.encode, lambda text: gzip.compress(text.encode())])
def test_content_not_name_tells_whether_a_file_is_gzipped(tmp_path, fmt, name, pack):
    assert words(write(tmp_path / name, pack(TEXT)), fmt) == WORDS
    assert words(str(tmp_path / name), fmt) == WORDS


def test_all_members_of_a_gzip_file_are_read_even_if_cut_within_a_character(tmp_path, fmt):
    data = TEXT.encode()
    members = b"".join(gzip.compress(data[start : start + 3]) for start in range(0, len(data), 3))
    assert words(write(tmp_path / "a.gz", members), fmt) == WORDS


def test_a_byte_order_mark_is_dropped_at_the_start_only(tmp_path, fmt):
    path = write(tmp_path / "a.txt", "\ufeff" + TEXT + "\n\ufeffx NN\n")
    assert words(path, fmt) == [*WORDS, ("\ufeffx",)]


def test_only_newlines_end_lines(tmp_path):
    odd = "a\u2028b\x85c\x0cd\x0be\x1cf\x1dg\x1eh\u2029i\rj"
    assert all_lines(write(tmp_path / "a.txt", f"{odd}\n\n{odd}\r\nlast")) == [odd, "", odd + "\r", "last"]


@pytest.mark.parametrize(
    ("text", "lines"), [("", []), ("\n", [""]), ("a", ["a"]), ("a\n", ["a"]), ("a\n\n", ["a", ""])]
)
def test_a_last_newline_starts_no_line(tmp_path, text, lines):
    assert all_lines(write(tmp_path / "a.txt", text)) == lines


@pytest.mark.parametrize("chunk_bytes", range(1, 12))
def test_lines_do_not_depend_on_the_chunks(tmp_path, monkeypatch, chunk_bytes):
    monkeypatch.setattr(corpus_files, "CHUNK_BYTES", chunk_bytes)
    path = write(tmp_path / "a.txt", "\ufeff" + TEXT + "\n\nдлинная последняя строка")
    assert all_lines(path) == [*TEXT.split("\n"), "", "длинная последняя строка"]


def test_line_numbers_go_on_over_chunks(tmp_path, monkeypatch, fmt):
    monkeypatch.setattr(corpus_files, "CHUNK_BYTES", 7)
    sentences = read_sentences(write(tmp_path / "a.txt", TEXT), fmt)
    assert [sentence.line for sentence in sentences] == [1, 4]


def test_a_missing_file_is_refused(tmp_path, fmt):
    assert "no such file" in str(error_of(tmp_path / "absent", fmt))


def test_a_directory_is_refused(tmp_path, fmt):
    assert "is a directory" in str(error_of(tmp_path, fmt))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_refused(tmp_path, fmt):
    path = write(tmp_path / "a.txt", TEXT)
    path.chmod(0)
    assert "Permission denied" in str(error_of(path, fmt))


def test_any_other_failure_to_open_is_refused(tmp_path, fmt):
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    assert str(error_of(loop, fmt)).startswith(f"{loop}: cannot be read (")


@pytest.mark.parametrize("chunk_bytes", [1, 5, 1 << 20])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
@pytest.mark.parametrize(("bad", "line"), [(b"\xffa NN\n", 5), (b"a NN\nb \xd0\n", 6), (b"a NN\n\nb \xd0", 7)])
def test_broken_utf8_is_refused_with_its_line(tmp_path, monkeypatch, fmt, chunk_bytes, bom, bad, line):
    monkeypatch.setattr(corpus_files, "CHUNK_BYTES", chunk_bytes)
    error = error_of(write(tmp_path / "a.txt", (bom + TEXT).encode() + bad), fmt)
    assert error.line == line
    assert "not UTF-8" in str(error)


def incompressible(lines):
    return "".join(f"{os.urandom(8).hex()} NN\n" for _ in range(lines)).encode()


@pytest.mark.parametrize("keep", [5, 30, -1, -8, -9, -500])
def test_a_truncated_gzip_file_is_refused(tmp_path, fmt, keep):
    data = gzip.compress(incompressible(1000))
    error = error_of(write(tmp_path / "a.gz", data[:keep]), fmt)
    assert "truncated or corrupt" in str(error)
    assert error.line == 1


def test_the_line_of_a_truncated_gzip_file_is_the_first_that_was_not_read(tmp_path, monkeypatch, fmt):
    monkeypatch.setattr(corpus_files, "CHUNK_BYTES", 100)
    data = gzip.compress(incompressible(5000))
    assert 100 < error_of(write(tmp_path / "a.gz", data[: len(data) // 2]), fmt).line < 2501 + 100


def test_a_truncated_second_member_is_refused(tmp_path, fmt):
    packed = gzip.compress(TEXT.encode())
    assert "truncated" in str(error_of(write(tmp_path / "a.gz", packed + packed[:-3]), fmt))


@pytest.mark.parametrize("place", [2, 40, -6, -2])
def test_a_corrupt_gzip_file_is_refused(tmp_path, fmt, place):
    data = bytearray(gzip.compress(incompressible(1000)))
    data[place] ^= 0xFF
    assert "corrupt" in str(error_of(write(tmp_path / "a.gz", bytes(data)), fmt))


def test_rubbish_after_a_member_is_refused(tmp_path, fmt):
    assert "corrupt" in str(error_of(write(tmp_path / "a.gz", gzip.compress(TEXT.encode()) + b"rubbish"), fmt))


@pytest.mark.parametrize("text", ["", "\ufeff", "\n", "\n \t\n\r\n", "-DOCSTART- -X-\n\n"])
@pytest.mark.parametrize("keep_text", [False, True])
def test_a_file_without_a_sentence_is_refused(tmp_path, fmt, text, keep_text):
    for name, data in [("a.txt", text.encode()), ("a.gz", gzip.compress(text.encode()))]:
        path = write(tmp_path / name, data)
        with pytest.raises(InputError, match="contains no sentence"):
            list(read_sentences(path, fmt, keep_text=keep_text))


def test_the_text_after_the_last_sentence_is_yielded_only_on_request(tmp_path, fmt):
    path = write(tmp_path / "a.txt", TEXT + "\n\n")
    assert len(list(read_sentences(path, fmt))) == 2
    last = list(read_sentences(path, fmt, keep_text=True))[-1]
    assert (last.columns, last.labels, last.text, last.token_lines) == (((),), (), ["", ""], ())
    assert fmt.write(last, []) == "\n\n"


def test_options_of_reading_are_passed_on(tmp_path, fmt):
    path = write(tmp_path / "a.txt", "a\nb\n")
    assert error_of(path, fmt).line == 1
    (sentence,) = read_sentences(path, fmt, keep_text=True, labels="optional")
    assert (sentence.columns, sentence.labels, sentence.text) == ((("a", "b"),), None, ["a", "b"])
