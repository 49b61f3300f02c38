"""Readers and writers of corpora: they read files of sentences or instances, and write them back with guesses.

To them a corpus is columns of strings in a local file. They know nothing of features, of what labels mean, or of remote
storage.
"""

from perceptron_core.corpus.files import open_local, read_lines, read_sentences
from perceptron_core.corpus.format import CLASSIFICATION, SEQUENCE, TREE, Format, Labels
from perceptron_core.corpus.formats import FORMATS, make_format
from perceptron_core.corpus.pieces import Opener, Piece, split_file
from perceptron_core.corpus.sentence import Sentence

__all__ = [
    "CLASSIFICATION",
    "SEQUENCE",
    "TREE",
    "FORMATS",
    "Format",
    "Labels",
    "Opener",
    "Piece",
    "split_file",
    "Sentence",
    "make_format",
    "open_local",
    "read_lines",
    "read_sentences",
]
