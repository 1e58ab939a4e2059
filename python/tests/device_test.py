"""The device of JAX, against JAX's own processor. `make judge-python` runs it with JAX_PLATFORMS=systole,cpu."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import textwrap
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest

import systole

if "systole" not in os.environ.get("JAX_PLATFORMS", ""):
    pytest.skip("JAX_PLATFORMS does not name systole", allow_module_level=True)

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402
from jax_test import SAME, W, X, check_same, small_numbers  # noqa: E402

import systole.jax  # noqa: E402
from systole._pjrt_library import cache_folder, library_path  # noqa: E402

ONE = "tpu_v2_1core"
SPLIT, WHOLE = PartitionSpec("cores"), PartitionSpec()
HEADER = cache_folder() / "include" / "xla" / "pjrt" / "c" / "pjrt_c_api.h"


#: Of programs of their own, in any folder, on a machine of one core.
ALONE = {
    **os.environ, "JAX_PLATFORMS": "systole", "SYSTOLE_MACHINE": ONE,
    "PYTHONPATH": os.fspath(Path(systole.__file__).parents[1]),
}  # fmt: skip


@pytest.fixture
def cpu() -> Any:
    return jax.devices("cpu")[0]


@pytest.fixture
def mesh() -> Mesh:
    return Mesh(np.array(jax.devices()), ("cores",))


def run_python(script: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        env={**ALONE, **environment},
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip


def last_line(ended: subprocess.CompletedProcess[str]) -> str:
    assert ended.returncode == 1, ended.stderr
    return ended.stderr.splitlines()[-1]


def test_the_devices_are_the_cores() -> None:
    assert len(jax.devices()) == 8
    assert [device.id for device in jax.devices()] == list(range(8))
    assert str(jax.devices()[3]) == "SystoleCore(id=3, machine=tpu_v2_8)"
    assert {device.device_kind for device in jax.devices()} == {"tpu_v2_8"}
    assert jax.default_backend() == "systole"


MORE: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "no argument": (lambda: (3, jnp.ones(2), jnp.arange(3)), ()),
    "a result twice": (lambda x: (x * 2, x * 2, x, x), (X,)),
    "other strides": (lambda x: x * 2, (X[::2, ::-1],)),
    "all integers": (
        lambda *each: [one * 2 + 1 for one in each],
        tuple(np.arange(5, dtype=kind) for kind in ("int8", "uint8", "int16", "uint16", "int32", "uint32")),
    ),
    "dropout": (lambda k, x: jnp.where(jax.random.bernoulli(k, 0.5, x.shape), x, 0), (jax.random.key(1), X)),
    "a sort": (lambda x: (jnp.sort(x, 0), jnp.argmax(x, 1), jnp.cumsum(x, 0)), (X,)),
    "a loop": (lambda x: jax.lax.scan(lambda c, row: (c + row.sum(), c * row[0]), 0.0, x), (X,)),
    "a gradient": (lambda w, x: jax.value_and_grad(lambda v: ((x @ v) ** 2).mean())(w), (W, X)),
}  # fmt: skip
FUNCTIONS = SAME | MORE


@pytest.mark.parametrize("what", FUNCTIONS)
def test_results_are_those_of_jax(what: str, cpu: Any) -> None:
    function, arguments = FUNCTIONS[what]
    found = jax.jit(function)(*arguments)
    with jax.default_device(cpu):
        expected = jax.jit(function)(*jax.device_put(arguments, cpu))
    check_same(jax.device_put(found, cpu), expected)
    assert {device for leaf in jax.tree.leaves(found) for device in leaf.devices()} == {jax.devices()[0]}


def test_products_are_those_of_the_chip() -> None:
    # Operands are rounded to bfloat16, with 8 bits: 257 becomes 256.
    x = np.full((1, 1), 257, np.float32)
    assert jax.jit(lambda x: x @ x.T)(x)[0, 0] == 256 * 256


def test_a_program_runs_where_its_arguments_lie() -> None:
    third = jax.device_put(X, jax.devices()[3])
    assert jax.jit(lambda x: x + 1)(third).devices() == {jax.devices()[3]}
    assert np.array_equal(jax.device_put(third, jax.devices()[5]), X)


def mean_of_products(x: Any, w: Any) -> Any:
    return jax.lax.pmean(x @ w, "cores"), x * 2


@pytest.mark.parametrize("place", ["in the process", "on one device", "on all devices"])
def test_shard_map(mesh: Mesh, place: str) -> None:
    arguments: tuple[Any, ...] = X, W
    if place == "on one device":
        arguments = jnp.asarray(X), jnp.asarray(W)
    elif place == "on all devices":
        arguments = tuple(
            jax.device_put(each, NamedSharding(mesh, split)) for each, split in ((X, SPLIT), (W, WHOLE))
        )
    function = jax.shard_map(mean_of_products, mesh=mesh, in_specs=(SPLIT, WHOLE), out_specs=(WHOLE, SPLIT))
    for call in (function, jax.jit(function)):
        mean, doubled = call(*arguments)
        assert np.array_equal(mean, (X @ W).reshape(8, 2, 4).mean(axis=0))
        assert np.array_equal(doubled, X * 2)
        assert mean.sharding.is_fully_replicated
        assert np.array_equal(doubled.addressable_shards[3].data, X[6:8] * 2)


def test_an_array_divided_along_another_axis(mesh: Mesh) -> None:
    second = PartitionSpec(None, "cores")
    found = jax.jit(jax.shard_map(lambda x: x + 1, mesh=mesh, in_specs=second, out_specs=second))(X)
    assert np.array_equal(found, X + 1)
    assert found.addressable_shards[2].data.shape == (16, 1)


def test_pmap() -> None:
    x = X.reshape(8, 2, 8)
    summed = jax.pmap(lambda x: jax.lax.psum(x, "cores"), axis_name="cores")(x)
    assert np.array_equal(summed, np.broadcast_to(x.sum(axis=0), x.shape))
    found = jax.pmap(lambda x, w: {"product": x @ w, "sum": x.sum()}, in_axes=(0, None))(x, W)
    assert np.array_equal(found["product"], x @ W)
    assert np.array_equal(found["sum"], x.sum(axis=(1, 2)))


@pytest.mark.parametrize("kind", ["bfloat16", "float16", "int8", "uint32", "bool"])
def test_number_formats_on_all_cores(kind: str) -> None:
    x = X.reshape(8, 2, 8).astype(kind)
    found = jax.pmap(lambda x: (x[::-1], x == x[0]))(x)
    assert [each.dtype for each in found] == [x.dtype, np.bool_]
    assert np.asarray(found[0]).tobytes() == x[:, ::-1].tobytes()
    assert np.array_equal(found[1], x == x[:, :1])


@pytest.mark.parametrize("devices", [1, 8])
def test_donated_arguments_are_gone(mesh: Mesh, devices: int) -> None:
    def step(total: Any, x: Any) -> Any:
        mean = x.sum(axis=0) if devices == 1 else jax.lax.pmean(x.sum(axis=0), "cores")
        return total + mean, x * 2

    one, all_of_them = jax.sharding.SingleDeviceSharding(jax.devices()[0]), NamedSharding(mesh, WHOLE)
    total = jax.device_put(np.zeros(8, np.float32), one if devices == 1 else all_of_them)
    if devices == 8:
        step = jax.shard_map(step, mesh=mesh, in_specs=(WHOLE, SPLIT), out_specs=(WHOLE, SPLIT))
    compiled, first = jax.jit(step, donate_argnums=0), total
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # JAX says so where it does not donate
        for _ in range(3):
            total, _ = compiled(total, X)
    assert first.is_deleted()
    with pytest.raises(RuntimeError, match="has been deleted"):
        first + 1
    assert np.array_equal(total, 3 * X.sum(axis=0) / devices)


def sharded(axes: Any, reverse: bool = False) -> Callable[[Any], Any]:
    devices = np.array(jax.devices()[::-1] if reverse else jax.devices()).reshape(2, 4)
    return jax.shard_map(lambda x: x + 1, mesh=Mesh(devices, ("a", "b")), in_specs=axes, out_specs=axes)


def on_four(x: Any) -> Any:
    mesh = Mesh(np.array(jax.devices()[:4]), ("cores",))
    return jax.shard_map(lambda x: x + 1, mesh=mesh, in_specs=SPLIT, out_specs=SPLIT)(x)


def placed(axes: Any) -> Any:
    return jax.device_put(X, NamedSharding(Mesh(np.array(jax.devices()), ("cores",)), axes))


def on_cores(x: Any) -> Any:
    mesh = Mesh(np.array(jax.devices()), ("cores",))
    return jax.shard_map(lambda x: x + 1, mesh=mesh, in_specs=SPLIT, out_specs=SPLIT)(x)


def whole_result(x: Any) -> Any:
    mesh = Mesh(np.array(jax.devices()), ("cores",))
    return jax.jit(on_cores, out_shardings=NamedSharding(mesh, WHOLE))(x)


REFUSED: dict[str, tuple[Callable[..., Any], Callable[[], Any], str]] = {
    "svd": (jnp.linalg.svd, lambda: X, "custom calls are not supported"),
    "a loop by data": (
        lambda x: jax.lax.while_loop(lambda c: c.sum() < 99, lambda c: c + 1, x), lambda: X, "depends on data",
    ),
    "an empty array": (lambda x: x[:0], lambda: X, "an array has a dimension of size 0"),
    "complex numbers": (lambda x: x + 1j, lambda: X, "its type is c64"),
    "complex arrays": (jax.device_put, lambda: X.astype(np.complex64), "no arrays of this number format"),
    "4 bits": (jax.device_put, lambda: X.astype(jnp.int4), "no arrays of this number format"),
    "a call of the host": (
        lambda x: jax.pure_callback(lambda a: a, x, x), lambda: X, "`EmitPythonCallback` not supported",
    ),
    "four cores": (on_four, lambda: X, "is for 4 of 8 cores; a program runs on one core, or on all of them"),
    "cores in another order": (
        sharded(PartitionSpec(("a", "b")), reverse=True), lambda: X,
        "its devices are [7, 6, 5, 4, 3, 2, 1, 0]; a program for all cores has them in their order",
    ),
    "parts in another order": (sharded(PartitionSpec(("b", "a"))), lambda: X, "device i has part i"),
    "two axes": (sharded(PartitionSpec("a", "b")), lambda: X, "arrays are split along one axis, over all devices"),
    "a plain jit": (lambda x: x + 1, lambda: placed(SPLIT), "compiled where shard_map says what each device does"),
    "whole arguments": (
        on_cores, lambda: placed(WHOLE),
        ": argument 0 is whole on each device; the program has it divided along axis 0",
    ),
    "arguments along another axis": (
        on_cores, lambda: placed(PartitionSpec(None, "cores")),
        ": argument 0 is divided along axis 1; the program has it divided along axis 0",
    ),
    "whole results": (
        whole_result, lambda: placed(SPLIT),
        ": result 0 is whole on each device; the program has it divided along axis 0",
    ),
    "options": (
        lambda x: jax.jit(lambda x: x, compiler_options={"xla_foo": True})(x), lambda: X,
        "the device has no compiler_options; xla_foo is given",
    ),
    "a pointer": (lambda x: x.unsafe_buffer_pointer(), lambda: jnp.asarray(X), "PJRT_Buffer_UnsafePointer"),
    "DLPack": (np.from_dlpack, lambda: jnp.asarray(X), "PJRT_Buffer_IncreaseExternalReferenceCount"),
    "statistics": (
        lambda x: jax.jit(lambda x: x + 1).lower(x).compile().runtime_executable().cost_analysis(), lambda: X,
        "PJRT_Executable_GetCostAnalysis",
    ),
}  # fmt: skip
NOT_COMPILED = {"complex arrays", "4 bits", "whole results", "options", "a pointer", "DLPack", "statistics"}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_refused_is_an_exception_of_one_line(what: str) -> None:
    function, argument, message = REFUSED[what]
    with pytest.raises((jax.errors.JaxRuntimeError, ValueError)) as caught:
        (function if what in NOT_COMPILED else jax.jit(function))(argument())
    assert message in str(caught.value)
    assert "\n" not in str(caught.value).strip() and "/systole_" not in str(caught.value)
    assert np.array_equal(jnp.asarray(X) + 1, X + 1)  # the device goes on


def test_threads_compile_and_call_at_once() -> None:
    def work(number: int) -> list[Any]:
        return [np.asarray(jax.jit(lambda x, f=factor: x * f + number)(X)) for factor in range(6)]

    with ThreadPoolExecutor(4) as threads:
        for number, found in enumerate(threads.map(work, range(4))):
            assert [each.tolist() for each in found] == [(X * factor + number).tolist() for factor in range(6)]


def test_jax_may_ask_for_anything() -> None:
    """JAX ends the process at an error of some functions of the interface; of those, none is refused."""
    array = jnp.asarray(X)
    compiled = jax.jit(lambda x: x * 2).lower(array).compile()
    device = jax.devices()[0]
    asked = 0
    for thing in (device.client, device, device.default_memory(), compiled, compiled.runtime_executable(), array):
        for name in dir(thing):
            if name.startswith("__") or name in ("delete", "defragment", "live_buffers"):
                continue
            try:
                value = getattr(thing, name)
                asked += 1
                if callable(value):
                    value()
            except Exception:  # what is missing, and methods with arguments
                pass
    assert asked > 100
    assert np.array_equal(compiled(array), X * 2)


def test_no_function_of_the_interface_is_missing() -> None:
    library = ctypes.CDLL(os.fspath(library_path()))
    library.GetPjrtApi.restype = ctypes.POINTER(ctypes.c_size_t)
    table = library.GetPjrtApi()
    words = table[0] // ctypes.sizeof(ctypes.c_size_t)
    version = 2 + 3  # behind size and extensions: the version's size and extensions, and its two numbers
    functions = [table[place] for place in range(version, words)]
    assert len(functions) == HEADER.read_text(encoding="utf-8").count("  _PJRT_API_STRUCT_FIELD(")
    assert all(functions)


TWO_FUNCTIONS = """
    import jax, numpy as np

    def layer(x, w):
        return jax.nn.relu(x @ w)

    def step(total, x):
        return total + x.sum(0), x.max()

    x = np.ones((16, 8), np.float32)
    compiled = jax.jit(layer)
    compiled(x, x.T), compiled(x, x.T)
    total, compiled = np.zeros(8, np.float32), jax.jit(step, donate_argnums=0)
    for _ in range(7):
        total, _ = compiled(total, x)
    compiled(np.zeros(8, np.float32), x)
    assert total.tolist() == [7 * 16] * 8
