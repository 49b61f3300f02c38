"""Where the repository is, for tests that read its files or start its scripts, wherever in tests/ they are."""

from pathlib import Path

ROOT = next(folder for folder in Path(__file__).resolve().parents if (folder / "setup.cfg").exists())
