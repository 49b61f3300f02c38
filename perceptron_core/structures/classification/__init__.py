"""Classes: one label for a whole instance."""
