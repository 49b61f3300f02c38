"""Prepared corpora: how a corpus is split into pieces and encoded into shards, and what is kept of it."""
