#!/usr/bin/env python3
"""Makes the HLO programs of this folder: what a TPU is the wrong machine for, and what it is made for.

    build/judges/env_jax/bin/python models/wrong_machine/make.py [FOLDER]

tests/judges/make_environment.sh jax makes the environment, with JAX. Each function is a program; what it is given are
its shapes. gzip makes a third of their bytes.
"""

import gzip
import os
import sys
from pathlib import Path

os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

FOLDER = Path(__file__).resolve().parent

# Where in the source an instruction comes from is no part of a program.
jax.config.update("jax_traceback_in_locations_limit", 0)

SIDE = 512
TURNS = 64
SQUARE = jax.ShapeDtypeStruct((SIDE, SIDE), jnp.float32)
DOUBLES = jax.ShapeDtypeStruct((SIDE, SIDE), "float64")
PLACES = jax.ShapeDtypeStruct((256,), jnp.int32)
TABLE = jax.ShapeDtypeStruct((2048, 64), jnp.float32)


def turns(x, body, count=TURNS):
    return jax.lax.fori_loop(0, count, lambda _, x: body(x), x)


def product(x, w):
    """What a TPU is made for: products of matrices."""
    w = w / 16  # so that numbers do not grow from turn to turn
    return turns(x, lambda x: x @ w)


def element_wise(angle):
    """A quarter of a million pendulums by Euler's method: no products of matrices."""
    def move(state):
        angle, speed = state
        sine = angle - angle ** 3 / 6 + angle ** 5 / 120
        return angle + 0.01 * speed, speed - 0.01 * sine
    return turns((angle, jnp.zeros_like(angle)), move)[0]


def sparse_access(places, table):
    """Rows of a table, as a network with embeddings reads them: which ones, data say."""
    return table[places]


def sparse_as_product(places, table):
    """The same rows as a product, with a 1 for each place; the table is rounded to bfloat16."""
    return jax.nn.one_hot(places, table.shape[0]) @ table


def high_precision(x, w):
    """The products in the precision of float32, as a solver needs it."""
    w = w / 16
    return turns(x, lambda x: jnp.matmul(x, w, precision="highest"))


def branches(x, w):
    """One of four products in each turn: which one, the numbers of the turn before say."""
    w = w / 16
    sides = (lambda x: x @ w, lambda x: x @ w.T, lambda x: w @ x, lambda x: w.T @ x)
    return turns(x, lambda x: jax.lax.switch(x[0, :4].argmax(), sides, x), TURNS // 4)


def double_precision(x, w):
    """float64, which no part of the machine has."""
    return x @ w


def while_by_data(x, w):
    """As many products as it takes: data say when it is enough."""
    w = w / 16
    return jax.lax.while_loop(lambda x: jnp.abs(x).sum() > 1, lambda x: x @ w, x)


PROGRAMS = {
    product: (SQUARE, SQUARE),
    element_wise: (SQUARE,),
    sparse_access: (PLACES, TABLE),
    sparse_as_product: (PLACES, TABLE),
    high_precision: (SQUARE, SQUARE),
    branches: (SQUARE, SQUARE),
    double_precision: (DOUBLES, DOUBLES),
    while_by_data: (SQUARE, SQUARE),
}


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    for function, shapes in PROGRAMS.items():
        with jax.enable_x64(function is double_precision):
            module = jax.jit(function).trace(*shapes).lower(lowering_platforms=("tpu",)).compiler_ir("hlo")
        path = folder / f"{function.__name__}.hlo.gz"
        # The same bytes each time.
        path.write_bytes(gzip.compress(module.as_serialized_hlo_module_proto(), mtime=0))
        print(f"wrote {path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
