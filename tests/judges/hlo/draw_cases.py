"""Draws programs of JAX with inputs and the answers that JAX gives, for `make judge-hlo`.

    python draw_cases.py FOLDER [--count N] [--first SEED] [--family NAME...] [--programs] [--only CASE...]

A case is FAMILY_SEED, and these two always give the same case. FOLDER has, of each: CASE.hlo (the module, as a Cloud
TPU's compiler is given it), CASE.inputs and CASE.expected (the bytes of all inputs, and of the outputs with operands of
products rounded to bfloat16), CASE.plain (the outputs of JAX on this processor), CASE.json (types, shapes, and how far
outputs may be off) and CASE.txt (the function).
"""

import argparse
import concurrent.futures
import json
import multiprocessing
import os
import pathlib
import zlib

# 16-bit floats are rounded after each operation.
os.environ["XLA_FLAGS"] = "--xla_allow_excess_precision=false"

import make_modules  # noqa: E402
import jax  # noqa: E402
import numpy as np  # noqa: E402
import families  # noqa: E402
import programs  # noqa: E402
from compare_cases import settled  # noqa: E402
from rounded_products import RUNS, is_exact, moved, rounded  # noqa: E402


def drawn(name):
    """Function and arguments of a case."""
    if name in programs.PROGRAMS:
        return programs.PROGRAMS[name](families.Draw(zlib.crc32(name.encode())))
    family, seed = name.rsplit("_", 1)
    return families.FAMILIES[family][0](families.Draw([zlib.crc32(family.encode()), int(seed)]))


def bytes_of(arrays):
    return b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)


def comparable(array):
    """As numbers whose differences can be taken."""
    return array.astype(np.int64) if array.dtype.kind in "biu" else settled(array)


def moves(array, others):
    """How far an output goes when numbers are moved: the most of all its elements; of integers, which change."""
    own = comparable(array)
    if array.dtype.kind in "biu":
        return sorted({int(i) for other in others for i in np.flatnonzero(comparable(other) != own)})
    most = 0.0
    for other in others:
        with np.errstate(invalid="ignore"):
            difference = np.abs(comparable(other) - own)
        most = max([most, *difference[np.isfinite(difference)].tolist()])
    return most


def make_case(folder, name):
    function, arguments = drawn(name)
    flat, tree = jax.tree_util.tree_flatten(arguments)
    unflattened = lambda leaves: jax.tree_util.tree_unflatten(tree, leaves)  # noqa: E731
    inputs = [np.asarray(leaf) for leaf in flat]
    shapes = unflattened([jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) for leaf in inputs])
    module = make_modules.lowered(function, shapes, keep_unused=True)
    answers_of = lambda call, *first: [  # noqa: E731
        np.asarray(leaf) for leaf in jax.tree_util.tree_leaves(call(*first, *unflattened(inputs)))]
    with jax.default_matmul_precision("float32"):
        plain = answers_of(jax.jit(function))
    expected = answers_of(jax.jit(rounded(function)))
    exact = is_exact(function, *shapes)
    others = []
    if not exact:
        call = jax.jit(moved(function))
        keys = [jax.random.key(i, impl="unsafe_rbg") for i in range(RUNS)]
        others = [answers_of(call, key) for key in keys]
    outputs = [
        {"type": str(array.dtype), "shape": array.shape, "moves": moves(array, [other[i] for other in others])}
        for i, array in enumerate(expected)
    ]
    (folder / f"{name}.hlo").write_bytes(module)
    (folder / f"{name}.inputs").write_bytes(bytes_of(inputs))
    (folder / f"{name}.expected").write_bytes(bytes_of(expected))
    (folder / f"{name}.plain").write_bytes(bytes_of(plain))
    (folder / f"{name}.txt").write_text(str(jax.make_jaxpr(function)(*shapes)) + "\n")
    family = "programs" if name in programs.PROGRAMS else name.rsplit("_", 1)[0]
    (folder / f"{name}.json").write_text(json.dumps({"family": family, "exact": exact, "outputs": outputs}) + "\n")


def try_case(folder, name):
    try:
        make_case(folder, name)
    except Exception as error:  # noqa: BLE001
        return f"{name}: {type(error).__name__}: {str(error).splitlines()[0]}"
    finally:
        jax.clear_caches()
    return None


def names_of(options):
    if options.only:
        return options.only
    names = list(programs.PROGRAMS) if options.programs else []
    total = sum(share for _, share in families.FAMILIES.values())
    for family, (_, share) in families.FAMILIES.items():
        if options.family and family not in options.family:
            continue
        count = max(1, round(options.count * share / total))
        names += [f"{family}_{seed}" for seed in range(options.first, options.first + count)]
    return names


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--family", nargs="*", default=[])
    parser.add_argument("--programs", action="store_true")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    names = names_of(options)
    print(f"{len(names)} cases from seed {options.first}", flush=True)
    failed = 0
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(options.jobs, context) as pool:
        waiting = [pool.submit(try_case, options.folder, name) for name in names]
        for done in concurrent.futures.as_completed(waiting):
            if done.result():
                failed += 1
                print(done.result(), flush=True)
    print(f"{len(names) - failed} cases drawn", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
