"""What is counted in one pass over the shards: tokens and shards per feature, the sums of one-pass learners."""
