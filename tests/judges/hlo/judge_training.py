"""Holds `sim train` against JAX: the losses of ten steps of the digit network, with each of three optimizers.

    python judge_training.py SIM FOLDER

JAX computes the same steps with operands of products rounded to bfloat16, and again RUNS times with each inexact number
moved a little, at random (rounded_products.py): a loss must be no farther from the rounded one than these are, up to that
step. Plain JAX, in float32, is printed beside it.
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


def losses_of(step, values, batches):
    losses = []
    for images, labels in batches:
        values, loss, _ = step(values, images, labels)
        losses.append(float(loss))
    return np.array(losses)


def simulated(sim, folder, training):
    """The losses that the simulated chip computes from the same values."""
    folder.mkdir(parents=True, exist_ok=True)
    make.write(folder / "step.hlo", training.step, training.shapes(), *make.data(BATCH), donate_argnums=(0,))
    np.savez(folder / "initial.npz", **{f"variables['{path}']": value for path, value in training.values().items()})
    variables = len(training.values())
    (folder / "state.json").write_text(json.dumps({
        "schema": "sim.training/1", "images": "images", "labels": "labels",
        "columns": {"loss": f"output {variables}"}, "initial": [{"inputs": "*", "rule": "zeros"}]}))
    subprocess.run(
        [sim, "train", folder / "step.hlo", "--machine", "tpu_v2_1core", "--state", folder / "state.json",
         "--initial", folder / "initial.npz", "--input", IMAGES, "--labels", LABELS, "--out", folder / "out",
         "--seed", str(SEED), "--quiet"], check=True)
    report = json.loads((folder / "out/report.json").read_text())
    return np.array(report["training"]["by_step"]["loss"][:STEPS])


def main():
    sim, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    images = read_idx(IMAGES).reshape(-1, 784).astype(np.float32) * np.float32(1 / 255)
    labels = read_idx(LABELS).astype(np.int32)
    order = order_of_epoch(len(images), 0)
    chosen = [order[i * BATCH : (i + 1) * BATCH] for i in range(STEPS)]
    batches = [(images[each], labels[each]) for each in chosen]
    failed = False
    for name, optimizer in OPTIMIZERS.items():
        keras.utils.clear_session()  # names of variables begin again
        training = make.Training(optimizer())
        found = simulated(sim, folder / name, training)
        expected = losses_of(jax.jit(rounded(training.step)), training.values(), batches)
        call = jax.jit(moved(training.step))
        moves = []
        for run in range(RUNS):
            key = jax.random.key(run)
            step = lambda *arguments: call(key, *arguments)  # noqa: E731
            moves.append(np.abs(losses_of(step, training.values(), batches) - expected))
        bound = np.maximum.accumulate(np.max(moves, axis=0))
        with jax.default_matmul_precision("float32"):
            plain = losses_of(jax.jit(training.step), training.values(), batches)
        off = np.abs(found - expected)
        worst = int(np.argmax(off / bound))
        failed |= bool(np.any(off > bound))
        print(f"{name}: {STEPS} losses from {found[0]:.4f} to {found[-1]:.4f}; off by at most {off.max():.2e}, "
              f"{off[worst] / bound[worst]:.2f} of the bound (step {worst + 1}); "
              f"from float32 by at most {np.abs(found - plain).max():.2e}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
