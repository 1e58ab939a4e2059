"""Runs the cycle-accurate TPU simulator Systole, and reads its records and studies.

The package sends runs to ``sim worker`` processes and returns what they report. It simulates and computes nothing itself.
``docs/python.md`` of the project describes it. ``systole.jax`` and ``systole.keras`` are parts with needs of their own.
"""

from ._binary import find_simulator
from ._errors import Error, SimulatorWarning
from ._record import Record, Section
from ._run import machine, run, run_many
from ._study import Study, load_study, sweep

__version__ = "0.1.0"  # as in CMakeLists.txt

__all__ = [
    "Error",
    "Record",
    "Section",
    "SimulatorWarning",
    "Study",
    "find_simulator",
    "load_study",
    "machine",
    "run",
    "run_many",
    "sweep",
]
