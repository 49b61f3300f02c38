"""What all runners have in common: nobody else may look into the folder in which they keep a job's files."""

import os
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
