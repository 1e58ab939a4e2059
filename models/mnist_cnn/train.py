#!/usr/bin/env python3
"""Trains the digit network and writes it as a Keras HDF5 file.

It learns from digits drawn from fonts and from the first 8,000 images of
MNIST's test set. The last 2,000 of that set are never looked at here, so
that the network can be tried on them (see evaluate.py).
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from augment import augment
from digits import DigitPainter
from idx import read_idx
from keras_h5 import save_sequential
from network import CLASSES, MNIST_SIDE, DigitNetwork

MNIST_IMAGES_FOR_TRAINING = 8000


def main() -> None:
    arguments = parse_arguments()
    torch.manual_seed(arguments.seed)
    torch.set_num_threads(arguments.threads)
    torch.use_deterministic_algorithms(True)
    network = DigitNetwork(arguments.size_multiplier)
    if arguments.size_multiplier == 1:
        train(network, arguments)
    save_sequential(arguments.out, network.to_keras())
    print(f"wrote {arguments.out}")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Train the digit network and write it as a Keras HDF5 file.",
        epilog="A network with a size multiplier beyond 1 is not trained: its weights stay random.",
    )
    add = parser.add_argument
    add("--mnist", type=Path, metavar="DIR", help="where the t10k-*.gz files are")
    add("--out", type=Path, required=True, metavar="FILE", help="the HDF5 file to write")
    add("--epochs", type=int, default=30, help="passes over all images (30)")
    add("--made-per-class", type=int, default=1200, help="drawn digits of each class (1200)")
    add("--held-out", type=int, default=0, help="last of the 8,000, only to measure progress (0)")
    add("--batch", type=int, default=100, help="images per step (100)")
    add("--learning-rate", type=float, default=4e-3, help="at its highest (0.004)")
    add("--seed", type=int, default=1, help="settles everything random (1)")
    add("--threads", type=int, default=1, help="processor threads; may change the result (1)")
    add("--size-multiplier", type=int, default=1, metavar="N", help="sides of N*28, see below (1)")
    arguments = parser.parse_args()
    if arguments.size_multiplier < 1:
        parser.error("--size-multiplier must be at least 1")
    if arguments.size_multiplier == 1 and arguments.mnist is None:
        parser.error("training needs --mnist DIR")
    if not 0 <= arguments.held_out < MNIST_IMAGES_FOR_TRAINING:
        parser.error(f"--held-out must be below {MNIST_IMAGES_FOR_TRAINING}")
    return arguments


def train(network: DigitNetwork, arguments: argparse.Namespace) -> None:
    """Trains in place: Adam, with a learning rate that rises first and then falls to nothing."""
    made_images, made_labels = DigitPainter(arguments.seed).draw_set(arguments.made_per_class)
    mnist_images, mnist_labels = read_mnist_for_training(arguments.mnist)
    kept = MNIST_IMAGES_FOR_TRAINING - arguments.held_out
    images = as_pixels(np.concatenate([made_images, mnist_images[:kept]]))
    labels = torch.tensor(np.concatenate([made_labels, mnist_labels[:kept]]), dtype=torch.long)
    held_out_images = as_pixels(mnist_images[kept:])
    held_out_labels = torch.tensor(mnist_labels[kept:], dtype=torch.long)

    random = torch.Generator().manual_seed(arguments.seed)
    optimizer = torch.optim.Adam(network.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer,
        max_lr=arguments.learning_rate,
        epochs=arguments.epochs,
        steps_per_epoch=len(images) // arguments.batch,
    )
    for epoch in range(1, arguments.epochs + 1):
        start = time.monotonic()
        loss = train_epoch(network, images, labels, arguments.batch, optimizer, schedule, random)
        line = f"epoch {epoch}/{arguments.epochs}: loss {loss:.4f}"
        if arguments.held_out:
            line += f", held-out accuracy {accuracy(network, held_out_images, held_out_labels):.4f}"
        print(f"{line}, {time.monotonic() - start:.0f} s", flush=True)


def train_epoch(
    network: DigitNetwork,
    images: torch.Tensor,
    labels: torch.Tensor,
    batch: int,
    optimizer: torch.optim.Optimizer,
    schedule: torch.optim.lr_scheduler.OneCycleLR,
    random: torch.Generator,
) -> float:
    """Shows every image once, bent anew, in full batches; returns the mean loss."""
    network.train()
    steps = len(images) // batch
    order = torch.randperm(len(images), generator=random)[: steps * batch]
    total_loss = 0.0
    for chosen in order.split(batch):
        optimizer.zero_grad()
        loss = F.cross_entropy(network(augment(images[chosen], random)), labels[chosen])
        loss.backward()
        optimizer.step()
        schedule.step()
        total_loss += loss.item()
    return total_loss / steps


@torch.no_grad()
def accuracy(network: DigitNetwork, images: torch.Tensor, labels: torch.Tensor) -> float:
    network.eval()
    return (network(images).argmax(dim=1) == labels).float().mean().item()


def read_mnist_for_training(directory: Path) -> tuple[np.ndarray, np.ndarray]:
    """Returns the images and labels of MNIST's test set that training may use."""
    images = read_idx(directory / "t10k-images-idx3-ubyte.gz")[:MNIST_IMAGES_FOR_TRAINING]
    labels = read_idx(directory / "t10k-labels-idx1-ubyte.gz")[:MNIST_IMAGES_FOR_TRAINING]
    if images.shape != (MNIST_IMAGES_FOR_TRAINING, MNIST_SIDE, MNIST_SIDE):
        raise ValueError(f"{directory}: not the 10,000 images of MNIST's test set")
    if labels.shape != images.shape[:1] or labels.max() >= CLASSES:
        raise ValueError(f"{directory}: the labels do not belong to the images")
    return images, labels


def as_pixels(images: np.ndarray) -> torch.Tensor:
    """Bytes (count, side, side) as pixels 0 to 1 (count, 1, side, side)."""
    return torch.from_numpy(images.astype(np.float32) / 255).unsqueeze(1)


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError) as error:
        sys.exit(f"train.py: {error}")
