"""Encoded shards: which sentence goes where, how a shard is built, and its records."""
