"""A disk whose power may fail at any moment: records what a program does to a folder, and tells what may be left of it.

The rules are those that every journaling file system keeps, and no more:

- The content of a file is on the disk once the file was fsynced. Before, all of it, a part or nothing may be there.
- A name that was made, moved or removed is so on the disk once its folder was fsynced. Before, it may be so or not;
  some file systems keep the order of such changes, others do not.
- A rename happens or does not; it is never half done.

Calls of `os` that change names are recorded as they are made. What was written otherwise is found by looking at the
folder before each of them.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Callable, Optional, Union

State = dict[str, Optional[bytes]]  # path → content, None for a folder


class File:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.kept = b""  # what was fsynced


class Folder:
    def __init__(self) -> None:
        self.names: dict[str, Node] = {}
        self.kept: dict[str, Node] = {}


Node = Union[File, Folder]
Change = list[tuple[Folder, str, Optional[Node]]]  # a folder's name gets a node, or loses it; all of them at once
PARTS: tuple[Callable[[bytes], bytes], ...] = (lambda data: data, lambda data: data[: len(data) // 2], lambda data: b"")


class Disk:
    """What is below a folder. `look` is called with every state that a power cut at that moment could leave behind."""

    def __init__(self, folder: Path, look: Callable[[Iterator[State]], None], deaf_to: tuple[type, ...] = ()) -> None:
        """`deaf_to`: File, Folder, or both, for a disk on which fsync does nothing for them."""
        self.folder, self.look, self.deaf_to = str(folder), look, deaf_to
        self.root = Folder()
        self.pending: list[Change] = []

    def watch(self, patch: Any) -> None:
        """Wrap the functions of `os`; `patch` is pytest's monkeypatch."""
        for name, change in {
            "replace": self._move,
            "rename": self._move,
            "unlink": self._remove,
            "remove": self._remove,
            "rmdir": self._remove,
            "mkdir": None,
            "fsync": self._fsync,
        }.items():
            patch.setattr(os, name, self._wrapped(getattr(os, name), change))

    def _wrapped(self, function: Callable[..., Any], change: Optional[Callable[..., None]]) -> Callable[..., Any]:
        def call(path: Any, *arguments: Any, dir_fd: Optional[int] = None, **named: Any) -> Any:
            place = self._place(path, dir_fd)
            if place is None:
                return function(path, *arguments, **({} if dir_fd is None else {"dir_fd": dir_fd}), **named)
            self.moment()
            result = function(path, *arguments, **({} if dir_fd is None else {"dir_fd": dir_fd}), **named)
            if change is not None:
                change(place, *arguments)
            self._scan(self.root, self.folder)
            return result

        return call

    def _place(self, path: Any, dir_fd: Optional[int]) -> Optional[str]:
        """The path within the folder, None if it is elsewhere."""
        if isinstance(path, int):
            path = os.readlink(f"/proc/self/fd/{path}")
        base = "" if dir_fd is None else os.readlink(f"/proc/self/fd/{dir_fd}")
        whole = os.path.abspath(os.path.join(base, os.fspath(path)))
        return whole if whole == self.folder or whole.startswith(f"{self.folder}/") else None

    # ------------------------------------------------------------ what the program does

    def _find(self, path: str) -> Node:
        node: Node = self.root
        for name in os.path.relpath(path, self.folder).split("/"):
            if name != ".":
                assert isinstance(node, Folder)
                node = node.names[name]
        return node

    def _entry(self, path: str) -> tuple[Folder, str]:
        folder = self._find(os.path.dirname(path))
        assert isinstance(folder, Folder)
        return folder, os.path.basename(path)

    def _record(self, *changes: tuple[Folder, str, Optional[Node]]) -> None:
        for folder, name, node in changes:
            folder.names.pop(name, None)
            if node is not None:
                folder.names[name] = node
        self.pending.append(list(changes))

    def _move(self, path: str, target: Any) -> None:
        (source, old), (folder, new) = self._entry(path), self._entry(os.path.abspath(os.fspath(target)))
        self._record((source, old, None), (folder, new, source.names[old]))

    def _remove(self, path: str, *ignored: Any) -> None:
        self._record((*self._entry(path), None))

    def _fsync(self, path: str) -> None:
        node = self._find(path)
        if isinstance(node, self.deaf_to):
            return
        if isinstance(node, File):
            node.kept = node.data
            return
        for change in [each for each in self.pending if any(folder is node for folder, _, _ in each)]:
            _apply(change, lambda folder: folder.kept)
            self.pending.remove(change)

    def _scan(self, folder: Folder, path: str) -> None:
        """Find what was written without a call that is recorded."""
        for name in sorted(os.listdir(path)):
            inner = os.path.join(path, name)
            if name not in folder.names:
                self._record((folder, name, Folder() if os.path.isdir(inner) else File(b"")))
            node = folder.names[name]
            if isinstance(node, Folder):
                self._scan(node, inner)
            else:
                node.data = Path(inner).read_bytes()
        assert set(folder.names) == set(os.listdir(path)), f"something has changed {path} in a way that is not recorded"

    # ------------------------------------------------------------ what a power cut leaves

    def moment(self) -> None:
        self._scan(self.root, self.folder)
        self.look(self._states())

    def _states(self) -> Iterator[State]:
        for done in _chosen(len(self.pending)):
            changed: dict[int, dict[str, Node]] = {}

            def names_of(folder: Folder, changed: dict[int, dict[str, Node]] = changed) -> dict[str, Node]:
                return changed.setdefault(id(folder), dict(folder.kept))

            for number in done:
                _apply(self.pending[number], names_of)
            for part in PARTS:
                yield dict(_content(self.root, "", names_of, part))


def _apply(change: Change, names_of: Callable[[Folder], dict[str, Node]]) -> None:
    for folder, name, node in change:
        names_of(folder).pop(name, None)
        if node is not None:
            names_of(folder)[name] = node


def _chosen(count: int) -> Iterator[Sequence[int]]:
    """Which of the changes are on the disk: the first ones; or, without any order, one of them, or all but one."""
    every = range(count)
    for end in range(count + 1):
        yield every[:end]
    for one in every:
        yield [one]
        yield [other for other in every if other != one]


def _content(
    folder: Folder, path: str, names_of: Callable[[Folder], dict[str, Node]], part: Callable[[bytes], bytes]
) -> Iterator[tuple[str, Optional[bytes]]]:
    for name, node in names_of(folder).items():
        if isinstance(node, Folder):
            yield f"{path}{name}", None
            yield from _content(node, f"{path}{name}/", names_of, part)
        else:
            yield f"{path}{name}", node.data if node.kept == node.data else part(node.data)


def restore(state: State, folder: Path) -> None:
    for name, data in state.items():
        path = folder / name
        (path if data is None else path.parent).mkdir(parents=True, exist_ok=True)
        if data is not None:
            path.write_bytes(data)
