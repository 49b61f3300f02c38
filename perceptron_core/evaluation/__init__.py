"""Using a model: its guesses, their scores, its mistakes."""