"""


def test_the_report_has_the_cycles_of_the_simulator(tmp_path: Path) -> None:
    ended = run_python(TWO_FUNCTIONS, tmp_path, SYSTOLE_OUT=os.fspath(tmp_path / "out"))
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    report = json.loads((tmp_path / "out" / "functions.json").read_text())
    assert (report["machine"], report["cores"]) == (ONE, 1)
    layer, step = report["functions"]
    assert [(each["name"], each["machine"], each["devices"]) for each in (layer, step)] == [
        ("layer", ONE, 1), ("step", ONE, 1),
    ]  # fmt: skip

    def exported(function: Callable[..., Any], *arguments: Any, **options: Any) -> Path:
        module = jax.jit(function, **options).trace(*arguments).lower(lowering_platforms=("tpu",)).compiler_ir("hlo")
        path = tmp_path / f"{function.__name__}.hlo"
        path.write_bytes(module.as_serialized_hlo_module_proto())
        return path

    names: dict[str, Any] = {}
    exec(textwrap.dedent(TWO_FUNCTIONS.split("x = np.ones")[0]), names)
    x, total = np.ones((16, 8), np.float32), np.zeros(8, np.float32)
    alone = systole.run(ONE, exported(names["layer"], x, x.T), timing_only=True)
    assert layer["calls"] == [{"cycles": alone.cycles, "seconds": alone.seconds}] * 2
    assert layer["cycles"] == 2 * alone.cycles
    assert layer["with_state_kept"] == []
    file = exported(names["step"], total, x, donate_argnums=0)
    once, three, four = (systole.run(ONE, file, timing_only=True, limit=count) for count in (1, 3, 4))
    assert [call["cycles"] for call in step["calls"]] == [once.cycles] * 8
    a_call = four.cycles - three.cycles
    assert a_call < once.cycles
    (kept,) = step["with_state_kept"]
    assert (kept["first_call"], kept["calls"], kept["cycles_a_call"]) == (0, 7, a_call)
    assert kept["cycles"] == four.cycles + 3 * a_call
    assert kept["seconds"] == pytest.approx(four.seconds + 3 * (four.seconds - three.seconds))
    assert step["cycles"] == kept["cycles"] + once.cycles
    first = json.loads((tmp_path / "out" / "layer" / "report.json").read_text())
    assert (first["schema"], first["machine"], first["cycles"]) == ("sim.report/1", ONE, alone.cycles)
    assert [each["name"] for each in first["layers"]] == [each["name"] for each in alone.layers]


def test_a_program_of_one_core_runs_on_one_of_eight(tmp_path: Path) -> None:
    script = """
        import jax, numpy as np
        jax.jit(lambda x: x + 1)(np.ones(3))
        jax.pmap(lambda x: x + 1)(np.ones(8))
    """
    ended = run_python(script, tmp_path, SYSTOLE_OUT="out", SYSTOLE_MACHINE="tpu_v2_8")
    assert ended.returncode == 0, ended.stderr
    report = json.loads((tmp_path / "out" / "functions.json").read_text())
    assert [(each["folder"], each["machine"], each["devices"]) for each in report["functions"]] == [
        ("lambda", "tpu_v2_8 (1 core)", 1), ("fun", "tpu_v2_8", 8),
    ]  # fmt: skip


def test_the_articles_training_is_that_of_fit(tmp_path: Path) -> None:
    """The same losses, values and cycles, of each step."""
    script = Path(__file__).with_name("article_on_device.py")
    environment = {**ALONE, "JAX_PLATFORMS": "systole,cpu", "SYSTOLE_OUT": os.fspath(tmp_path)}
    command = [sys.executable, script, "10"]
    said = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout
    found = json.loads(said)
    assert len(found["device"]) == 60
    assert found["device"] == found["fit"]
    assert found["different"] == []
    functions = json.loads((tmp_path / "functions.json").read_text())["functions"]
    (step,) = (each for each in functions if each["name"] == "step")
    (kept,) = step["with_state_kept"]
    assert kept["calls"] == 60
    assert (step["cycles"], kept["cycles_a_call"]) == (found["cycles"], found["cycles_a_step"])
    assert step["seconds"] == pytest.approx(found["seconds"])


def test_ctrl_c_is_an_exception_of_the_program(tmp_path: Path) -> None:
    script = """
        import jax, numpy as np
        long = jax.jit(lambda x: jax.lax.fori_loop(0, 1000, lambda _, x: x @ x, x))
        long = long.lower(np.ones((1024, 1024))).compile()
        print("begins", flush=True)
        try:
            long(np.ones((1024, 1024), np.float32))
        except KeyboardInterrupt:
            print(jax.jit(lambda x: x + 1)(np.arange(3)))
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)],
        env=ALONE, cwd=tmp_path, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None and process.stdout.readline() == "begins\n"
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(1)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate()
    assert (process.returncode, said) == (0, "[1 2 3]\n")


