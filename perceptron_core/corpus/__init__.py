"""Readers and writers of corpora: files of sentences or instances in, the same with guesses out.

Features, what labels mean and remote storage are others' business: here a corpus is columns of strings in a
local file.
"""

from perceptron_core.corpus.files import open_local, read_lines, read_sentences
from perceptron_core.corpus.format import CLASSIFICATION, SEQUENCE, Format, Labels
from perceptron_core.corpus.formats import FORMATS, make_format
from perceptron_core.corpus.pieces import Opener, Piece, cut_file
from perceptron_core.corpus.sentence import Sentence

__all__ = [
    "CLASSIFICATION",
    "SEQUENCE",
    "FORMATS",
    "Format",
    "Labels",
    "Opener",
    "Piece",
    "cut_file",
    "Sentence",
    "make_format",
    "open_local",
    "read_lines",
    "read_sentences",
]
