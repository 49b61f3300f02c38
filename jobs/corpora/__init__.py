"""Prepared corpora."""
