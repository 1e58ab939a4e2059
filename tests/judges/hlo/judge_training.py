"""Holds `sim train` against JAX: ten steps of the digit network, with each of three optimizers.

    python judge_training.py SIM FOLDER

JAX computes the same steps with operands of products rounded to bfloat16, and again RUNS times with each inexact number
moved a little, at random (rounded_products.py). How far these runs are from the one without moves, as a root mean square,
is what a number may differ by chance; the chip's may differ by LIMIT times as much:

- each step's loss and new variables (the 2-norm of a variable's difference) from those that JAX computes from the same
  variables, which are the chip's own before that step;
- the ten losses from those of JAX's own ten steps. Differences grow from step to step there, the chip's as any other.

A faulty step, whose learning rate is FAULT times the right one, must be beyond the limit, or the judge judges nothing.
Plain JAX, in float32, is printed beside it.
"""

import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "models/mnist_cnn/training"))
sys.path.insert(0, str(ROOT / "models/mnist_cnn"))

import make  # noqa: E402
import jax  # noqa: E402
import keras  # noqa: E402
import numpy as np  # noqa: E402
from idx import read_idx  # noqa: E402
from rounded_products import moved, rounded  # noqa: E402

STEPS, BATCH, SEED, RUNS = 10, 32, 1, 8
LIMIT, FAULT = 3.0, 1.01
DIGITS = ROOT / "models/mnist_cnn"
IMAGES, LABELS = (DIGITS / f"digits-{name}-ubyte.gz" for name in ("images.idx3", "labels.idx1"))
OPTIMIZERS = {
    "sgd": lambda: keras.optimizers.SGD(0.01),
    "rmsprop": lambda: keras.optimizers.RMSprop(1e-3, momentum=0.9),
    "adam": lambda: keras.optimizers.Adam(1e-3),
}
MASK = 2**64 - 1


def split_mix(state):
    """The next state and number of SplitMix64."""
    state = (state + 0x9E3779B97F4A7C15) & MASK
    bits = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & MASK
    return state, bits ^ (bits >> 31)


def order_of_epoch(count, epoch):
    """As docs/training.md says."""
    name_hash = 0xCBF29CE484222325
    for letter in f"epoch {epoch}".encode():
        name_hash = ((name_hash ^ letter) * 0x100000001B3) & MASK
    state = split_mix(SEED ^ split_mix(name_hash)[1])[1]
    order = list(range(count))
    for left in range(count, 1, -1):
        state, drawn = split_mix(state)
        other = drawn % left
        order[left - 1], order[other] = order[other], order[left - 1]
    return order


class Chip:
    """The simulated chip, which trains by one step at a time: its checkpoint is where the next one begins."""

    def __init__(self, sim, folder, training):
        self.sim, self.folder, self.names = sim, folder, list(training.values())
        folder.mkdir(parents=True, exist_ok=True)
        make.write(folder / "step.hlo", training.step, training.shapes(), *make.data(BATCH), donate_argnums=(0,))
        (folder / "state.json").write_text(json.dumps({
            "schema": "sim.training/1", "images": "images", "labels": "labels",
            "columns": {"loss": f"output {len(self.names)}"}, "initial": [{"inputs": "*", "rule": "zeros"}]}))

    def step(self, values, images, labels):
        """The new values and the loss."""
        files = {name: self.folder / f"{name}.npy" for name in ("images", "labels")}
        order = order_of_epoch(BATCH, 0)  # in which `sim train` takes them; dropout differs by place
        np.save(files["images"], images[np.argsort(order)])
        np.save(files["labels"], labels[np.argsort(order)])
        np.savez(self.folder / "initial.npz", **{f"variables['{name}']": values[name] for name in self.names})
        subprocess.run(
            [self.sim, "train", self.folder / "step.hlo", "--machine", "tpu_v2_1core", "--state", self.folder / "state.json",
             "--initial", self.folder / "initial.npz", "--input", files["images"], "--labels", files["labels"],
             "--out", self.folder / "out", "--seed", str(SEED), "--quiet"], check=True)
        report = json.loads((self.folder / "out/report.json").read_text())
        with np.load(self.folder / "out/checkpoint.npz") as checkpoint:
            new = {name: checkpoint[f"variables['{name}']"] for name in self.names}
        return new, report["training"]["by_step"]["loss"][0]


