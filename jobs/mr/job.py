"""What our jobs have in common: the protocol, and arguments that are declared once per process."""

import errno
import os
import sys
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

from mrjob.job import MRJob

from perceptron_jobs.mr.protocol import LineProtocol

NO_ROOM = errno.ENOSPC  # the exit code of a task whose output has no room
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Job(MRJob):
    """An MRJob that declares its own arguments in `add_args`, not in `configure_args`.

    mrjob declares its 111 options again for every job and, inline, for every task. That takes longer than mixing the
    weights of an epoch, so each class keeps its parser.
    """

    INPUT_PROTOCOL = INTERNAL_PROTOCOL = OUTPUT_PROTOCOL = LineProtocol

    arg_parser: Any  # mrjob's own, with its names of the arguments that go to the tasks and of those that are files
    _passthru_arg_dests: set[str]
    _file_arg_dests: set[str]
    _declared: dict[type, tuple[Any, set[str], set[str]]] = {}

    @classmethod
    def run(cls) -> None:
        """A process of its own. On a full disk a traceback has no room either, so the exit code tells it."""
        try:
            super().run()
            sys.stdout.flush()
        except OSError as error:
            if error.errno not in FULL:
                raise
            with suppress(OSError):
                sys.stderr.write(f"no room for the output of {cls.__name__}: {error.strerror}\n")
                sys.stderr.flush()
            os._exit(NO_ROOM)

    def add_args(self) -> None:
        """Declare the job's own arguments."""

    def configure_args(self) -> None:
        if type(self) not in self._declared:
            super().configure_args()
            self.add_args()
            self._declared[type(self)] = self.arg_parser, self._passthru_arg_dests, self._file_arg_dests
        self.arg_parser, self._passthru_arg_dests, self._file_arg_dests = self._declared[type(self)]

    def _non_option_kwargs(self) -> dict[str, Any]:
        """mrjob declares all options once more to see which were given; here only our own, which is all it needs."""
        whole, own = self.arg_parser, self._passthru_arg_dests | self._file_arg_dests
        self.arg_parser = SimpleNamespace(_actions=[action for action in whole._actions if action.dest in own])
        try:
            return super()._non_option_kwargs()
        finally:
            self.arg_parser = whole
