"""Using models: predict, evaluate, and the names of features."""
