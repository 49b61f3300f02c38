"""A job that failed, neither by the user's mistake nor for a reason that a traceback of the driver explains."""


class JobFailed(Exception):
    """The runner has shown the failing task's own traceback; the command ends with exit code 1."""
