"""Makes the HLO modules of tests/golden/hlo: JAX programs, lowered for a TPU.

    python make_modules.py FOLDER [NAME...]

Needs the packages of tests/judges/requirements_jax.txt. Each module is what a Cloud TPU's compiler is given: the
serialized HloModuleProto, without anything that names a place on this machine.
"""

import os
import pathlib
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8 " + os.environ.get("XLA_FLAGS", "")
os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import lax  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402

# Where in the source an instruction comes from is no part of a program.
jax.config.update("jax_traceback_in_locations_limit", 0)

CASES = {}


def case(*arguments, **options):
    """Registers a function under its name, with the arguments for which it is lowered."""

    def register(function):
        CASES[function.__name__] = (function, arguments, options)
        return function

    return register


def of(shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype)


def lowered(function, arguments, shardy=True, **options):
    """The bytes of the module that JAX gives to the compiler of a TPU. Shardings are attributes of Shardy, or the
    OpSharding of instructions."""
    jax.config.update("jax_use_shardy_partitioner", shardy)
    trace = jax.jit(function, **options).trace(*arguments)
    module = trace.lower(lowering_platforms=("tpu",)).compiler_ir("hlo")
    return module.as_serialized_hlo_module_proto()


@case(of((3, 5)), of((3, 5)), of((), jnp.float32))
def element_wise(x, y, limit):
    """Arithmetic and functions of single elements."""
    z = jnp.tanh(x) * jnp.exp(y) + lax.rsqrt(jnp.abs(x) + 1) - lax.erf(y) / jnp.sqrt(y)
    z = z + jnp.sin(x) + jnp.cos(y) + lax.tan(x) + lax.cbrt(x) + jnp.arctan2(x, y) + lax.logistic(x)
    z = z + jnp.floor(x) + jnp.ceil(y) + lax.round(x) + jnp.sign(x) + jnp.log(x) + jnp.log1p(x) + jnp.expm1(y)
    z = jnp.maximum(z, jnp.minimum(x, y)) + lax.rem(x, y) + lax.pow(x, y) + jnp.round(x)
    return lax.clamp(-limit, z, limit), lax.is_finite(z), -z


@case(of((7,), jnp.int32), of((7,), jnp.uint32))
def integers(x, y):
    """Integer and bit operations."""
    bits = (y << 3) ^ (y >> 5) | (y & 0xFF)
    signed = lax.shift_right_arithmetic(x, jnp.int32(2)) + x // 3 + x % 5 + ~x
    return bits, signed, lax.population_count(y), lax.clz(y), lax.bitcast_convert_type(y, jnp.float32)


@case(of((4, 6)), of((4, 6), jnp.bfloat16), of((4, 6), jnp.int8), of((4, 6), jnp.float16))
def types(x, y, z, half):
    """Conversions, and constants of each type."""
    wide = x + y.astype(jnp.float32) + z.astype(jnp.float32) + half.astype(jnp.float32)
    table = jnp.asarray(np.arange(24, dtype=np.int16).reshape(4, 6))
    flags = jnp.asarray(np.arange(24).reshape(4, 6) % 3 == 0)
    halves = jnp.asarray(np.linspace(0, 1, 6, dtype=np.float16))
    brains = jnp.asarray(np.linspace(0, 1, 6), jnp.bfloat16)
    small = jnp.asarray(np.arange(6, dtype=np.uint8))
    words = jnp.asarray(np.arange(6, dtype=np.uint32) * 0x10000001)
    y = jnp.where(flags, wide.astype(jnp.bfloat16), brains)
    return y, table + z, half + halves, small.astype(jnp.int32), words, x.astype(jnp.uint16), x.astype(bool)


@case(of((2, 3, 4)), of((4, 3)))
def shapes(x, y):
    """What moves elements: transposes, reshapes, slices, padding, reversal, iota."""
    a = jnp.transpose(x, (2, 0, 1)).reshape(4, 6)
    b = lax.pad(y, jnp.float32(0), ((1, 2, 1), (0, -1, 0)))
    c = lax.slice(a, (0, 1), (4, 6), (2, 1))
    d = lax.concatenate([c, lax.rev(c, (1,))], 0)
    return a, b, d, lax.broadcasted_iota(jnp.int32, (2, 3), 1), lax.expand_dims(y, (0, 2)) + x.sum()


@case(of((4, 5)), of((5, 6)), of((2, 4, 5)), of((2, 7, 5)))
def products(x, w, a, b):
    """A product of matrices, one with batch dimensions, and one of stated precision."""
    scores = lax.dot_general(a, b, (((2,), (2,)), ((0,), (0,))))
    exact = lax.dot_general(x, w, (((1,), (0,)), ((), ())), precision=(lax.Precision.HIGHEST, lax.Precision.HIGH))
    rounded = lax.dot_general(
        x.astype(jnp.bfloat16), w.astype(jnp.bfloat16), (((1,), (0,)), ((), ())), preferred_element_type=jnp.float32
    )
    return x @ w, scores, exact, rounded


