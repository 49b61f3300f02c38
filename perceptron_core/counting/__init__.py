"""What is counted over the shards in one pass: rare features, the shards of a feature, sums of one-pass learners."""
