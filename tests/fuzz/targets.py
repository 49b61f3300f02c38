"""What is fuzzed: every kind of file that comes from somebody else, and what mappers send to reducers."""

from fuzz_files import FILES
from fuzz_texts import TEXTS
from fuzz_wire import WIRE

TARGETS = {**FILES, **WIRE, **TEXTS}
