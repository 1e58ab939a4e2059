"""Runs ``sim train`` with arrays."""

from __future__ import annotations

import os
import warnings
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Mapping, Optional, Union

import numpy as np
from numpy.typing import NDArray

from ._binary import find_simulator
from ._command import run_command
from ._errors import Error, SimulatorWarning
from ._progress import ProgressLine
from ._record import Record, read_record
from ._scratch import ScratchFolder
from ._worker import to_json

FilePath = Union[str, "os.PathLike[str]"]
Arrays = Mapping[str, NDArray[Any]]
_CHECKPOINT = "checkpoint.npz"
_STEPS = "training.steps"


@dataclass(frozen=True)
class TrainingPrograms:
    """Programs, and what ``sim train`` is to know of them: a file of kind sim.training/1."""

    step: bytes
    forward: bytes
    state: Mapping[str, Any]


@dataclass(frozen=True)
class TrainingData:
    """Examples and the class of each; those to evaluate on are the last ones of them, or others, or none."""

    examples: NDArray[Any]
    classes: NDArray[Any]
    validation_split: float = 0.0
    validation: Optional[tuple[NDArray[Any], NDArray[Any]]] = None


def _steps_in(checkpoint: Path) -> int:
    """How many steps are done."""
    try:
        with np.load(checkpoint, allow_pickle=False) as arrays:
            return int(arrays[_STEPS])
    except (OSError, ValueError, KeyError, zipfile.BadZipFile):
        return 0


def _read_checkpoint(checkpoint: Path) -> dict[str, NDArray[Any]]:
    with np.load(checkpoint, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files if name != _STEPS}


def train(
    name: str,
    programs: TrainingPrograms,
    initial: Arrays,
    data: TrainingData,
    keep: Callable[[Arrays], None],
    *,
    machine: Mapping[str, Any],
    batch: int,
    epochs: int,
    seed: int,
    out: Optional[FilePath],
    progress: bool,
) -> Record:
    """Trains, gives the values of the state at the end to ``keep``, and returns the report.

    ``keep`` gets the values after the last step also where Ctrl-C ends the training. Raises Error with the
    simulator's message.
    """
    with ScratchFolder() as scratch:
        folder = Path(scratch)
        results = Path(out) if out is not None else folder / "out"

        def written(file: str, content: Union[bytes, NDArray[Any]]) -> Path:
            place = folder / file
            if isinstance(content, bytes):
                place.write_bytes(content)
            else:
                np.save(place, content, allow_pickle=False)
            return place

        np.savez(folder / "initial.npz", **initial)  # type: ignore[arg-type]
        options: dict[str, Any] = {
            "machine": written("machine.json", to_json(machine).encode()),
            "state": written("state.json", to_json(programs.state).encode()),
            "initial": folder / "initial.npz",
            "input": written("x.npy", data.examples),
            "labels": written("y.npy", data.classes),
            "batch": batch,
            "epochs": epochs,
            "seed": seed,
            "out": results,
        }
        if data.validation_split > 0.0 or data.validation is not None:
            options["evaluate"] = written("forward.hlo", programs.forward)
        if data.validation is not None:
            options["validation-input"] = written("x_validation.npy", data.validation[0])
            options["validation-labels"] = written("y_validation.npy", data.validation[1])
        elif data.validation_split > 0.0:
            options["validation-split"] = data.validation_split
        command = [find_simulator(), "train", os.fspath(written(f"{name}.hlo", programs.step)), "--quiet"]
        for option, value in options.items():
            command += [f"--{option}", str(value)]
        checkpoint = results / _CHECKPOINT
        checkpoint.unlink(missing_ok=True)
        steps = epochs * int(len(data.examples) * (1.0 - data.validation_split) // batch)
        line = ProgressLine(epochs, progress, "epochs")
        try:
            ended = run_command(
                command, line, lambda: line.show(_steps_in(checkpoint) * epochs // max(steps, 1), 0)
            )
        finally:
            if checkpoint.exists():
                keep(_read_checkpoint(checkpoint))
        said = [text.replace(f"{scratch}/", "") for text in ended.warnings]
        for text in said:
            warnings.warn(text, SimulatorWarning, stacklevel=3)
        if ended.code != 0:
            raise Error(str(ended.error("sim train")).replace(f"{scratch}/", ""))
        return read_record((results / "report.json").read_bytes(), said)
