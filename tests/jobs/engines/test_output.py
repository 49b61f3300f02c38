"""What a job has put out: the order of its parts, the errors in them, and sorting without holding the lines."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from perceptron_core.errors import UserError
from perceptron_core.wire import encode_line
from perceptron_jobs.engines import output
from perceptron_jobs.engines.output import lines_of, parts_of, raise_errors, sort_lines
from perceptron_jobs.mr.protocol import error_record


def written(folder: Path, **parts: list[bytes]) -> list[str]:
    for name, lines in parts.items():
        (folder / name).write_bytes(b"".join(line + b"\n" for line in lines))
    return [str(folder / name) for name in parts]


def runner_of(folder: Path, names: list[str], remote: bool) -> Any:
    """A runner whose output is these files; those of a remote one are read by its own file system only."""
    prefix = "hdfs:///out/" if remote else f"{folder}/"

    def cat(path: str) -> Any:
        data = (folder / path[len(prefix) :]).read_bytes()
        return iter([data[:3], data[3:]])

    fs = SimpleNamespace(ls=lambda _: [prefix + name for name in names], _cat_file=cat)
    return SimpleNamespace(get_output_dir=lambda: prefix.rstrip("/"), fs=fs)


@pytest.mark.parametrize("remote", [False, True])
def test_parts_come_in_the_order_of_their_keys(remote: bool, tmp_path: Path) -> None:
    made = {"part-0": [b"000002.1\tc", b"000002.2\td"], "part-1": [b"000000.1\ta"], "part-2": [b"000001.1\tb"]}
    written(tmp_path, **made, empty=[], _SUCCESS=[b"000000\tno"])
    (tmp_path / "scratch").mkdir()
    runner = runner_of(tmp_path, ["_SUCCESS", "empty", *made], remote)
    parts = parts_of(runner, str(tmp_path / "scratch"))
    assert b"".join(line[-1:] for line in lines_of(parts)) == b"abcd"
    assert len(list((tmp_path / "scratch").iterdir())) == (4 if remote else 0)


def test_parts_whose_keys_tell_nothing_stay_in_order(tmp_path: Path) -> None:
    names = [f"part-{number}" for number in range(12)]
    written(tmp_path, **{name: [b"header\t" + name.encode()] for name in names})
    parts = parts_of(runner_of(tmp_path, names, remote=False), str(tmp_path))
    assert [Path(part).name for part in parts] == names


@pytest.mark.parametrize("window", [1, 3, 8, 1 << 20])
def test_the_error_with_the_lowest_order_is_raised(
    window: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "CHUNK_BYTES", window)
    late, early = (encode_line(*error_record(ValueError(text), order)) for text, order in (("late", 7), ("early", 2)))
    fine = encode_line("errors", {"error\t": "error\t"})
    raise_errors(written(tmp_path, a=[fine, fine], b=[]))
    for parts in ({"a": [fine, late], "b": [early]}, {"a": [early, late], "b": [fine]}):
        with pytest.raises(UserError, match="early"):
            raise_errors(written(tmp_path, **parts))


def test_lines_are_sorted_by_key_and_stay_in_order_within_one(tmp_path: Path) -> None:
    inputs = written(tmp_path, a=[b"2\tx", b"10\tz", b"2\ta"], b=[], c=[b"2\tb", b"1\tq", b"1"])
    sort_lines(inputs, str(tmp_path / "sorted"))
    expected = [b"1\tq", b"1", b"10\tz", b"2\tx", b"2\ta", b"2\tb"]
    assert (tmp_path / "sorted").read_bytes() == b"".join(line + b"\n" for line in expected)