ASK = "import jax; jax.devices()"


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"XDG_CACHE_HOME": "/nonexistent"}, "the JAX device of Systole is not built: python -m systole.build_plugin"),
        ({"SYSTOLE_MACHINE": "tpu_v9"}, "tpu_v9"),
        ({"SYSTOLE_SIM": "/nonexistent"}, "SYSTOLE_SIM is /nonexistent; that is no program that can be run"),
        ({"SYSTOLE_OUT": "/dev/null/out"}, "/dev/null/out"),
    ],
)
def test_what_is_missing_is_said(tmp_path: Path, environment: dict[str, str], message: str) -> None:
    line = last_line(run_python(ASK, tmp_path, **environment))
    assert line.startswith("RuntimeError: Unable to initialize backend 'systole': ")
    assert message in line


def test_a_machine_without_tensor_cores(tmp_path: Path) -> None:
    ended = run_python("import jax.numpy as jnp; jnp.ones(3) + 1", tmp_path, SYSTOLE_MACHINE="tpu_v1")
    assert "UNIMPLEMENTED" in ended.stderr and "tensor core" in ended.stderr


def test_another_version_of_jax(tmp_path: Path) -> None:
    script = f"import importlib.metadata as m; m.version = lambda name: '0.9.1'; {ASK}"
    line = last_line(run_python(script, tmp_path))
    assert "systole.jax_device needs JAX 0.10.2, pip install 'systole[plugin]': this is jax 0.9.1" in line


def test_who_does_not_ask_for_the_device_does_not_load_it(tmp_path: Path) -> None:
    script = f"{ASK}; import sys; print(jax.default_backend(), 'systole' in sys.modules)"
    ended = run_python(script, tmp_path, JAX_PLATFORMS="cpu")
    assert ended.stdout == "cpu False\n"


def test_the_library_is_built_of_sources_and_header(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "systole.build_plugin", "--header", os.fspath(HEADER)]
    environment = {"XDG_CACHE_HOME": os.fspath(tmp_path / "cache")}
    said = subprocess.run(command, env={**ALONE, **environment}, capture_output=True, text=True, check=True).stdout
    library = tmp_path / "cache" / "systole" / library_path().name
    assert said == f"{library}\n"
    assert library.exists()
    ended = run_python("import jax.numpy as jnp; print(jnp.ones(2) + 1)", tmp_path, **environment)
    assert ended.stdout == "[2. 2.]\n"
