"""Makes the inputs and answers of modules in tests/golden/hlo: what JAX computes on this machine's CPU.

    python make_answers.py FOLDER [NAME...]

NAME.answers has the bytes of all inputs, and behind them those of all outputs, in their order. Operands of products are
rounded to bfloat16, as on a TPU. Modules of several devices have no answers: a CPU has one.
"""

import pathlib
import sys
import zlib

import make_modules
import jax
import numpy as np
from rounded_products import rounded

LARGE = ("cnn_training", "cnn_training_replicas")
SEVERAL_DEVICES = ("cnn_training_replicas", "collectives", "data_parallel", "replicas", "shardings")
# A CPU has no products by these algorithms.
OTHER_PRODUCTS = ("dot_algorithms",)
GRAPHS = pathlib.Path(__file__).parents[2] / "golden/hlo"


def is_refused(name):
    """Whether the reviewed text of the module's graph says that it is not compiled; such a module has no answers."""
    graph = GRAPHS / f"{name}.graph"
    return graph.exists() and graph.read_text().startswith("refused")


def drawn(random, value, name=""):
    """Numbers of an input: floats of both signs, but for variances, and whole numbers that can be places and classes."""
    kind = np.dtype(value.dtype).kind
    if kind == "b":
        return random.integers(0, 2, value.shape).astype(bool)
    if kind in "iu":
        return random.integers(0, 5, value.shape).astype(value.dtype)
    numbers = random.standard_normal(value.shape)
    return (np.abs(numbers) if "variance" in name else numbers).astype(value.dtype)


def answers(name):
    function, arguments, _ = make_modules.CASES[name]
    random = np.random.default_rng(zlib.crc32(name.encode()))
    named, tree = jax.tree_util.tree_flatten_with_path(arguments)
    inputs = [drawn(random, value, jax.tree_util.keystr(path)) for path, value in named]
    outputs = jax.tree_util.tree_leaves(jax.jit(rounded(function))(*jax.tree_util.tree_unflatten(tree, inputs)))
    return b"".join(np.ascontiguousarray(array).tobytes() for array in [*inputs, *map(np.asarray, outputs)])


def main():
    folder = pathlib.Path(sys.argv[1])
    without = (*LARGE, *SEVERAL_DEVICES, *OTHER_PRODUCTS)
    for name in sys.argv[2:] or [name for name in make_modules.CASES if name not in without and not is_refused(name)]:
        contents = answers(name)
        (folder / f"{name}.answers").write_bytes(contents)
        print(f"{name}: {len(contents)} bytes")


if __name__ == "__main__":
    main()
