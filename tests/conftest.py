"""Fixtures that several test files share."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of the real corpora: $PERCEPTRON_DATA, or shared/data beside the repository."""
    default = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
    folder = Path(os.environ.get("PERCEPTRON_DATA", default))
    if not folder.is_dir():
        reason = f"the corpora are not at {folder}; set PERCEPTRON_DATA to the folder that has conll2000/, ewt/ …"
        if os.environ.get("CI") or os.environ.get("PERCEPTRON_CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return folder