@case(of((2, 8, 8, 4)), of((3, 3, 4, 6)), of((3, 3, 1, 4)))
def convolutions(x, w, depthwise):
    """Strides, dilation of window and base, and groups of features and of the batch."""
    numbers = ("NHWC", "HWIO", "NHWC")
    a = lax.conv_general_dilated(x, w, (2, 1), "SAME", dimension_numbers=numbers)
    b = lax.conv_general_dilated(x, w, (1, 1), ((1, 2), (0, 3)), (2, 1), (1, 2), dimension_numbers=numbers)
    c = lax.conv_general_dilated(x, depthwise, (1, 1), "VALID", dimension_numbers=numbers, feature_group_count=4)
    d = lax.conv_general_dilated(x, w, (1, 1), "VALID", dimension_numbers=numbers, batch_group_count=2)
    return a, b, c, d


@case(of((2, 8, 8, 3)), of((3, 3, 3, 4)))
def convolution_gradient(x, w):
    """The gradients of a convolution, whose windows are reversed."""

    def loss(x, w):
        with jax.named_scope("conv1"):
            y = lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        with jax.named_scope("relu1"):
            y = jax.nn.relu(y)
        return jnp.sum(y * y)

    return jax.grad(loss, (0, 1))(x, w)


@case(of((3, 4, 5)))
def reductions(x):
    """Sums, products, extremes, positions of extremes, logical reductions."""
    return (x.sum(1), x.prod(0), x.max((0, 2)), x.min(), jnp.argmax(x, 1), jnp.any(x > 0, 2), jnp.all(x > 0),
            lax.reduce_precision(x, 5, 10), jnp.cumsum(x, 2))


@case(of((2, 8, 8, 3)))
def pooling(x):
    """Windows: the largest element, the mean, and the gradient of the first."""

    def largest(x):
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    mean = lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 1, 1, 1), "SAME")
    return largest(x), mean, jax.grad(lambda x: jnp.sum(largest(x) ** 2))(x)


@case(of((10, 4)), of((2, 3), jnp.int32))
def embedding(table, ids):
    """Rows of a table, and the gradient, which adds to rows."""
    return table[ids], jax.grad(lambda table: jnp.sum(table[ids] ** 2))(table)


@case(of((3, 5, 6)), of((3, 2), jnp.int32), of((3, 2, 6)))
def batched_gather(x, ids, updates):
    """Gather and scatter with batch dimensions."""
    rows = jax.vmap(lambda x, ids: x[ids])(x, ids)
    changed = jax.vmap(lambda x, ids, updates: x.at[ids].set(updates, unique_indices=True))(x, ids, updates)
    return rows, changed


@case(of((6, 4)), of((2, 4)), of((), jnp.int32))
def dynamic_slices(x, update, start):
    """Slices whose places are computed."""
    return lax.dynamic_slice(x, (start, 0), (2, 3)), lax.dynamic_update_slice(x, update, (start, 1))


@case(of((4, 9)), of((4, 9), jnp.int32))
def sorting(x, y):
    """One array sorted, two arrays sorted by the first, and the largest elements."""
    return jnp.sort(x, 1), lax.sort((y, x), dimension=0, num_keys=2), lax.top_k(x, 3)


@case(of((5, 4)), of((4,)))
def scan(x, h):
    """A loop with a known count."""

    def step(h, x):
        h = jnp.tanh(h + x)
        return h, h * 2

    return lax.scan(step, h, x)


@case(of(()), of((), jnp.int32))
def control(x, i):
    """A loop with a condition on values, a choice of two and of three."""
    y = lax.while_loop(lambda v: v[0] < 100, lambda v: (v[0] * 2, v[1] + 1), (x, i))
    z = lax.cond(i > 2, lambda x: x + 1, lambda x: x * 3, x)
    return y, z, lax.switch(i, [lambda x: x, jnp.sin, lambda x: x * x], x)


@case(of((4,), jnp.uint32))
def random_bits(key):
    """Bits by the generator of the machine, by threefry, and dropout's mask."""
    _, bits = lax.rng_bit_generator(key, (3, 5), algorithm=lax.RandomAlgorithm.RNG_THREE_FRY)
    mask = jax.random.bernoulli(jax.random.wrap_key_data(key[:2]), 0.5, (2, 4))
    return bits, mask


@case(of((3, 3)), of((3, 2)))
def solvers(a, b):
    """A Cholesky factor, and a system of equations with it."""
    factor = lax.linalg.cholesky(a)
    return factor, lax.linalg.triangular_solve(factor, b, left_side=True, lower=True, transpose_a=True)


