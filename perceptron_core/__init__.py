"""Structured perceptrons, as algorithms on arrays: no MapReduce, no command line, no printing."""

__version__ = "0.1.0"
