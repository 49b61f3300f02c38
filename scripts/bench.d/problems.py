"""What can keep a measurement from being made."""


class Missing(Exception):
    """A rival or a corpus that cannot be had; the message says why."""


class Failed(Exception):
    """A process that was to be measured ended with an error; the message is one line, `words` all that it said."""

    def __init__(self, message: str, words: str = "") -> None:
        super().__init__(message)
        self.words = words
