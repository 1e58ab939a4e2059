"""What goes wrong."""


class Error(Exception):
    """A run, a study or a file is in error. The text is the simulator's one line, without the leading "sim:"."""


class SimulatorWarning(UserWarning):
    """Something about a run's input is probably not what was meant. The run went on."""
