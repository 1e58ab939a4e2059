"""The notebook's training, by ``systole.keras.fit`` and step by step on the device of JAX; prints both as JSON.

A program of its own, as the device has the machine of the process: ``article_on_device.py EPOCHS``, with
JAX_PLATFORMS=systole,cpu.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, Iterator

import jax
import numpy as np

import systole.keras

PROJECT = Path(__file__).resolve().parents[2]
BATCH, TRAINED_ON, SEED = 64, 400, 1
CELLS_OF_THE_MODEL = 3
_WORD = 2**64 - 1


def split_mix(seed: int) -> Iterator[int]:
    """The generator of base/random_values.h."""
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) & _WORD
        bits = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
        bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & _WORD
        yield bits ^ (bits >> 31)


def order_of_epoch(epoch: int) -> list[int]:
    """The order in which sim train takes the examples (sim/study/train/examples.cpp)."""
    name = 0xCBF29CE484222325
    for letter in f"epoch {epoch}".encode():
        name = ((name ^ letter) * 0x100000001B3) & _WORD
    random = split_mix(next(split_mix(SEED ^ next(split_mix(name)))))
    order = list(range(TRAINED_ON))
    for left in range(TRAINED_ON, 1, -1):
        other = next(random) % left
        order[left - 1], order[other] = order[other], order[left - 1]
    return order


def main() -> None:
    epochs = int(sys.argv[1])
    names: dict[str, Any] = {}
    notebook = json.loads((PROJECT / "docs" / "python" / "keras.ipynb").read_text())
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    with jax.default_device(jax.devices("cpu")[0]):
        for cell in cells[:CELLS_OF_THE_MODEL]:
            exec("".join(cell["source"]), names)
        model, images, labels = names["model"], names["images"], names["labels"]
        model.optimizer.build(model.trainable_variables)
        variables = systole.keras._Variables(model)
        initial = variables.values(1)
        step = systole.keras._Programs(model, variables, 1).step
        training = systole.keras.fit(
            model, images, labels, BATCH, epochs, os.environ["SYSTOLE_MACHINE"], validation_split=0.2, seed=SEED,
            progress=False,
        ).record.training  # fmt: skip
        trained = variables.values(1)
    assert training.steps_an_epoch == TRAINED_ON // BATCH

    on_device = jax.jit(step, donate_argnums=0, keep_unused=True)  # all arguments, as fit gives them
    values = {name: jax.device_put(value, jax.devices()[0]) for name, value in initial.items()}
    results = []
    for epoch in range(epochs):
        order = order_of_epoch(epoch)
        for first in range(0, TRAINED_ON - BATCH + 1, BATCH):
            chosen = order[first : first + BATCH]
            values, loss, accuracy = on_device(values, images[chosen], labels[chosen].astype(np.int32))
            results.append((float(loss), float(accuracy)))
    print(
        json.dumps(
            {
                "fit": [list(pair) for pair in zip(training.by_step.loss, training.by_step.accuracy)],
                "device": results,
                "different": [
                    name for name, value in trained.items() if np.asarray(values[name]).tobytes() != value.tobytes()
                ],
                "cycles": training.cycles,
                "cycles_a_step": training.cycles_a_step,
                "seconds": training.seconds,
            }
        )
    )


if __name__ == "__main__":
    main()
