"""Sequences of labels: one label for every token, scored with its neighbours."""
