"""What can go wrong in a way that the user can fix."""


class ClusterError(Exception):
    """A sentence for the user, and the exit code it ends with."""

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.code = code
