"""The MapReduce jobs, the loop that drives them, and the command line."""

import os
import sys

if sys.version_info < (3, 12):
    # mrjob imports distutils; taken from the standard library instead of setuptools, a process starts 0.1 s sooner.
    os.environ.setdefault("SETUPTOOLS_USE_DISTUTILS", "stdlib")