def ten_steps(step, values, batches):
    """The variables before each step, those behind the last, and the losses."""
    states, losses = [values], []
    for images, labels in batches:
        values, loss = step(values, images, labels)[:2]
        states.append(values)
        losses.append(float(loss))
    return states, np.array(losses)


def distances(one, other):
    """Of two results of a step: of the losses and of each variable. What is no number is infinitely far."""
    pairs = {"loss": (one[1], other[1])} | {name: (one[0][name], other[0][name]) for name in one[0]}
    found = {name: float(np.linalg.norm(np.subtract(*(np.asarray(each, np.float64) for each in pair)))) for name, pair in pairs.items()}
    return {name: distance if np.isfinite(distance) else np.inf for name, distance in found.items()}


def root_mean_square(numbers):
    return np.sqrt(np.mean(np.square(numbers), axis=0))


def of_limits(found, expected, moves):
    """How much of its limit each distance from what was expected has: the largest, and its name."""
    off = distances(found, expected)
    by_chance = [distances(move, expected) for move in moves]
    parts = {}
    for name, distance in off.items():
        limit = LIMIT * root_mean_square([each[name] for each in by_chance])
        # Whole numbers, such as the state of a generator, do not move: they must be equal.
        parts[name] = 0.0 if distance == 0 else distance / limit if 0 < limit < np.inf else np.inf
    return max((part, name) for name, part in parts.items())


def judge(name, optimizer, chip_of, batches):
    """Prints what was found, and says whether it is right."""
    keras.utils.clear_session()  # names of variables begin again
    keras.utils.set_random_seed(SEED)
    training = make.Training(optimizer())
    expected_step = jax.jit(rounded(training.step))
    moved_step = jax.jit(moved(training.step))

    def with_moves(run):
        key = jax.random.key(run)

        def step(values, *batch):
            nonlocal key
            key = jax.random.fold_in(key, 1)
            return moved_step(key, values, *batch)

        return step

    states, losses = ten_steps(chip_of(training).step, training.values(), batches)

    def faulty_step(values, *batch):
        rate = f"{training.optimizer.name}/learning_rate"
        new, loss, _ = expected_step(values | {rate: values[rate] * np.float32(FAULT)}, *batch)
        return new | {rate: values[rate]}, loss

    worst, worst_fault = (0.0, ""), np.inf
    for number, batch in enumerate(batches):
        expected = expected_step(states[number], *batch)
        moves = [with_moves(RUNS * number + run)(states[number], *batch) for run in range(RUNS)]
        part, where = of_limits((states[number + 1], losses[number]), expected, moves)
        worst = max(worst, (part, f"step {number + 1}, {where}"))
        worst_fault = min(worst_fault, of_limits(faulty_step(states[number], *batch), expected, moves)[0])

    expected = ten_steps(expected_step, training.values(), batches)[1]
    runs = [ten_steps(with_moves(run), training.values(), batches)[1] for run in range(RUNS)]
    by_chance = np.maximum.accumulate(root_mean_square(np.array(runs) - expected))
    off = np.abs(losses - expected)
    of_ten = float(np.max(off / (LIMIT * by_chance)))
    with jax.default_matmul_precision("float32"):
        plain = ten_steps(jax.jit(training.step), training.values(), batches)[1]
    print(f"{name}: {len(batches)} losses from {losses[0]:.4f} to {losses[-1]:.4f}; a step by itself: {worst[0]:.2f} of the limit "
          f"({worst[1]}), a faulty one {worst_fault:.1f}; all ten: {of_ten:.2f} of the limit, off by at most {off.max():.2e}, "
          f"from float32 by {np.abs(losses - plain).max():.2e}", flush=True)
    return bool(worst[0] <= 1.0 and of_ten <= 1.0 and worst_fault > 1.0)  # none of them by a NaN


def main():
    sim, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    images = read_idx(IMAGES).reshape(-1, 784).astype(np.float32) * np.float32(1 / 255)
    labels = read_idx(LABELS).astype(np.int32)
    order = np.random.default_rng(SEED).permutation(len(images))
    batches = [(images[each], labels[each]) for each in order[: STEPS * BATCH].reshape(STEPS, BATCH)]
    right = [judge(name, optimizer, lambda training: Chip(sim, folder / name, training), batches)
             for name, optimizer in OPTIMIZERS.items()]
    sys.exit(0 if all(right) else 1)


if __name__ == "__main__":
    main()
