"""Models at work: predict, evaluate, and the names of features."""
