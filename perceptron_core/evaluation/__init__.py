"""Using a model: guesses, their scores, their mistakes."""
