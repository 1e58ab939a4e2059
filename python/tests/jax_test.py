"""Functions of JAX, against JAX. `make judge-python` has it."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest

import systole

pytest.importorskip("jax")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from jax.sharding import AbstractMesh, PartitionSpec  # noqa: E402

import systole.jax  # noqa: E402

ONE, EIGHT = "tpu_v2_1core", "tpu_v2_8"
SPLIT, WHOLE = PartitionSpec("cores"), PartitionSpec()


def small_numbers(*shape: int) -> np.ndarray:
    """Whole numbers, of which products and sums are exact."""
    return np.random.default_rng(7).integers(-8, 9, shape).astype(np.float32)


def on_eight(function: Callable[..., Any], in_specs: Any, out_specs: Any) -> Callable[..., Any]:
    mesh = AbstractMesh((8,), ("cores",))
    return jax.shard_map(function, mesh=mesh, in_specs=in_specs, out_specs=out_specs)


def check_same(found: Any, expected: Any) -> None:
    expected = jax.tree.map(jnp.asarray, expected)
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected)):
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        if jnp.issubdtype(one.dtype, jax.dtypes.prng_key):
            one, other = jax.random.key_data(one), jax.random.key_data(other)
        assert np.asarray(one).tobytes() == np.asarray(other).tobytes()


X, W = small_numbers(16, 8), small_numbers(8, 4)
SAME: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "a product": (lambda x, w: x @ w, (X, W)),
    "one input that is only moved": (lambda x: x.T, (X,)),
    "numbers of Python": (lambda x, y: x + y, (1.5, 2)),
    "trees": (lambda s: {"a": s["w"].sum(), "b": (s["b"][0], None, [2 * s["w"]])}, ({"w": X, "b": [np.arange(3)]},)),
    "constants and inputs as results": (lambda x: (x, 3, jnp.ones(2), jnp.arange(3)), (X,)),
    "an argument that nothing reads": (lambda x, y, z: x * z, (X, np.ones(3, np.int32), np.float32(2))),
    "bfloat16": (lambda x: x * 2, (jnp.asarray(X, jnp.bfloat16),)),
    "small types": (
        lambda a, b, c: (a * 2, b + b, ~c, b > 0),
        (X.astype(np.float16), np.arange(-5, 5, dtype=np.int8), np.array([True, False])),
    ),
    "double precision, which JAX takes as single": (lambda x: x * 2, (X.astype(np.float64), )),
    "not finite": (lambda x: x + 1, (np.array([np.inf, -np.inf, 300], np.float32),)),
    "keys of random numbers": (lambda k: (jax.random.split(k), jax.random.uniform(k, (3, 5))), (jax.random.key(3),)),
    "numbers of a key": (lambda k: jax.random.bits(k, (5,)), (jax.random.PRNGKey(3),)),
    "a function that is compiled already": (jax.jit(lambda x: x * 2), (X,)),
    "a partial function": (functools.partial(lambda n, x: x * n, 3), (X,)),
}  # fmt: skip


@pytest.mark.parametrize("what", SAME)
def test_results_are_those_of_jax(what: str) -> None:
    function, arguments = SAME[what]
    done = systole.jax.simulate(function, *arguments, machine=ONE)
    check_same(done.value, function(*arguments))
    assert done.record.cycles > 0


def test_products_are_those_of_the_chip() -> None:
    # Operands are rounded to bfloat16, with 8 bits: 257 becomes 256.
    done = systole.jax.simulate(lambda x: x @ x.T, np.full((1, 1), 257, np.float32), machine=ONE)
    assert done.value[0, 0] == 256 * 256


@pytest.mark.parametrize("compiled", [False, True])
def test_eight_cores(compiled: bool) -> None:
    def mean_of_products(x: Any, w: Any) -> Any:
        return jax.lax.pmean(x @ w, "cores"), x * 2

    function = on_eight(mean_of_products, (SPLIT, WHOLE), (WHOLE, SPLIT))
    done = systole.jax.simulate(jax.jit(function) if compiled else function, X, W)
    check_same(done.value, ((X @ W).reshape(8, 2, 4).mean(axis=0), X * 2))
    assert done.record.machine == EIGHT
    assert done.record.cores == 8


def test_a_step_of_training() -> None:
    def step(weights: Any, x: Any, wanted: Any) -> Any:
        loss, gradient = jax.value_and_grad(lambda w: ((x @ w - wanted) ** 2).mean())(weights)
        return weights - 0.5 * gradient, loss

    x, w = small_numbers(32, 8), small_numbers(8, 1)
    arguments = w, x, x @ w + small_numbers(32, 1)
    check_same(systole.jax.simulate(step, *arguments, machine=ONE).value, step(*arguments))


NARROW = on_eight(lambda x: x * 2, SPLIT, SPLIT)
REFUSED: list[tuple[Callable[..., Any], tuple[Any, ...], Any, str]] = [
    (lambda x: x * 2, (X,), EIGHT, "is a program for 1 device, and machine tpu_v2_8 has 8 cores: say with "
     "jax.shard_map what each of 8 devices does, or take a machine of one core"),
    (NARROW, (X,), ONE, "is a program for 8 devices, and machine tpu_v2_1core has 1 core: leave jax.shard_map out, "
     "or take a machine of 8 cores"),
    (lambda x: jnp.linalg.svd(x), (X,), ONE, "custom calls are not supported"),
    (lambda: jnp.ones(3), (), ONE, "takes no array; a program must have an input"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "arguments", "machine", "message"), REFUSED)
def test_refusals(function: Callable[..., Any], arguments: tuple[Any, ...], machine: str, message: str) -> None:
    with pytest.raises(systole.Error) as caught:
        systole.jax.simulate(function, *arguments, machine=machine)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value) and "/systole_" not in str(caught.value)


def test_a_machine_with_settings() -> None:
    machine = systole.machine(ONE)
    machine["name"] = "mine"
    done = systole.jax.simulate(lambda x: x * 2, X, machine=machine, settings={"machine.clock_mhz": 350})
    assert done.record.machine == "mine"
    assert done.record.configuration.machine.clock_mhz == 350
    assert repr(done) == f"<systole.jax.Simulation: {done.record!r}>"
    assert done._repr_html_() == done.record._repr_html_()


def test_exported_programs(tmp_path: Path) -> None:
    def layer(x: Any, w: Any) -> Any:
        return jax.nn.relu(x @ w)

    locations = jax.config.jax_traceback_in_locations_limit
    path = systole.jax.export(layer, jax.ShapeDtypeStruct(X.shape, X.dtype), W, path=tmp_path / "layer.hlo")
    assert path == tmp_path / "layer.hlo"
    assert jax.config.jax_traceback_in_locations_limit == locations
    assert b".py" not in path.read_bytes()  # no place in a source
    record = systole.run(ONE, path, {"x": X, 1: W})
    assert np.array_equal(record.outputs["output 0"], np.maximum(X @ W, 0))
    assert systole.run(ONE, path, timing_only=True).cycles == record.cycles
