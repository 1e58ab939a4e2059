#!/usr/bin/env python3
"""Judges networks that Keras has quantized. Both quantize the inputs of layers, Keras each row while it runs, `sim`
by calibration: 95 of 100 answers must be within 1 % of the range of Keras' own.
"""

import argparse
import logging
import os
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import keras  # noqa: E402
import numpy as np  # noqa: E402

from draw import Draw  # noqa: E402

MOST_ERROR = 0.01  # of the range of the answers
PERCENT_WITHIN = 95
IMAGES = 64


def network(draw: Draw) -> keras.Model:
    """Dense layers on vectors or on rows, with a wide range of activations and weights."""
    size = draw.integer(3, 40)
    shape = (size,) if draw.chance(0.7) else (draw.integer(2, 5), size)
    layers = [keras.layers.Input(shape)]
    for _ in range(draw.integer(0, 2)):
        function = draw.choice(["relu", "tanh", "linear"])
        layers.append(
            keras.layers.Dense(draw.integer(2, 40), activation=function, use_bias=draw.chance(0.7))
        )
    layers.append(keras.layers.Dense(draw.integer(2, 12), use_bias=draw.chance(0.7)))
    model = keras.Sequential(layers)
    for layer in model.layers:
        if layer.use_bias:
            layer.bias.assign(draw.floats(layer.bias.shape, 0.2))
    return model


def quantize(model: keras.Model, mode: str, draw: Draw) -> None:
    """`mode` is that of Keras; "int4_blocks" has scales of blocks of inputs."""
    if mode == "int8":
        model.quantize("int8")
        return
    block = draw.integer(1, 16) if mode == "int4_blocks" else -1
    config = keras.quantizers.Int4QuantizationConfig(block_size=block)
    model.quantize("int4", config=config)


def error_of(sim: Path, model: keras.Model, draw: Draw, ending: str) -> float:
    """The difference to Keras' answers that 95 of 100 stay below, as a part of their range."""
    inputs = draw.floats((IMAGES, *model.input_shape[1:]))
    answers = model.predict(inputs, verbose=0)
    with tempfile.TemporaryDirectory() as folder:
        file, array, out = Path(folder) / f"net{ending}", Path(folder) / "x.npy", Path(folder) / "out"
        model.save(file)
        np.save(array, inputs)
        command = [sim, "run", "--machine", "tpu_v1", "--model", file, "--input", array]
        subprocess.run([*command, "--outputs", out, "--quiet"], check=True)
        (path,) = [path for path in out.glob("*.npy") if not path.stem.endswith(".raw")]
        given = np.load(path).reshape(answers.shape)
    difference = np.percentile(np.abs(given - answers), PERCENT_WITHIN)
    return float(difference / (answers.max() - answers.min()))


def main() -> None:
    arguments = parse_arguments()
    logging.disable(logging.WARNING)  # that .h5 files are old
    failed = 0
    for mode in ("int8", "int4", "int4_blocks"):
        errors = []
        for index in range(arguments.count):
            draw = Draw(f"{arguments.seed} {mode} {index}")
            model = network(draw)
            quantize(model, mode, draw)
            ending = ".h5" if index % 4 == 3 else ".keras"
            errors.append(error_of(arguments.sim, model, draw, ending))
            if errors[-1] > MOST_ERROR:
                print(f"{mode} {index}: {100 * errors[-1]:.2f} % of the range")
                failed += 1
        middle, largest = 100 * np.median(errors), 100 * max(errors)
        print(f"{mode}: {len(errors)} networks, {middle:.2f} % in the middle, at most {largest:.2f} %")
    if failed:
        sys.exit(1)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--sim", type=Path, default=Path("build/release/sim"), help="the simulator")
    add("--count", type=int, default=20, help="networks of each mode (20)")
    add("--seed", default="1", help="settles everything random (1)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
