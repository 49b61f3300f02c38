"""Weights as sorted rows, as a file and as text, and which of them are relevant."""
