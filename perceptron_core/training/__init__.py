"""Training: one epoch of one shard, mixing, rounds, stopping."""