@case(of((2, 5)), of((2, 5)))
def barriers(x, y):
    """A barrier for optimizers, and a function that keeps its own call."""
    x, y = lax.optimization_barrier((x, y))
    return jax.jit(lambda x: jnp.cos(x) * 2)(x) + jax.checkpoint(jnp.sin)(y)


@case(of((3, 4)), of((3, 4)), donate_argnums=(0,))
def donated(state, change):
    """A state that is replaced."""
    return state + change, jnp.sum(change)


@case(of((2, 5, 8)), of((8, 8)), of((8, 8)), of((8, 8)))
def attention(x, q, k, v):
    """One head of attention."""
    with jax.named_scope("attention"):
        scores = jax.nn.softmax((x @ q) @ jnp.swapaxes(x @ k, 1, 2) / 8**0.5, axis=-1)
        return scores @ (x @ v)


@case(of((4, 6)), of((6,)), of((6,)))
def layer_normalization(x, scale, offset):
    """A normalization, and its gradients."""

    def loss(x, scale, offset):
        mean = x.mean(-1, keepdims=True)
        variance = ((x - mean) ** 2).mean(-1, keepdims=True)
        return jnp.sum(((x - mean) * lax.rsqrt(variance + 1e-5) * scale + offset) ** 3)

    return jax.value_and_grad(loss, (0, 1, 2))(x, scale, offset)


def mesh():
    return Mesh(np.array(jax.devices()), ("data",))


def shards(*inputs, outputs):
    return lambda function: jax.shard_map(function, mesh=mesh(), in_specs=inputs, out_specs=outputs, check_vma=False)


@case(of((16, 4)), of((4, 8)))
def replicas(x, w):
    """Eight replicas: each has two rows of x, and they add their gradients."""
    split, whole = PartitionSpec("data"), PartitionSpec()

    @shards(split, whole, outputs=(whole, split))
    def body(x, w):
        gradient = jax.grad(lambda w: jnp.sum(jnp.tanh(x @ w)))(w)
        return lax.pmean(gradient, "data"), x * lax.axis_index("data")

    return body(x, w)


@case(of((16, 8)))
def collectives(x):
    """Each collective among eight replicas, and one among four pairs."""
    split = PartitionSpec("data")

    @shards(split, outputs=split)
    def body(x):
        whole = lax.all_gather(x, "data", tiled=True)
        part = lax.psum_scatter(whole, "data", tiled=True)
        moved = lax.ppermute(part, "data", [(i, (i + 1) % 8) for i in range(8)])
        spread = lax.all_to_all(moved, "data", 1, 0, tiled=True)
        pairs = lax.psum(spread, "data", axis_index_groups=[[0, 1], [2, 3], [4, 5], [6, 7]])
        return pairs + lax.pmax(spread, "data")

    return body(x)


IMAGES = 8

CNN_SHAPES = {
    "conv1": ((3, 3, 1, 16), (16,)),
    "conv2": ((3, 3, 16, 32), (32,)),
    "dense1": ((5 * 5 * 32, 64), (64,)),
    "dense2": ((64, 10), (10,)),
}
NORMALIZED = {"norm1": 16, "norm2": 32}


def cnn_parameters(kind=of):
    parameters = {name: {"kernel": kind(w), "bias": kind(b)} for name, (w, b) in CNN_SHAPES.items()}
    for name, width in NORMALIZED.items():
        parameters[name] = {"scale": kind((width,)), "offset": kind((width,))}
    return parameters


def cnn_means(kind=of):
    return {name: {"mean": kind((width,)), "variance": kind((width,))} for name, width in NORMALIZED.items()}


def normalized(x, layer, means, training):
    if training:
        mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
        means = jax.tree.map(lambda old, new: 0.9 * old + 0.1 * new, means, {"mean": mean, "variance": variance})
    else:
        mean, variance = means["mean"], means["variance"]
    return (x - mean) * lax.rsqrt(variance + 1e-3) * layer["scale"] + layer["offset"], means


def cnn(parameters, means, images, key=None):
    """The network of the article, on images of 28 x 28; with a key for dropout, as in training."""
    x = images
    new_means = {}
    for i in (1, 2):
        with jax.named_scope(f"conv{i}"):
            layer = parameters[f"conv{i}"]
            numbers = ("NHWC", "HWIO", "NHWC")
            x = lax.conv_general_dilated(x, layer["kernel"], (1, 1), "VALID", dimension_numbers=numbers)
            x = jax.nn.relu(x + layer["bias"])
        with jax.named_scope(f"norm{i}"):
            name = f"norm{i}"
            x, new_means[name] = normalized(x, parameters[name], means[name], key is not None)
        with jax.named_scope(f"pool{i}"):
            x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    x = x.reshape(x.shape[0], -1)
    with jax.named_scope("dense1"):
        x = jax.nn.relu(x @ parameters["dense1"]["kernel"] + parameters["dense1"]["bias"])
    if key is not None:
        with jax.named_scope("dropout"):
            x = jnp.where(jax.random.bernoulli(key, 0.5, x.shape), x / 0.5, 0)
    with jax.named_scope("dense2"):
        x = x @ parameters["dense2"]["kernel"] + parameters["dense2"]["bias"]
    return x, new_means


