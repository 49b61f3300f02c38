"""What all runners have in common: the folder in which they keep a job's files, into which nobody else may look."""

import os
import shutil
from typing import Any, Optional


class PrivateFolder:
    """To be put before a runner of mrjob, which would let everybody read the corpus in its temporary folder."""

    _local_tmp_dir: Optional[str]

    def _get_local_tmp_dir(self) -> str:
        is_new = not self._local_tmp_dir
        runner: Any = super()
        path = runner._get_local_tmp_dir()
        if is_new:
            os.chmod(path, 0o700)
        return path

    def _cleanup_local_tmp(self) -> None:
        """Nothing is said if somebody else has removed it."""
        folder, self._local_tmp_dir = self._local_tmp_dir, None
        if folder:
            shutil.rmtree(folder, ignore_errors=True)
