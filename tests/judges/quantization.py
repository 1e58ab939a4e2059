#!/usr/bin/env python3
"""Compares how much of a float network's answers quantization leaves: `sim`, by each method of
calibration, and ONNX Runtime's static quantization.

Each network is quantized with its one input and answers the same input. The networks are the
ONNX files that networks.py made, and files of other people (--files) with NAME.input.npy. Keras
files are converted to ONNX for ONNX Runtime. `--docs FILE` writes the table into a page.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnxruntime.quantization import CalibrationDataReader, quantize_static  # noqa: E402
from onnxruntime.quantization.shape_inference import quant_pre_process  # noqa: E402

import onnx_runtime  # noqa: E402
from cases import Arrays  # noqa: E402

BEGIN = "<!-- Calibration: begin -->"
END = "<!-- Calibration: end -->"
METHODS = ("minmax", "percentile", "mse")
RUNTIME = "ONNX Runtime"
KERAS = (".h5", ".keras")
EXACT = 150.0  # decibels beyond the steps of float32


@dataclass
class Network:
    name: str
    file: Path
    input: np.ndarray


@dataclass
class Score:
    """How near answers are to those in float."""

    cosine: float
    decibels: float

    @staticmethod
    def of(given: np.ndarray, expected: np.ndarray) -> "Score":
        x = given.astype(np.float64).ravel()
        y = expected.astype(np.float64).ravel()
        lengths = float(np.sqrt((x @ x) * (y @ y)))
        noise, signal = float(((x - y) ** 2).sum()), float((y**2).sum())
        decibels = 10 * np.log10(signal / noise) if noise > 0 and signal > 0 else np.inf
        if decibels > EXACT:
            decibels = np.inf
        return Score(float(x @ y) / lengths if lengths > 0 else 1.0, float(decibels))

    def __str__(self) -> str:
        decibels = "exact" if np.isinf(self.decibels) else f"{self.decibels:.1f}"
        return f"{self.cosine:.5f} | {decibels}"


@dataclass
class Row:
    network: str
    output: str
    scores: dict[str, Score] = field(default_factory=dict)

    def cells(self) -> str:
        shown = (str(self.scores[key]) if key in self.scores else "- | -" for key in COLUMNS)
        return f"| {self.network} | {self.output} | {' | '.join(shown)} |"


COLUMNS = (RUNTIME, *METHODS)


class OneInput(CalibrationDataReader):
    """The calibration data of ONNX Runtime: one input."""

    def __init__(self, inputs: Arrays) -> None:
        self.left = [inputs]

    def get_next(self) -> Arrays | None:
        return self.left.pop() if self.left else None


def main() -> None:
    arguments = parse_arguments()
    rows: list[Row] = []
    for network in networks_of(arguments):
        if arguments.only in network.name:
            rows += judge(network, arguments)
            print(*(row.cells() for row in rows if row.network == network.name), sep="\n", flush=True)
    if not rows:
        sys.exit("quantization.py: there are no networks; networks.py --kind onnx makes some")
    if arguments.docs:
        replace_block(arguments.docs, table(rows))
    default = arguments.default
    behind = [row for row in rows if is_behind(row, default)]
    for row in behind:
        print(f"{row.network}, {row.output}: {default} is behind {RUNTIME}")
    if behind:
        sys.exit(1)


def is_behind(row: Row, method: str) -> bool:
    """Whether the cosine is below ONNX Runtime's, by more than the table's last digit."""
    if RUNTIME not in row.scores or method not in row.scores:
        return False
    return row.scores[method].cosine < row.scores[RUNTIME].cosine - 1e-5


def networks_of(arguments: argparse.Namespace) -> list[Network]:
    networks = []
    for file in sorted(arguments.networks.glob("*_onnx/model.onnx")):
        arrays = np.load(file.parent / "inputs.npz")
        about = json.loads((file.parent / "case.json").read_text())
        networks.append(Network(about["operator"], file, arrays[arrays.files[0]]))
    for folder in arguments.files:
        for file in sorted(folder.iterdir()):
            given = file.with_name(f"{file.stem}.input.npy")
            if file.suffix in (".onnx", *KERAS) and given.exists():
                networks.append(Network(file.stem, file, np.load(given)[:1]))
    return networks


def judge(network: Network, arguments: argparse.Namespace) -> list[Row]:
    rows: dict[str, Row] = {}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for method in METHODS:
            for output, score in scores_of_sim(network, method, place / method, arguments).items():
                row = rows.setdefault(output, Row(network.name, output))
                row.scores[method] = score
        if rows:
            scores = scores_of_runtime(network, place)
            for row, score in zip(rows.values(), scores):
                row.scores[RUNTIME] = score
    return list(rows.values())


def scores_of_sim(
    network: Network, method: str, folder: Path, arguments: argparse.Namespace
) -> dict[str, Score]:
    """By output, in the order of the file's names; none if `sim` refuses the network."""
    folder.mkdir()
    np.save(folder / "input.npy", network.input)
    command = [arguments.sim, "run", "--machine", "tpu_v1", "--model", network.file, "--quiet"]
    command += ["--input", folder / "input.npy", "--calibration-method", method]
    command += ["--outputs", folder / "stored", "--float-outputs", folder / "float"]
    if has_open_shape(network):
        command += ["--input-shape", ",".join(map(str, network.input.shape))]
    ended = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if ended.returncode != 0:
        print(f"{network.name}: not compared: {ended.stderr.strip().splitlines()[-1]}", flush=True)
        return {}
    return {
        expected.stem: Score.of(np.load(folder / "stored" / expected.name), np.load(expected))
        for expected in sorted((folder / "float").glob("*.npy"))
    }