@case(cnn_parameters(), cnn_means(), of((IMAGES, 28, 28, 1)))
def cnn_forward(parameters, means, images):
    return jax.nn.softmax(cnn(parameters, means, images)[0])


def training_step(state, images, labels, total=lambda x: x):
    """One step of Adam. `total` is the mean over replicas."""
    key, next_key = jax.random.split(jax.random.wrap_key_data(state["key"]))

    def loss(parameters):
        logits, means = cnn(parameters, state["means"], images, key)
        with jax.named_scope("loss"):
            picked = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1)
            return -picked.mean(), means

    (value, means), gradients = jax.value_and_grad(loss, has_aux=True)(state["parameters"])
    with jax.named_scope("average"):
        gradients, value = jax.tree.map(total, (gradients, value))
    with jax.named_scope("adam"):
        step = state["step"] + 1
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["first"], gradients)
        second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, state["second"], gradients)
        rate = 1e-3 * jnp.sqrt(1 - 0.999 ** step.astype(jnp.float32)) / (1 - 0.9 ** step.astype(jnp.float32))
        parameters = jax.tree.map(
            lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-7), state["parameters"], first, second)
    state = {"parameters": parameters, "means": means, "first": first, "second": second, "step": step,
             "key": jax.random.key_data(next_key)}
    return state, value


def training_state():
    return {"parameters": cnn_parameters(), "means": cnn_means(), "first": cnn_parameters(),
            "second": cnn_parameters(), "step": of((), jnp.int32), "key": of((2,), jnp.uint32)}


@case(training_state(), of((IMAGES, 28, 28, 1)), of((IMAGES,), jnp.int32), donate_argnums=(0,))
def cnn_training(state, images, labels):
    return training_step(state, images, labels)


@case(training_state(), of((8 * IMAGES, 28, 28, 1)), of((8 * IMAGES,), jnp.int32), donate_argnums=(0,))
def cnn_training_replicas(state, images, labels):
    split, whole = PartitionSpec("data"), PartitionSpec()

    @shards(whole, split, split, outputs=(whole, whole))
    def body(state, images, labels):
        return training_step(state, images, labels, lambda x: lax.pmean(x, "data"))

    return body(state, images, labels)


# A module has a number that counts those made before it: new cases come last.
@case(of((4, 5)), of((5, 6)))
def dot_algorithms(x, w):
    """Products in 1, 3 and 6 products of bfloat16 parts: the precisions of a TPU under other names."""
    presets = lax.DotAlgorithmPreset
    return [
        lax.dot(x, w, precision=preset)
        for preset in (presets.BF16_BF16_F32, presets.BF16_BF16_F32_X3, presets.BF16_BF16_F32_X6)
    ]


GRID = Mesh(np.array(jax.devices()).reshape(4, 2), ("a", "b"))


def split(shape, *axes):
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(GRID, PartitionSpec(*axes)))


@case(split((8, 16), "a", "b"), split((16, 6), "b"), split(()), shardy=False)
def shardings(x, w, scale):
    """Arrays over a grid of devices: replicated, in tiles, in tiles of which each is on several devices, manual."""
    def body(x):
        return lax.psum(x, "a")

    total = jax.shard_map(body, mesh=GRID, in_specs=PartitionSpec("a", "b"), out_specs=PartitionSpec(None, "b"))(x)
    product = lax.with_sharding_constraint(x @ w, NamedSharding(GRID, PartitionSpec("b", "a")))
    return product * scale, total


@case(of((2, 3), jnp.int8))
def only_constants(x):
    """What reads no input, whatever it is."""
    return lax.integer_pow(x, 0)


@case(of((4, 3)), of((16, 4)), of((3, 16)))
def data_parallel(w, x, y):
    """A gradient step on eight devices: w is everywhere, x and y are split along their batches."""
    split = PartitionSpec("data")

    @shards(PartitionSpec(), split, PartitionSpec(None, "data"), outputs=(PartitionSpec(), split))
    def body(w, x, y):
        error = x @ w - y.T
        return w - 0.1 * lax.psum(x.T @ error, "data"), error

    return body(w, x, y)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or CASES:
        function, arguments, options = CASES[name]
        module = lowered(function, arguments, **options)
        (folder / f"{name}.hlo").write_bytes(module)
        print(f"{name}: {len(module)} bytes")


if __name__ == "__main__":
    main()
