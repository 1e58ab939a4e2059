"""A case: a model, its inputs, and the outputs that the model's own runtime gives.

A case is a folder: `model.tflite` (or .onnx, .h5, .keras), `inputs.npz` and `outputs.npz` (one
array for each input and output, by its name in the file), and `case.json`, which says what the
case is about and how each output is compared.
"""

import json
import shutil
import zipfile
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

import numpy as np

Arrays = dict[str, np.ndarray]


@dataclass
class Rule:
    """How an output is compared.

    "equal": the numbers as stored are equal.
    "quantum": they differ by at most 1, in at most 0.1 % of the elements of an operator's cases.
    "float": |given - expected| <= absolute + relative * |expected|.
    "noise": the power of the difference is at least `decibels` below that of the expected values.
    """

    kind: str
    absolute: float = 0.0
    relative: float = 0.0
    decibels: float = 0.0
    # What is compared: "float_reference" for files in float, which `sim` quantizes, else "outputs".
    of: str = "outputs"

    def to_json(self) -> dict[str, object]:
        limits: dict[str, object] = {}
        if self.kind == "float":
            limits = {"absolute": self.absolute, "relative": self.relative}
        elif self.kind == "noise":
            limits = {"decibels": self.decibels}
        return {"rule": self.kind, "of": self.of, **limits}

    @staticmethod
    def from_json(text: dict[str, object]) -> "Rule":
        values = dict(text)
        return Rule(kind=str(values.pop("rule")), **values)

    @property
    def in_float(self) -> bool:
        """Whether the float reference is compared."""
        return self.of == "float_reference"


@dataclass
class Case:
    name: str
    format: str  # "tflite", "onnx", "keras" or "h5", also the suffix of the model's file
    operator: str
    types: str  # the kind of numbers, e.g. "int8"
    model: bytes
    inputs: Arrays
    outputs: Arrays
    rules: dict[str, Rule]
    notes: dict[str, object] = field(default_factory=dict)

    def size(self) -> int:
        arrays = list(self.inputs.values()) + list(self.outputs.values())
        return len(self.model) + sum(array.nbytes for array in arrays)

    def write(self, root: Path) -> Path:
        folder = root / self.name
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir(parents=True)
        (folder / f"model.{self.format}").write_bytes(self.model)
        write_npz(folder / "inputs.npz", self.inputs)
        write_npz(folder / "outputs.npz", self.outputs)
        about = {
            "format": self.format,
            "operator": self.operator,
            "types": self.types,
            "outputs": {name: rule.to_json() for name, rule in self.rules.items()},
            **self.notes,
        }
        (folder / "case.json").write_text(json.dumps(about, indent=1) + "\n")
        return folder


def float_rule(expected: np.ndarray, relative: float = 1e-4) -> Rule:
    """The tolerance for sums of float32 in another order, relative to the largest value."""
    finite = np.abs(expected[np.isfinite(expected)]) if expected.size else expected
    largest = float(finite.max()) if finite.size else 0.0
    absolute = float(f"{1e-5 * max(largest, 1e-3):.3g}")
    return Rule("float", absolute, relative, of="float_reference")


def write_npz(path: Path, arrays: Arrays) -> None:
    """Like np.savez_compressed, but the same arrays always give the same bytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            content = BytesIO()
            np.save(content, array, allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content.getvalue())


def read_npz(path: Path) -> Arrays:
    with np.load(path, allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}
