"""Weights as sorted rows, their file, their text form, and which of them are relevant."""
