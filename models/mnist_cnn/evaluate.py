#!/usr/bin/env python3
"""Measures the accuracy of a Keras HDF5 file on images and labels in IDX files."""

import argparse
import math
import sys
from pathlib import Path

import numpy as np
import torch

from idx import read_idx
from keras_model import KerasModel

BATCH = 250


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure a network's accuracy.")
    parser.add_argument("model", type=Path, help="HDF5 file of a Sequential Keras model")
    parser.add_argument("images", type=Path, help="IDX file, plain or .gz")
    parser.add_argument("labels", type=Path, help="IDX file, plain or .gz")
    parser.add_argument("--skip", type=int, default=0, help="images to leave out at the start (0)")
    parser.add_argument("--threads", type=int, default=1, help="processor threads (1)")
    arguments = parser.parse_args()

    torch.set_num_threads(arguments.threads)
    model = KerasModel(arguments.model)
    images = read_idx(arguments.images)
    labels = read_idx(arguments.labels)
    if len(images) != len(labels):
        raise ValueError(f"{len(images)} images, but {len(labels)} labels")
    images, labels = images[arguments.skip :], labels[arguments.skip :]
    if len(images) == 0:
        raise ValueError(f"no images are left after the first {arguments.skip}")

    right = count_right(model, images, labels)
    print(f"accuracy {right / len(images):.4f} ({right} of {len(images)})")


def count_right(model: KerasModel, images: np.ndarray, labels: np.ndarray) -> int:
    """Returns for how many images the network's strongest output is the label."""
    right = 0
    for start in range(0, len(images), BATCH):
        inputs = as_inputs(images[start : start + BATCH], model.input_shape)
        answers = model.predict(inputs).argmax(axis=1)
        right += int((answers == labels[start : start + BATCH]).sum())
    return right


def as_inputs(images: np.ndarray, input_shape: tuple[int, ...]) -> np.ndarray:
    """Bytes as pixels 0 to 1 in the model's shape; larger models get each pixel repeated."""
    factor = math.isqrt(math.prod(input_shape) // images[0].size)
    if factor**2 * images[0].size != math.prod(input_shape):
        raise ValueError(f"images of {images[0].shape} cannot fill an input of {input_shape}")
    enlarged = images.repeat(factor, axis=1).repeat(factor, axis=2)
    return (enlarged.astype(np.float32) / 255).reshape(-1, *input_shape)


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError) as error:
        sys.exit(f"evaluate.py: {error}")
