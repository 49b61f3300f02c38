"""The MapReduce jobs, the loop that drives them, and the command line."""

import os
import sys

# mrjob imports distutils; taken from the standard library instead of setuptools, a process starts 0.1 s sooner. Not
# every standard library has it: Python 3.12 has none, and Debian keeps most of it in a package of its own.
if os.path.exists(os.path.join(os.path.dirname(os.__file__), "distutils", "spawn.py")):
    os.environ.setdefault("SETUPTOOLS_USE_DISTUTILS", "stdlib")  # for the processes of the tasks
    if "_distutils_hack" in sys.modules:  # for this one
        sys.modules["_distutils_hack"].remove_shim()
