"""Where files are kept: on this machine, HDFS or S3. All have the same methods; the path decides which it is."""

import io

from perceptron_core.errors import UserError
from perceptron_jobs.storage.base import Storage, absolute, base_name, is_remote, join, parent
from perceptron_jobs.storage.local import LocalStorage

__all__ = ["Storage", "absolute", "base_name", "is_remote", "join", "open_file", "parent", "storage_of"]

_known: dict[tuple[str, str], Storage] = {}


def storage_of(path: str) -> Storage:
    """The storage that a path belongs to."""
    scheme, _, rest = path.partition("://") if is_remote(path) else ("file", "", "")
    place = (scheme, rest.partition("/")[0])
    if place not in _known:
        if scheme == "file":
            _known[place] = LocalStorage()
        elif scheme == "hdfs":
            from perceptron_jobs.storage.webhdfs import WebHdfsStorage  # only now: it loads `requests`

            _known[place] = WebHdfsStorage(place[1])
        elif scheme == "s3":
            from perceptron_jobs.storage.s3 import S3Storage  # only now: it loads boto3, which not everybody has

            _known[place] = S3Storage(place[1])
        else:
            raise UserError(f"{path}: {scheme}:// is not known; use a local path, hdfs:// or s3://")
    return _known[place]


def open_file(path: str, start: int = 0) -> io.BufferedReader:
    """A stream of a file's bytes from `start` on, wherever it is kept."""
    return storage_of(path).open(path, start)
