"""Jobs on this machine: mrjob's inline and local runners, which say how many of a job's tasks are done.

A task of -r local has a process of its own. On Linux it ends with the driver, even if that is killed: otherwise it
would go on writing, and complain that nobody listens.
"""

import ctypes
import errno
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from functools import partial
from multiprocessing.pool import Pool
from typing import Any, Callable, Optional

from mrjob.inline import InlineMRJobRunner
from mrjob.local import LocalMRJobRunner, _TaskFailedException
from mrjob.util import save_cwd, save_sys_path, save_sys_std

from perceptron_jobs.engines.output import sort_lines
from perceptron_jobs.engines.private import PrivateFolder
from perceptron_jobs.mr.job import NO_ROOM

SET_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of prctl(2)
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None

# (tasks done, all tasks), on a cluster (percent, 100); and the state of the job, where the runner knows it
TasksDone = Callable[..., None]


def ignore(done: int, total: int, state: str = "") -> None:
    pass


class InlineRunner(PrivateFolder, InlineMRJobRunner):
    """Everything in this process. Tasks get no environment variables of their own, since setting and resetting them
    would take longer than the epoch of a small shard."""

    tasks_done: TasksDone = staticmethod(ignore)

    def _run_multiple(self, funcs: Any, num_processes: Optional[int] = None) -> None:
        tasks = list(funcs)
        for number, task in enumerate(tasks, start=1):
            task()
            self.tasks_done(number, len(tasks))

    def _num_reducers(self, step_num: int) -> int:
        """As many as were asked for, which mrjob ignores here; so the time of each reducer can be measured."""
        asked = self._jobconf_for_step(step_num).get("mapreduce.job.reduces")
        return int(asked) if asked else super()._num_reducers(step_num)

    def _sort_input_func(self) -> Callable[[Sequence[str], str], None]:
        return sort_lines

    def _cleanup_local_tmp(self) -> None:
        """While the next job runs: some file systems need milliseconds for each of a job's dozen folders."""
        threading.Thread(target=super()._cleanup_local_tmp).start()  # Python waits for it before it ends

    def _invoke_task_func(self, task_type: str, step_num: int, task_num: int) -> Callable[..., None]:
        def invoke(stdin: Any, stdout: Any, stderr: Any, folder: str, env: dict[str, str]) -> None:
            with save_cwd(), save_sys_path(), save_sys_std():
                os.chdir(folder)
                sys.path = [folder, *sys.path]
                sys.stdin, sys.stdout, sys.stderr = stdin, stdout, stderr
                self._mrjob_cls(self._args_for_task(step_num, task_type)).execute()

        return invoke


class LocalRunner(PrivateFolder, LocalMRJobRunner):
    """One process per task, one at a time per core."""

    tasks_done: TasksDone = staticmethod(ignore)

    def _sort_input_func(self) -> Callable[[Sequence[str], str], None]:
        return sort_lines

    def _run_multiple(self, funcs: Any, num_processes: Optional[int] = None) -> None:
        tasks = list(funcs)
        # Leaving the pool ends the other tasks if one fails.
        with Pool(self._opts["num_cores"], end_with, (os.getpid(),)) as pool:
            results = [pool.apply_async(_run, (task,)) for task in tasks]
            for number, result in enumerate(results, start=1):
                result.get()
                self.tasks_done(number, len(tasks))

    def _invoke_task_func(self, task_type: str, step_num: int, task_num: int) -> Callable[..., None]:
        named = {"step_num": step_num, "num_steps": self._num_steps(), "task_type": task_type, "task_num": task_num}
        return partial(_run_process, self._substep_args(step_num, task_type), named)

    def _log_cause_of_error(self, ex: Exception) -> None:
        folder = self._get_local_tmp_dir()
        if not os.path.isdir(folder):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), folder) from ex
        if not isinstance(ex, OSError):  # which says enough
            super()._log_cause_of_error(ex)


def end_with(parent: int) -> None:
    """Let this process be killed as soon as its parent ends; at once if it has ended already."""
    if _libc is not None:
        _libc.prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)


def _run_process(
    words: list[str], named: dict[str, Any], stdin: Any, stdout: Any, stderr: Any, folder: str, env: dict[str, str]
) -> None:
    """Run a task; raises OSError if there is no room for what it writes, which it says by its exit code."""
    tie = partial(end_with, os.getpid()) if _libc is not None else None
    code = subprocess.call(words, stdin=stdin, stdout=stdout, stderr=stderr, cwd=folder, env=env, preexec_fn=tie)
    if code == NO_ROOM:
        raise OSError(NO_ROOM, os.strerror(NO_ROOM))
    if code:
        how = f"died by signal {-code}" if code < 0 else f"returned exit status {code}"
        raise _TaskFailedException(reason=f"the command {how}", **named)


def _run(task: Callable[[], None]) -> None:
    """In a process of the pool, which can only send back errors that can be pickled."""
    try:
        task()
    except (_TaskFailedException, OSError):
        raise
    except Exception as error:
        raise RuntimeError(repr(error)) from None
