"""How a step of the build ends when it does not end well, as exit codes of `build.py`."""


class BuildError(Exception):
    """A step that ended the build; the text says what happened and what to do."""

    exit_code = 1


class CheckFailed(BuildError):
    """Something was looked at and found wrong: a hash, a dependency, a file."""


class CannotRun(BuildError):
    """Something that the step needs is not there: a tool, the network, a browser."""

    exit_code = 3