def has_open_shape(network: Network) -> bool:
    if network.file.suffix in KERAS:
        return False
    model = onnx.load(network.file, load_external_data=False)
    constants = {constant.name for constant in model.graph.initializer}
    (shape,) = [
        value.type.tensor_type.shape.dim for value in model.graph.input if value.name not in constants
    ]
    return any(extent.dim_value == 0 for extent in list(shape)[1:])


def scores_of_runtime(network: Network, folder: Path) -> list[Score]:
    """By output, in the order of their names as files; none where the runtime cannot."""
    file = as_onnx(network, folder)
    model = onnx.load(file)
    constants = {constant.name for constant in model.graph.initializer}
    (name,) = [value.name for value in model.graph.input if value.name not in constants]
    inputs = {name: network.input}
    try:
        expected = onnx_runtime.run(file.read_bytes(), inputs)
        prepared, quantized = folder / "prepared.onnx", folder / "quantized.onnx"
        try:
            quant_pre_process(str(file), str(prepared), skip_symbolic_shape=True)
        except Exception:  # pylint: disable=broad-except
            prepared = file
        quantize_static(str(prepared), str(quantized), OneInput(inputs))
        given = onnx_runtime.run(quantized.read_bytes(), inputs)
    except Exception as error:  # pylint: disable=broad-except
        print(f"{network.name}: {RUNTIME}: {str(error).splitlines()[0][:120]}", flush=True)
        return []
    return [Score.of(given[key], expected[key]) for key in sorted(expected)]


def as_onnx(network: Network, folder: Path) -> Path:
    if network.file.suffix not in KERAS:
        return network.file
    # Here, because ONNX files need none of it.
    import keras  # pylint: disable=import-outside-toplevel
    import tensorflow as tf  # pylint: disable=import-outside-toplevel
    import tf2onnx  # pylint: disable=import-outside-toplevel
    import tf_keras  # pylint: disable=import-outside-toplevel

    api = keras if network.file.suffix == ".keras" else tf_keras
    model = api.models.load_model(network.file, compile=False)
    spec = (tf.TensorSpec(network.input.shape, tf.float32, name="input"),)
    function = tf.function(lambda x: model(x, training=False), input_signature=spec)
    file = folder / "converted.onnx"
    proto, _ = tf2onnx.convert.from_function(function, input_signature=spec, opset=13)
    onnx.save(proto, file)
    return file


def table(rows: list[Row]) -> str:
    heads = " | ".join(f"{key}: cosine | dB" for key in COLUMNS)
    lines = [BEGIN, f"| network | output | {heads} |", "|---|---|" + "---:|" * (2 * len(COLUMNS))]
    complete = [row for row in rows if len(row.scores) == len(COLUMNS)]
    complete = [row for row in complete if all(np.isfinite(s.decibels) for s in row.scores.values())]
    means = Row(f"**mean of {len(complete)} outputs**", "")
    for key in COLUMNS:
        if complete:
            means.scores[key] = Score(
                float(np.mean([row.scores[key].cosine for row in complete])),
                float(np.mean([row.scores[key].decibels for row in complete])),
            )
    return "\n".join([*lines, *(row.cells() for row in rows), means.cells(), END])


def replace_block(page: Path, text: str) -> None:
    content = page.read_text()
    if content.count(BEGIN) != 1 or content.count(END) != 1:
        sys.exit(f"quantization.py: {page} has no place for the table: {BEGIN} ... {END}")
    before, rest = content.split(BEGIN)
    page.write_text(before + text + rest.split(END)[1])


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--networks", type=Path, default=Path("build/judges/networks"), help="cases of networks.py")
    add("--files", action="append", type=Path, default=[], metavar="DIR", help="judge its files")
    add("--only", default="", metavar="TEXT", help="only networks with this text in their name")
    add("--sim", type=Path, default=Path("build/release/sim"), help="the simulator")
    add("--default", default="mse", choices=METHODS, help="the method that must not be behind")
    add("--docs", type=Path, metavar="FILE", help="put the table into this page")
    return parser.parse_args()


if __name__ == "__main__":
    main()
