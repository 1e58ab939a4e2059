#!/usr/bin/env python3
"""Measures the accuracy of a saved network on images and labels in IDX files.

The network is a Keras (.h5, .keras), TFLite or ONNX file. With several files,
it also counts how often each gives the same class as the first.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import argparse  # noqa: E402
import math  # noqa: E402
import sys  # noqa: E402
from pathlib import Path  # noqa: E402

import keras  # noqa: E402
import numpy as np  # noqa: E402
import onnxruntime  # noqa: E402
import tensorflow as tf  # noqa: E402
import tf_keras  # noqa: E402

from idx import read_idx  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure a network's accuracy.")
    parser.add_argument("models", type=Path, nargs="+", help=".h5, .keras, .tflite or .onnx")
    parser.add_argument("--images", type=Path, required=True, help="IDX file, plain or .gz")
    parser.add_argument("--labels", type=Path, required=True, help="IDX file, plain or .gz")
    parser.add_argument("--skip", type=int, default=0, help="images to leave out at the start (0)")
    arguments = parser.parse_args()

    images = read_idx(arguments.images)
    labels = read_idx(arguments.labels)
    if len(images) != len(labels):
        raise ValueError(f"{len(images)} images, but {len(labels)} labels")
    images, labels = images[arguments.skip :], labels[arguments.skip :]
    if len(images) == 0:
        raise ValueError(f"no images are left after the first {arguments.skip}")

    first = None
    for path in arguments.models:
        classes = classify(path, images)
        right = int(np.count_nonzero(classes == labels))
        line = f"{path}: accuracy {right / len(images):.4f} ({right} of {len(images)})"
        if first is None:
            first = classes
        else:
            same = int(np.count_nonzero(classes == first))
            line += f", the class of {arguments.models[0].name} for {same}"
        print(line)


def classify(path: Path, images: np.ndarray) -> np.ndarray:
    """The class of each image."""
    if path.suffix == ".tflite":
        return classify_with_tflite(path, images)
    if path.suffix == ".onnx":
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        (given,) = session.get_inputs()
        pixels = as_inputs(images, given.shape[-1])
        answers = [session.run(None, {given.name: row[np.newaxis]})[0] for row in pixels]
        return np.concatenate(answers).argmax(axis=1)
    model = load_keras(path)
    pixels = as_inputs(images, math.prod(model.input_shape[1:]))
    return model.predict(pixels.reshape(-1, *model.input_shape[1:]), verbose=0).argmax(axis=1)


def load_keras(path: Path) -> keras.Model:
    """.keras files are those of Keras 3, .h5 files those of Keras 2."""
    if path.suffix == ".keras":
        return keras.saving.load_model(path, compile=False)
    return tf_keras.models.load_model(path, compile=False)


def classify_with_tflite(path: Path, images: np.ndarray) -> np.ndarray:
    interpreter = tf.lite.Interpreter(str(path))
    interpreter.allocate_tensors()
    (given,), (result,) = interpreter.get_input_details(), interpreter.get_output_details()
    scale, zero_point = given["quantization"]
    pixels = as_inputs(images, int(given["shape"][-1]))
    stored = np.clip(np.round(pixels / scale) + zero_point, -128, 127).astype(given["dtype"])
    classes = []
    for row in stored:
        interpreter.set_tensor(given["index"], row[np.newaxis])
        interpreter.invoke()
        classes.append(int(interpreter.get_tensor(result["index"]).argmax()))
    return np.array(classes)


def as_inputs(images: np.ndarray, pixels: int) -> np.ndarray:
    """Bytes as rows of pixels 0 to 1; larger models get each pixel repeated."""
    factor = math.isqrt(pixels // images[0].size)
    if factor**2 * images[0].size != pixels:
        raise ValueError(f"images of {images[0].shape} cannot fill an input of {pixels} pixels")
    enlarged = images.repeat(factor, axis=1).repeat(factor, axis=2)
    return (enlarged.astype(np.float32) / 255).reshape(-1, pixels)


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError) as error:
        sys.exit(f"evaluate.py: {error}")
