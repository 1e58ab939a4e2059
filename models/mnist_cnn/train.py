#!/usr/bin/env python3
"""Trains the article's digit network with Keras and saves it.

It learns from digits drawn from fonts and from the first 8,000 images of
MNIST's test set. The last 2,000 of that set are never looked at here, so
that the network can be tried on them (see evaluate.py).
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import argparse  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from pathlib import Path  # noqa: E402

import keras  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

from augment import augment  # noqa: E402
from digits import FONT_ROOT, DigitPainter  # noqa: E402
from idx import read_idx  # noqa: E402
from model import MNIST_SIDE, NUM_CLASSES, make_model  # noqa: E402
from network import save  # noqa: E402

MNIST_IMAGES_FOR_TRAINING = 8000
CALIBRATION_IMAGES = 500


def main() -> None:
    arguments = parse_arguments()
    keras.utils.set_random_seed(arguments.seed)
    tf.config.threading.set_intra_op_parallelism_threads(arguments.threads)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    tf.config.experimental.enable_op_determinism()
    model = make_model(keras, arguments.size_multiplier)
    samples = np.zeros((1, *model.input_shape[1:]), dtype=np.float32)
    if arguments.size_multiplier == 1:
        samples = train(model, arguments)
    for path in arguments.out:
        save(model, arguments.size_multiplier, samples, path)
        print(f"wrote {path}")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Train the digit network and write it as Keras, TFLite or ONNX files.",
        epilog="A network with a size multiplier beyond 1 is not trained: its weights stay random.",
    )
    add = parser.add_argument
    add("--mnist", type=Path, metavar="DIR", help="where the t10k-*.gz files are")
    add(
        "--out",
        type=Path,
        nargs="+",
        required=True,
        metavar="FILE",
        help="files to write: .h5, .keras, .tflite (int8), .onnx",
    )
    add("--epochs", type=int, default=15, help="passes over all images (15)")
    add("--made-per-class", type=int, default=1200, help="drawn digits of each class (1200)")
    add("--held-out", type=int, default=0, help="last of the 8,000, only to measure progress (0)")
    add("--batch", type=int, default=100, help="images per step (100)")
    add("--learning-rate", type=float, default=4e-3, help="at its highest (0.004)")
    add("--seed", type=int, default=1, help="settles everything random (1)")
    add("--threads", type=int, default=1, help="processor threads; may change the result (1)")
    add("--fonts", type=Path, default=FONT_ROOT, metavar="DIR", help=f"fonts ({FONT_ROOT})")
    add("--size-multiplier", type=int, default=1, metavar="N", help="sides of N*28, see below (1)")
    arguments = parser.parse_args()
    if arguments.size_multiplier < 1:
        parser.error("--size-multiplier must be at least 1")
    if arguments.size_multiplier == 1 and arguments.mnist is None:
        parser.error("training needs --mnist DIR")
    if not 0 <= arguments.held_out < MNIST_IMAGES_FOR_TRAINING:
        parser.error(f"--held-out must be below {MNIST_IMAGES_FOR_TRAINING}")
    return arguments


def train(model: keras.Model, arguments: argparse.Namespace) -> np.ndarray:
    """Trains in place: Adam, with a learning rate that rises first and then falls to nothing.

    Returns images as the network takes them, to calibrate a quantized one.
    """
    painter = DigitPainter(arguments.seed, arguments.fonts)
    made_images, made_labels = painter.draw_set(arguments.made_per_class)
    mnist_images, mnist_labels = read_mnist_for_training(arguments.mnist)
    kept = MNIST_IMAGES_FOR_TRAINING - arguments.held_out
    images = np.concatenate([made_images, mnist_images[:kept]]).astype(np.float32) / 255
    labels = np.concatenate([made_labels, mnist_labels[:kept]])
    held_out = mnist_images[kept:].astype(np.float32) / 255

    steps = len(images) // arguments.batch * arguments.epochs
    warmup = steps // 4
    schedule = keras.optimizers.schedules.CosineDecay(
        arguments.learning_rate / 25,
        decay_steps=steps - warmup,
        warmup_target=arguments.learning_rate,
        warmup_steps=warmup,
    )
    model.compile(
        optimizer=keras.optimizers.Adam(schedule),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    random = np.random.default_rng(arguments.seed)
    for epoch in range(1, arguments.epochs + 1):
        start = time.monotonic()
        loss = train_epoch(model, images, labels, arguments.batch, random)
        line = f"epoch {epoch}/{arguments.epochs}: loss {loss:.4f}"
        if arguments.held_out:
            answers = model.predict(as_inputs(held_out), verbose=0).argmax(axis=1)
            line += f", held-out accuracy {np.mean(answers == mnist_labels[kept:]):.4f}"
        print(f"{line}, {time.monotonic() - start:.0f} s", flush=True)
    chosen = random.choice(len(images), CALIBRATION_IMAGES, replace=False)
    return as_inputs(images[chosen])


def train_epoch(
    model: keras.Model,
    images: np.ndarray,
    labels: np.ndarray,
    batch: int,
    random: np.random.Generator,
) -> float:
    """Shows every image once, bent anew, in full batches; returns the mean loss."""
    order = random.permutation(len(images))[: len(images) // batch * batch]
    bent = [
        augment(images[chosen], random.integers(2**31, size=2, dtype=np.int32)).numpy()
        for chosen in order.reshape(-1, 10 * batch if len(order) % (10 * batch) == 0 else batch)
    ]
    history = model.fit(
        as_inputs(np.concatenate(bent)), labels[order], batch, shuffle=False, verbose=0
    )
    return float(history.history["loss"][0])


def read_mnist_for_training(directory: Path) -> tuple[np.ndarray, np.ndarray]:
    """Returns the images and labels of MNIST's test set that training may use."""
    images = read_idx(directory / "t10k-images-idx3-ubyte.gz")[:MNIST_IMAGES_FOR_TRAINING]
    labels = read_idx(directory / "t10k-labels-idx1-ubyte.gz")[:MNIST_IMAGES_FOR_TRAINING]
    if images.shape != (MNIST_IMAGES_FOR_TRAINING, MNIST_SIDE, MNIST_SIDE):
        raise ValueError(f"{directory}: not the 10,000 images of MNIST's test set")
    if labels.shape != images.shape[:1] or labels.max() >= NUM_CLASSES:
        raise ValueError(f"{directory}: the labels do not belong to the images")
    return images, labels


def as_inputs(images: np.ndarray) -> np.ndarray:
    """Images (count, side, side) as rows of pixels."""
    return images.reshape(len(images), -1)


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError) as error:
        sys.exit(f"train.py: {error}")
