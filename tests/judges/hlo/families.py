"""Functions of JAX, drawn from a seed: for each family, what it draws is a function and its inputs."""

import functools

import make_modules  # noqa: F401  (sets JAX up)
import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax

FLOATS = (np.float32, ml_dtypes.bfloat16, np.float16)
SIGNED = (np.int8, np.int16, np.int32)
UNSIGNED = (np.uint8, np.uint16, np.uint32)
INTEGERS = SIGNED + UNSIGNED
EDGES = (0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -3.5, np.inf, -np.inf, np.nan, 1e30, -1e30, 1e-20, 65504.0, 3e9, -3e9)

FAMILIES = {}


def family(share):
    """Registers a family; of 100 cases, about so many are of it."""

    def register(function):
        FAMILIES[function.__name__] = (function, share)
        return function

    return register


class Draw:
    """Choices from a seed."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)

    def number(self, low, high):
        return int(self.random.integers(low, high + 1))

    def chance(self, part=0.5):
        return self.random.random() < part

    def one(self, choices):
        return choices[self.number(0, len(choices) - 1)]

    def some(self, choices, least=1):
        """Some of them, in their order."""
        count = self.number(least, len(choices))
        return tuple(choices[i] for i in sorted(self.random.permutation(len(choices))[:count]))

    def order(self, count):
        return tuple(int(i) for i in self.random.permutation(count))

    def shape(self, low=1, high=4, most=7):
        return tuple(self.number(1, most) for _ in range(self.number(low, high)))

    def floats(self, shape, type=np.float32, edges=False, scale=1.0):
        values = np.asarray(self.random.standard_normal(shape) * scale)
        if edges:
            flat = values.reshape(-1)
            for i in range(min(flat.size, len(EDGES))):
                if self.chance():
                    flat[self.number(0, flat.size - 1)] = self.one(EDGES)
        with np.errstate(over="ignore"):
            return values.astype(type)

    def halves(self, shape, type=np.float32):
        """Multiples of a quarter: many equal ones, and sums without rounding."""
        return (np.asarray(self.random.integers(-12, 13, shape)) / 4).astype(type)

    def integers(self, shape, type=np.int32, low=None, high=None):
        if low is not None:
            return np.asarray(self.random.integers(low, high + 1, shape)).astype(type)
        info = np.iinfo(type)
        wide = np.asarray(self.random.integers(info.min, info.max + 1, shape, dtype=np.int64))
        small = np.asarray(self.random.integers(-3 if info.min < 0 else 0, 9, shape))
        ends = np.asarray(self.random.choice([info.min, info.max], shape))
        kinds = self.random.random(shape)
        return np.where(kinds < 0.5, wide, np.where(kinds < 0.85, small, ends)).astype(type)

    def flags(self, shape):
        return np.asarray(self.random.integers(0, 2, shape)).astype(bool)

    def array(self, shape, type):
        type = np.dtype(type)
        if type == np.bool_:
            return self.flags(shape)
        return self.integers(shape, type) if type.kind in "iu" else self.floats(shape, type)


def with_gradients(draw, function, arguments, which=(0,)):
    """The function's results, and the gradients of their sum with drawn weights."""
    results = jax.tree_util.tree_leaves(jax.eval_shape(function, *arguments))
    weights = [draw.floats(result.shape, result.dtype) for result in results]

    def call(*arguments):
        def of_some(*some):
            whole = list(arguments)
            for i, each in zip(which, some):
                whole[i] = each
            return jax.tree_util.tree_leaves(function(*whole))

        values, back = jax.vjp(of_some, *(arguments[i] for i in which))
        return values, back([jnp.asarray(each) for each in weights])

    return call, arguments


def maybe_gradients(draw, function, arguments, which=(0,), part=0.5):
    return with_gradients(draw, function, arguments, which) if draw.chance(part) else (function, arguments)


# Elements.

ANY_FLOAT = (
    jnp.abs, jnp.negative, jnp.sign, jnp.floor, jnp.ceil, jnp.round, lax.is_finite, jnp.isnan, jnp.isinf, jnp.square,
    lax.exp, lax.expm1, lax.tanh, lax.logistic, lax.erf, lax.cbrt, jnp.trunc, jnp.exp2, jax.nn.relu, jnp.reciprocal,
    lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO), jnp.nan_to_num, jnp.signbit, jax.nn.silu,
    jnp.arctan, jnp.sinh, jnp.cosh, jnp.arcsinh,
)
OF_POSITIVE = (lax.sqrt, lax.rsqrt, lax.log, lax.log1p, jnp.log2, jnp.log10, lax.lgamma, jnp.arccosh)
SMALL = (jnp.sin, jnp.cos, jnp.tan, jax.nn.gelu, jax.nn.softplus, jax.nn.elu, jax.nn.log_sigmoid, jnp.sinc)
OF_TWO = (
    jnp.add, jnp.subtract, jnp.multiply, jnp.divide, jnp.maximum, jnp.minimum, jnp.arctan2, lax.rem, jnp.hypot,
    jnp.logaddexp, jnp.copysign, jnp.fmod, jnp.mod, jnp.floor_divide, jnp.heaviside, lax.nextafter,
)


@family(9)
def floats(draw):
    type = draw.one(FLOATS)
    shape = draw.shape()
    kind = draw.number(0, 4)
    if kind == 0:
        function = draw.one(ANY_FLOAT)
        return function, [draw.floats(shape, type, edges=True, scale=3)]
    if kind == 1:
        function = draw.one(OF_POSITIVE)
        return function, [np.abs(draw.floats(shape, type)) + np.asarray(1.25, type)]
    if kind == 2:
        function = draw.one(SMALL)
        return function, [draw.floats(shape, type, scale=2)]
    if kind == 3:
        function = draw.one(OF_TWO)
        return function, [draw.floats(shape, type, edges=True), draw.floats(shape, type, edges=draw.chance())]
    if draw.chance():
        return lax.pow, [np.abs(draw.floats(shape, type)) + np.asarray(0.1, type), draw.floats(shape, type)]
    exponent = draw.number(-3, 6)
    return lambda x: lax.integer_pow(x, exponent), [draw.floats(shape, type) + np.asarray(3, type)]


@family(4)
def float_gradients(draw):
    functions = (
        jnp.tanh, jnp.exp, jax.nn.sigmoid, jax.nn.gelu, jax.nn.silu, jnp.sin, jnp.cos, jax.nn.softplus, lax.erf,
        jnp.abs, jax.nn.relu, jax.nn.elu, jnp.square, jax.nn.relu6, jax.nn.hard_swish, jnp.arctan, jnp.expm1,
        lambda x: jnp.sqrt(x * x + 1), lambda x: lax.rsqrt(x * x + 1), lambda x: jnp.log(x * x + 1),
        lambda x: x**3, lambda x: jnp.clip(x, -0.5, 0.7), jnp.cbrt, lambda x: 1 / (2 + jnp.cos(x)),
    )
    first, second = draw.one(functions), draw.one(functions)
    type = draw.one((np.float32, np.float32, ml_dtypes.bfloat16))
    return with_gradients(draw, lambda x: second(first(x)), [draw.floats(draw.shape(), type)])


@family(4)
def broadcast_gradients(draw):
    """Operands of other shapes, whose gradients are sums."""
    shape = draw.shape(2, 4)
    part = tuple(1 if draw.chance() else n for n in shape)[draw.number(0, 1) :]
    function = draw.one((jnp.add, jnp.multiply, jnp.subtract, jnp.maximum, jnp.divide, jnp.arctan2, jnp.power))
    a, b = draw.floats(shape), draw.floats(part)
    if function in (jnp.divide, jnp.power):
        a, b = np.abs(a) + np.float32(0.5), np.abs(b) + np.float32(0.5)
    if draw.chance():
        a, b = b, a
    return with_gradients(draw, function, [a, b], (0, 1))


@family(7)
def integers(draw):
    type = draw.one(INTEGERS)
    shape = draw.shape()
    unary = [jnp.abs, jnp.negative, jnp.sign, jnp.invert, lax.population_count, lax.clz, jnp.square]
    binary = [
        jnp.add, jnp.subtract, jnp.multiply, jnp.maximum, jnp.minimum, lax.div, lax.rem, jnp.floor_divide, jnp.mod,
        jnp.bitwise_and, jnp.bitwise_or, jnp.bitwise_xor, lax.shift_left, lax.shift_right_logical,
        lax.shift_right_arithmetic, lax.mulhi if hasattr(lax, "mulhi") else jnp.multiply,
    ]
    if draw.chance(0.25):
        if draw.chance(0.3):
            exponent = draw.number(0, 9)
            return lambda x: lax.integer_pow(x, exponent), [draw.integers(shape, type)]
        return draw.one(unary), [draw.integers(shape, type)]
    function = draw.one(binary)
    second = draw.integers(shape, type)
    if function in (lax.shift_left, lax.shift_right_logical, lax.shift_right_arithmetic) and draw.chance():
        second = draw.integers(shape, type, 0, 8 * np.dtype(type).itemsize + 1)
    return function, [draw.integers(shape, type), second]


@family(3)
def truths(draw):
    shape = draw.shape()
    function = draw.one((
        jnp.logical_and, jnp.logical_or, jnp.logical_xor, lambda a, b: ~a | b, lambda a, b: jnp.where(a, b, ~b),
        jnp.maximum, jnp.minimum, lambda a, b: a == b, lambda a, b: a != b, lambda a, b: a < b, lambda a, b: a >= b,
        lambda a, b: (a.sum(), b.any(-1), (a & b).all(0)), lambda a, b: a * b + a, lambda a, b: lax.clamp(a, b, b)))
    return function, [draw.flags(shape), draw.flags(shape)]


@family(6)
def conversions(draw):
    shape = draw.shape()
    kinds = FLOATS + INTEGERS + (np.bool_,)
    a, b = draw.one(kinds), draw.one(kinds)
    chance = draw.random.random()
    if chance < 0.65:
        x = draw.floats(shape, a, edges=True, scale=100) if a in FLOATS else draw.array(shape, a)
        third = draw.one(kinds)
        if draw.chance(0.7):
            return lambda x: x.astype(b), [x]
        return lambda x: x.astype(b).astype(third), [x]
    if chance < 0.8:
        types = draw.one(((np.float32, np.int32, np.uint32), (ml_dtypes.bfloat16, np.float16, np.int16, np.uint16),
                          (np.int8, np.uint8)))
        a, b = draw.one(types), draw.one(types)
        # No subnormal numbers, which a TPU does not keep.
        x = draw.floats(shape, a) if a in FLOATS else draw.integers(shape, a) | np.asarray(0x3000 if a in (
            np.int16, np.uint16) else 0x30000000 if a in (np.int32, np.uint32) else 0, a)
        return lambda x: lax.bitcast_convert_type(x, b), [x]
    exponent, mantissa = draw.number(2, 8), draw.number(1, 23)
    x = draw.floats(shape, draw.one((np.float32, np.float32, ml_dtypes.bfloat16, np.float16)), edges=True, scale=10)
    return lambda x: lax.reduce_precision(x, exponent, mantissa), [x]


@family(5)
def comparisons(draw):
    shape = draw.shape()
    type = draw.one(FLOATS + INTEGERS)
    make = functools.partial(draw.floats, edges=True) if type in FLOATS else draw.integers
    a, b = make(shape, type), make(shape, type)
    same = draw.flags(shape)
    b = np.where(same, a, b).astype(type)
    kind = draw.number(0, 4)
    if kind < 2:
        return draw.one((lax.eq, lax.ne, lax.lt, lax.le, lax.gt, lax.ge)), [a, b]
    if kind == 2:
        return lambda p, a, b: lax.select(p, a, b), [draw.flags(shape), a, b]
    if kind == 3:
        return lambda a, b, c: lax.clamp(a, b, c), [a, b, make(shape, type)]
    return lambda a, b, c: lax.clamp(a[()], b, c[()]), [make((), type), b, make((), type)]


# Movements.


def moved_array(draw, shape, types):
    """An array of one of the types, and a function that makes the array to move of it: the array itself, or one whose
    elements have the bits of another type."""
    kind = draw.number(0, 3)
    if kind == 0:
        return draw.floats(shape, ml_dtypes.bfloat16), np.float32, lambda x: x.astype(jnp.float32)
    if kind == 1:
        type = draw.one((np.int32, np.uint32))
        return draw.floats(shape), type, lambda x: lax.bitcast_convert_type(x, type)
    type = draw.one(types)
    return draw.array(shape, type), type, lambda x: x


def strided(draw, shape):
    first = [draw.number(0, n - 1) for n in shape]
    last = [draw.number(f + 1, n) for f, n in zip(first, shape)]
    return first, last, [draw.number(1, 3) for _ in shape]


@family(8)
def movements(draw):
    shape = draw.shape(2, 4)
    x, type, begin = moved_array(draw, shape, FLOATS + INTEGERS + (np.bool_,))
    rank = len(shape)

    def step():
        kind = draw.number(0, 11)
        if kind == 0:
            seed = draw.number(0, 999)
            return lambda x: jnp.transpose(x, np.random.default_rng(seed).permutation(x.ndim))
        if kind == 1:
            return lambda x: x.reshape(-1)
        if kind == 2:
            first, last, by = strided(draw, shape)
            return lambda x: lax.slice(x, first, last, by) if x.shape == shape else x
        if kind == 3:
            edges = [(draw.number(-1, 3), draw.number(0, 3), draw.number(0, 2)) for _ in range(rank)]
            return lambda x: lax.pad(x, np.asarray(1, x.dtype), edges) if x.ndim == rank else x
        if kind == 4:
            axes = draw.some(range(rank))
            return lambda x: lax.rev(x, axes) if x.ndim == rank else x[::-1]
        if kind == 5:
            axis = draw.number(0, rank - 1)
            return lambda x: lax.concatenate([x, x[::-1]], axis if x.ndim == rank else 0)
        if kind == 6:
            times = draw.number(2, 3)
            return lambda x: jnp.tile(x, times)
        if kind == 7:
            by = draw.number(-5, 5)
            return lambda x: jnp.roll(x, by, x.ndim - 1)
        if kind == 8:
            times = draw.number(2, 3)
            return lambda x: jnp.repeat(x, times, 0)
        if kind == 9:
            return lambda x: jnp.broadcast_to(x[None], (2, *x.shape)).reshape(-1, *x.shape[1:])
        if kind == 10:
            return lambda x: jnp.swapaxes(x, 0, x.ndim - 1)
        return lambda x: jnp.stack([x, x], x.ndim - 1)[..., 0, :] if x.ndim > 1 else x

    steps = [step() for _ in range(draw.number(1, 3))]

    def function(x):
        x = begin(x)
        for each in steps:
            x = each(x)
        return x

    if x.dtype == np.float32 and np.dtype(type) == np.float32 and draw.chance(0.6):
        return with_gradients(draw, function, [x])
    return function, [x]


@family(4)
def pads(draw):
    shape = draw.shape(1, 4)
    edges = []
    for n in shape:
        between = draw.number(0, 2)
        length = n + (n - 1) * between
        low = draw.number(-min(2, length - 1), 3)
        edges.append((low, draw.number(max(-2, 1 - length - low), 3), between))
    x, type, begin = moved_array(draw, shape, FLOATS + INTEGERS)
    if draw.chance(0.4):
        value = draw.array((), type)
        function = lambda x: lax.pad(begin(x), value, edges)  # noqa: E731
        arguments = [x]
    else:
        function = lambda x, value: lax.pad(begin(x), value, edges)  # noqa: E731
        arguments = [x, draw.array((), type)]
    if x.dtype == type == np.float32:
        return maybe_gradients(draw, function, arguments, tuple(range(len(arguments))))
    return function, arguments


@family(3)
def constants(draw):
    """Iotas, grids, and tables of constants of each type."""
    type = draw.one(FLOATS + INTEGERS)
    shape = draw.shape(2, 3)
    axis = draw.number(0, len(shape) - 1)
    x = draw.array(shape, type)
    table = draw.array(shape, type)
    kind = draw.number(0, 4)
    if kind == 0:
        return lambda x: lax.broadcasted_iota(type, shape, axis) + x, [x]
    if kind == 1:
        return lambda x: (x + table, jnp.full(shape, 3, type), jnp.asarray(table)), [x]
    if kind == 2:
        return lambda x: jnp.tril(x) + jnp.triu(jnp.ones_like(x), 1), [x]
    if kind == 3:
        return lambda x: x * jnp.eye(*shape[-2:], dtype=type), [x]
    n = draw.number(1, 9)
    return lambda x: (jnp.arange(n, dtype=type), jnp.where(x > 1, x, table), jax.nn.one_hot(jnp.arange(3), n)), [x]


# Reductions.


@family(8)
def reductions(draw):
    shape = draw.shape(1, 4, 9)
    axes = draw.some(range(len(shape)))
    keeps = draw.chance(0.3)
    kind = draw.number(0, 3)
    if kind == 0:
        type = draw.one(INTEGERS)
        names = ("sum", "prod", "max", "min", "argmax", "argmin", "any", "all", "bitwise_and", "bitwise_or")
    elif kind == 1:
        type = draw.one((ml_dtypes.bfloat16, np.float16))
        names = ("sum", "max", "min", "mean", "argmax", "argmin")
    else:
        type = np.float32
        names = ("sum", "prod", "max", "min", "mean", "var", "std", "argmax", "argmin", "logsumexp", "norm", "ptp",
                 "softmax", "count_nonzero", "sum", "max")
    name = draw.one(names)
    x = draw.integers(shape, type) if type in INTEGERS else (
        draw.halves(shape, type) if draw.chance(0.3) else draw.floats(shape, type))
    if name in ("argmax", "argmin"):
        axis = draw.one(axes)
        return lambda x: getattr(jnp, name)(x, axis), [x]
    if name in ("bitwise_and", "bitwise_or"):
        reduce = getattr(lax, "reduce_" + name[8:])
        return lambda x: reduce(x, axes), [x]
    functions = {
        "logsumexp": lambda x: jax.nn.logsumexp(x, axes, keepdims=keeps),
        "norm": lambda x: jnp.sqrt(jnp.sum(x * x, axes, keepdims=keeps) + 1e-6),
        "softmax": lambda x: jax.nn.softmax(x, axes),
        "ptp": lambda x: x.max(axes) - x.min(axes),
        "count_nonzero": lambda x: jnp.count_nonzero(x > 0, axes),
    }
    function = functions.get(name, lambda x: getattr(jnp, name)(x, axes, keepdims=keeps))
    if type == np.float32 and name != "count_nonzero":
        return maybe_gradients(draw, function, [x])
    return function, [x]


@family(2)
def long_sums(draw):
    """Sums of many numbers: their order shows in the bits."""
    shape = draw.one(((700,), (3, 300), (300, 5), (40, 9, 11), (1025,), (130, 131)))
    axes = draw.some(range(len(shape)))
    return maybe_gradients(draw, lambda x: (jnp.sum(x, axes), jnp.var(x, axes)), [draw.floats(shape) + np.float32(1)])


@family(2)
def own_reductions(draw):
    """Reductions by a computation of several arrays or instructions."""
    shape = draw.shape(2, 3, 6)
    axis = draw.number(0, len(shape) - 1)
    x, y = draw.halves(shape), draw.integers(shape, np.int32, 0, 20)
    kind = draw.number(0, 3)
    if kind == 0:
        def least(a, b):
            takes = (a[0] < b[0]) | ((a[0] == b[0]) & (a[1] < b[1]))
            return jnp.where(takes, a[0], b[0]), jnp.where(takes, a[1], b[1])

        return lambda x, y: lax.reduce((x, y), (np.float32(np.inf), np.int32(99)), least, (axis,)), [x, y]
    if kind == 1:
        return lambda x, y: lax.reduce((x, y), (np.float32(0), np.int32(0)), lambda a, b: (
            jnp.maximum(a[0], b[0]), a[1] | b[1]), (axis,)), [x, y]
    if kind == 2:
        return lambda x, y: lax.reduce(y, np.int32(1), lambda a, b: a ^ b, (axis,)), [x, y]
    return lambda x, y: lax.reduce(x, np.float32(-1), lambda a, b: jnp.maximum(jnp.abs(a), jnp.abs(b)), (axis,)), [x, y]


# Windows.


def window(draw, shape):
    sizes = [draw.number(1, min(3, n)) for n in shape]
    strides = [draw.number(1, 2) for _ in shape]
    return sizes, strides, draw.one(("VALID", "SAME"))


@family(7)
def windows(draw):
    kind = draw.number(0, 4)
    if kind <= 1:
        shape = draw.shape(1, 3, 9)
        axis = draw.number(0, len(shape) - 1)
        name = draw.one(("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"))
        reverse = draw.chance(0.3)
        function = lambda x: getattr(lax, name)(x, axis, reverse)  # noqa: E731
        if draw.chance(0.25) and name != "cumlogsumexp":
            return function, [draw.integers(shape, draw.one(INTEGERS))]
        return maybe_gradients(draw, function, [draw.floats(shape)], part=0.4 if name != "cumprod" else 0)
    shape = draw.shape(1, 4, 8)
    sizes, strides, padding = window(draw, shape)
    if draw.chance(0.3):
        padding = [(draw.number(0, s - 1), draw.number(0, s - 1)) for s in sizes]
    spread = {}
    if draw.chance(0.25):
        spread = {"base_dilation": [draw.number(1, 2) for _ in shape], "window_dilation": [draw.number(1, 2) for _ in shape]}
        sizes = [1 if n < 4 else s for n, s in zip(shape, sizes)]
    name = draw.one(("add", "max", "min", "mul"))
    if draw.chance(0.25):
        type = draw.one(INTEGERS)
        start = {"add": 0, "mul": 1, "max": np.iinfo(type).min, "min": np.iinfo(type).max}[name]
    else:
        type = draw.one((np.float32, np.float32, ml_dtypes.bfloat16)) if name in ("max", "min") else np.float32
        start = {"add": 0, "mul": 1, "max": -np.inf, "min": np.inf}[name]
    operation = {"add": lax.add, "mul": lax.mul, "max": lax.max, "min": lax.min}[name]
    start = np.asarray(start, type)
    function = lambda x: lax.reduce_window(x, start, operation, sizes, strides, padding, **spread)  # noqa: E731
    if 0 in jax.eval_shape(function, jax.ShapeDtypeStruct(shape, type)).shape:
        return windows(draw)
    if type == np.float32 and name in ("add", "max", "min") and not spread:
        return maybe_gradients(draw, function, [draw.floats(shape)], part=0.3)
    return function, [draw.array(shape, type)]


@family(5)
def pooling(draw):
    """Pooling of images, and its gradient, also of windows that overlap, with equal elements."""
    height, width, channels = draw.number(4, 9), draw.number(4, 9), draw.number(1, 5)
    shape = (draw.number(1, 2), height, width, channels)
    size, stride = (draw.number(2, 3), draw.number(2, 3)), (draw.number(1, 3), draw.number(1, 3))
    padding = draw.one(("VALID", "SAME"))
    if draw.chance(0.2):
        padding = ((0, 0), (draw.number(0, 1), draw.number(0, 1)), (draw.number(0, 1), 1), (0, 0))
    x = draw.halves(shape) if draw.chance(0.4) else draw.floats(shape)
    kind = draw.number(0, 4)
    sizes, strides = (1, *size, 1), (1, *stride, 1)
    if kind <= 2:
        function = lambda x: lax.reduce_window(x, -jnp.inf, lax.max, sizes, strides, padding)  # noqa: E731
    elif kind == 3:
        function = lambda x: lax.reduce_window(x, jnp.inf, lax.min, sizes, strides, padding)  # noqa: E731
    else:
        def function(x):
            ones = jnp.ones(x.shape[:3] + (1,), x.dtype)
            counts = lax.reduce_window(ones, 0.0, lax.add, sizes, strides, padding)
            return lax.reduce_window(x, 0.0, lax.add, sizes, strides, padding) / counts
    if draw.chance(0.2):
        x = np.moveaxis(x, 3, 1)
        inner = function
        function = lambda x: jnp.moveaxis(inner(jnp.moveaxis(x, 1, 3)), 3, 1)  # noqa: E731
    return with_gradients(draw, function, [x])


# Products.


@family(8)
def dots(draw):
    batch = draw.shape(0, 2, 4)
    contracted = draw.shape(0 if draw.chance(0.1) else 1, 2, 6)
    rows, columns = draw.shape(0, 2, 5), draw.shape(0, 2, 5)
    if draw.chance(0.15):
        contracted, rows, columns = (draw.number(129, 300),), (draw.number(1, 9),), (draw.number(1, 140),)
    sides = []
    for free in (rows, columns):
        names = [("batch", i) for i in range(len(batch))] + [("sum", i) for i in range(len(contracted))]
        names += [("free", i) for i in range(len(free))]
        order = [names[i] for i in draw.order(len(names))]
        extents = {"batch": batch, "sum": contracted, "free": free}
        sides.append((order, tuple(extents[kind][i] for kind, i in order)))
    sums, batches = draw.order(len(contracted)), draw.order(len(batch))
    numbers = (tuple(tuple(order.index(("sum", i)) for i in sums) for order, _ in sides),
               tuple(tuple(order.index(("batch", i)) for i in batches) for order, _ in sides))
    type = draw.one((np.float32,) * 4 + (ml_dtypes.bfloat16, np.float16))
    options = {}
    if type == np.float32 and draw.chance(0.2):
        options["precision"] = draw.one((lax.Precision.HIGHEST, lax.Precision.HIGH))
    if type != np.float32 and draw.chance():
        options["preferred_element_type"] = np.float32
    function = lambda a, b: lax.dot_general(a, b, numbers, **options)  # noqa: E731
    arguments = [draw.floats(sides[0][1], type), draw.floats(sides[1][1], type)]
    return maybe_gradients(draw, function, arguments, (0, 1), 0.5)


@family(3)
def einsums(draw):
    text, *shapes = draw.one((
        ("ij,jk->ik", (5, 6), (6, 7)), ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)), ("bqhd,bkhd->bhqk", (2, 3, 2, 4), (2, 5, 2, 4)),
        ("bhqk,bkhd->bqhd", (2, 2, 3, 5), (2, 5, 2, 4)), ("ij,ij->i", (4, 5), (4, 5)), ("i,j->ij", (4,), (5,)),
        ("ijk,k->ij", (2, 3, 4), (4,)), ("ij->ji", (3, 4)), ("ii->i", (4, 4)), ("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)),
        ("abc,cd->abd", (2, 3, 4), (4, 5)), ("...ij,...kj->...ik", (2, 3, 4), (2, 5, 4)), ("ijk->", (2, 3, 4)),
        ("i,i->", (7,), (7,)), ("ab,cd->abcd", (2, 3), (2, 2))))
    arguments = [draw.floats(shape) for shape in shapes]
    return maybe_gradients(draw, lambda *a: jnp.einsum(text, *a), arguments, tuple(range(len(arguments))), 0.6)


@family(9)
def convolutions(draw):
    axes = draw.number(1, 2) if draw.chance(0.9) else 0 if draw.chance() else 3
    groups = draw.one((1, 1, 1, 2, 3))
    batch_groups = draw.one((1, 1, 1, 2)) if groups == 1 else 1
    features = draw.number(1, 4) * groups
    results = draw.number(1, 4) * groups * batch_groups
    batch = draw.number(1, 2) * batch_groups
    size = [draw.number(4, 9) for _ in range(axes)]
    kernel = [draw.number(1, 3) for _ in range(axes)]
    strides = [draw.number(1, 3) for _ in range(axes)]
    spread = [draw.number(1, 3) if draw.chance(0.3) else 1 for _ in range(axes)]
    dilation = [draw.number(1, 2) for _ in range(axes)]
    kind = draw.number(0, 3)
    if kind <= 1 and spread == [1] * axes:
        padding = ("SAME", "VALID")[kind]
    else:
        padding = [(draw.number(-1 if draw.chance(0.4) else 0, 3), draw.number(-1 if draw.chance(0.4) else 0, 3))
                   for _ in range(axes)]
    letters = "DHW"[3 - axes :]

    def order(names):
        return "".join(names[i] for i in draw.order(len(names)))

    usual = draw.chance()
    image = "N" + letters + "C" if usual else order("NC" + letters)
    filters = letters + "IO" if usual else order("IO" + letters)
    result = image if usual else order("NC" + letters)
    extents = dict(zip(letters, size)) | {"N": batch, "C": features}
    taps = dict(zip(letters, kernel)) | {"I": features // groups, "O": results}
    type = draw.one((np.float32,) * 5 + (ml_dtypes.bfloat16,))
    x = draw.floats([extents[c] for c in image], type)
    w = draw.floats([taps[c] for c in filters], type)
    function = lambda x, w: lax.conv_general_dilated(  # noqa: E731
        x, w, strides, padding, spread, dilation, (image, filters, result), groups, batch_groups)
    shape = jax.eval_shape(function, x, w).shape
    if 0 in shape:
        return convolutions(draw)
    return maybe_gradients(draw, function, [x, w], (0, 1), 0.6)


@family(2)
def transposed_convolutions(draw):
    strides = (draw.number(1, 3), draw.number(1, 3))
    padding = draw.one(("SAME", "VALID"))
    flips = draw.chance()
    x = draw.floats((draw.number(1, 2), draw.number(2, 6), draw.number(2, 6), draw.number(1, 4)))
    w = draw.floats((draw.number(1, 3), draw.number(1, 4), x.shape[3], draw.number(1, 4)))
    if flips:
        w = np.swapaxes(w, 2, 3)
    function = lambda x, w: lax.conv_transpose(x, w, strides, padding, transpose_kernel=flips)  # noqa: E731
    if 0 in jax.eval_shape(function, x, w).shape:
        return transposed_convolutions(draw)
    return maybe_gradients(draw, function, [x, w], (0, 1))


# Computed places.


@family(6)
def gathers(draw):
    shape = draw.shape(1, 3, 7)
    type = draw.one((np.float32, np.float32) + FLOATS + INTEGERS + (np.bool_,))
    x = draw.array(shape, type)
    axis = draw.number(0, len(shape) - 1)
    mode = draw.one(("clip", "fill", "promise_in_bounds", "wrap", None))
    places = draw.shape(0, 2, 5)
    outside = 3 if mode not in ("promise_in_bounds",) else 0
    ids = draw.integers(places, draw.one((np.int32, np.int32, np.int8, np.uint8, np.uint32)), 0, shape[axis] - 1 + outside)
    if ids.dtype.kind == "i" and mode != "promise_in_bounds":
        ids = (ids - 1).astype(ids.dtype)
    kind = draw.number(0, 4)
    if kind <= 1:
        if mode == "promise_in_bounds":
            mode, ids = "clip", np.clip(ids, 0, shape[axis] - 1)
        function = lambda x, ids: jnp.take(x, ids, axis, mode=mode)  # noqa: E731
    elif kind == 2:
        ids = draw.integers(shape[:axis] + (draw.number(1, 4),) + shape[axis + 1 :], np.int32, -1, shape[axis])
        function = lambda x, ids: jnp.take_along_axis(x, ids, axis, mode=mode)  # noqa: E731
        if mode == "promise_in_bounds":
            ids = np.clip(ids, 0, shape[axis] - 1)
    elif kind == 3 and len(shape) > 1:
        ids = draw.integers((draw.number(1, 5), 2), np.int32, 0 if mode == "promise_in_bounds" else -1,
                            min(shape[:2]) - 1)
        function = lambda x, ids: x.at[ids[:, 0], ids[:, 1]].get(mode=mode if mode != "wrap" else None)  # noqa: E731
    else:
        ids = ids.reshape(-1)
        function = lambda x, ids: jax.vmap(lambda i: x[i], out_axes=draw_axis)(ids)  # noqa: E731
        draw_axis = draw.number(0, len(shape) - 1)
        ids = np.clip(ids, 0, shape[0] - 1)
    if type == np.float32:
        return maybe_gradients(draw, function, [x, ids])
    return function, [x, ids]


@family(6)
def scatters(draw):
    shape = draw.shape(1, 3, 7)
    name = draw.one(("set", "add", "min", "max", "multiply", "add", "set"))
    types = (np.float32, np.float32) + FLOATS + INTEGERS
    type = draw.one(types)
    if name in ("add", "multiply") and type in (ml_dtypes.bfloat16, np.float16):
        type = np.float32
    x = draw.array(shape, type)
    mode = draw.one(("clip", "drop", "promise_in_bounds", None))
    kind = draw.number(0, 2)
    inside = mode == "promise_in_bounds"
    if kind == 0 or len(shape) < 2:
        places = draw.shape(0, 2, 5)
        ids = draw.integers(places, np.int32, 0 if inside else -2, shape[0] - 1 if inside else shape[0] + 1)
        updates = draw.array(places + shape[1:], type)
        at = lambda x, ids: x.at[ids]  # noqa: E731
    elif kind == 1:
        count = draw.number(1, 6)
        ids = draw.integers((count, 2), np.int32, 0, min(shape[:2]) - 1 if inside else max(shape[:2]))
        updates = draw.array((count,) + shape[2:], type)
        at = lambda x, ids: x.at[ids[:, 0], ids[:, 1]]  # noqa: E731
    else:
        count = draw.number(1, 4)
        ids = draw.integers((count,), np.int32, 0, shape[1] - 1 if inside else shape[1])
        updates = draw.array((shape[0], count) + shape[2:], type)
        at = lambda x, ids: x.at[:, ids]  # noqa: E731
    if name == "set":
        # Which of several updates of one place stays is nobody's choice; so there is one for each place.
        flat = ids.reshape(-1, ids.shape[-1]) if kind == 1 and len(shape) > 1 else ids.reshape(-1, 1)
        seen = set()
        limits = shape[:2] if kind == 1 and len(shape) > 1 else (shape[0] if kind == 0 or len(shape) < 2 else shape[1],)
        kept = []
        for row in flat:
            clipped = tuple(
                int(min(max(v + n if v < 0 else v, 0), n - 1)) if mode == "clip" else int(v + n if v < 0 else v)
                for v, n in zip(row, limits))
            kept.append(clipped not in seen)
            seen.add(clipped)
        if not all(kept):
            return scatters(draw)
    function = lambda x, ids, updates: getattr(at(x, ids), name)(updates, mode=mode)  # noqa: E731
    if type == np.float32 and name in ("set", "add"):
        return maybe_gradients(draw, function, [x, ids, updates], (0, 2))
    return function, [x, ids, updates]


@family(4)
def dynamic_slices(draw):
    shape = draw.shape(1, 4, 7)
    sizes = tuple(draw.number(1, n) for n in shape)
    type = draw.one((np.float32, np.float32) + FLOATS + INTEGERS + (np.bool_,))
    x = draw.array(shape, type)
    starts = [draw.integers((), np.int32, -2, n + 1) for n in shape]
    if draw.chance():
        function = lambda x, *starts: lax.dynamic_slice(x, starts, sizes)  # noqa: E731
        arguments, which = [x, *starts], (0,)
    else:
        function = lambda x, update, *starts: lax.dynamic_update_slice(x, update, starts)  # noqa: E731
        arguments, which = [x, draw.array(sizes, type), *starts], (0, 1)
    if draw.chance(0.2):
        count = draw.number(2, 3)
        inner = function
        arguments = [np.stack([draw.array(a.shape, a.dtype) if i in which else draw.integers((), np.int32, -1, 6)
                               for _ in range(count)]) for i, a in enumerate(arguments)]
        function = lambda *a: jax.vmap(inner)(*a)  # noqa: E731
    if type == np.float32:
        return maybe_gradients(draw, function, arguments, which)
    return function, arguments


@family(5)
def sorts(draw):
    shape = draw.shape(1, 3, 9)
    axis = draw.number(0, len(shape) - 1)
    type = draw.one((np.float32, np.float32) + FLOATS + INTEGERS)
    x = draw.halves(shape, type) if type in FLOATS and draw.chance() else (
        draw.floats(shape, type, edges=draw.chance(0.3)) if type in FLOATS else draw.integers(shape, type))
    kind = draw.number(0, 6)
    if kind == 0:
        return maybe_gradients(draw, lambda x: jnp.sort(x, axis), [draw.floats(shape)])
    if kind == 1:
        descends = draw.chance()
        return lambda x: jnp.argsort(x, axis, descending=descends), [x]
    if kind == 2:
        keys = draw.number(1, 2)
        y, z = draw.integers(shape, np.int32, 0, 3), draw.floats(shape)
        return lambda x, y, z: lax.sort((y, x, z), dimension=axis, num_keys=keys), [x, y, z]
    if kind == 3:
        k = draw.number(1, shape[-1])
        function = lambda x: lax.top_k(x, k)  # noqa: E731
        return function, [x]
    if kind == 4:
        return lambda x: jnp.median(x, axis), [draw.floats(shape)]
    if kind == 5:
        y = np.sort(draw.floats((draw.number(1, 9),)))
        return lambda y, x: jnp.searchsorted(y, x), [y, draw.floats(draw.shape(1, 2))]
    return lambda x: (jnp.sort(x, axis, descending=True), jnp.flip(jnp.sort(x, axis), axis)), [x]


# Control.


@family(5)
def loops(draw):
    width, length = draw.number(1, 6), draw.number(1, 6)
    x, h, w = draw.floats((length, width)), draw.floats((width,)), draw.floats((width, width), scale=0.5)
    reverse = draw.chance(0.3)
    kind = draw.number(0, 5)
    if kind == 0:
        def function(x, h, w):
            def step(h, x):
                h = jnp.tanh(h @ w + x)
                return h, h * 2

            return lax.scan(step, h, x, reverse=reverse)
        return maybe_gradients(draw, function, [x, h, w], (0, 1, 2), 0.6)
    if kind == 1:
        return lambda x: lax.fori_loop(0, length, lambda i, s: s * 0.5 + x[i], jnp.zeros(width)), [x]
    if kind == 2:
        return lambda x, h: lax.map(lambda row: row * h + jnp.sum(row), x), [x, h]
    if kind == 3:
        def function(x):
            return lax.while_loop(lambda s: s[0] < length, lambda s: (s[0] + 2, jnp.sin(s[1])), (0, x))[1]
        return function, [x]
    if kind == 4:
        def step(carry, i):
            return carry.at[i].add(carry[i - 1]), carry.sum()

        return lambda x: lax.scan(step, x, jnp.arange(1, length)) if length > 1 else x, [x]
    return lambda x: lax.associative_scan(lambda a, b: a * b + a, x), [x]


@family(4)
def choices(draw):
    shape = draw.shape(1, 2)
    x, y = draw.floats(shape), draw.floats(shape)
    branches = [jnp.sin, lambda x: x * x, lambda x: jnp.flip(x, 0), lambda x: x - jnp.sum(x), jnp.tanh]
    kind = draw.number(0, 3)
    if kind == 0:
        return maybe_gradients(draw, lambda x, p: lax.cond(p, branches[0], branches[3], x), [x, draw.flags(())])
    if kind == 1:
        some = [branches[i] for i in draw.order(5)[: draw.number(2, 5)]]
        return maybe_gradients(draw, lambda x, i: lax.switch(i, some, x), [x, draw.integers((), np.int32, -1, 6)])
    if kind == 2:
        count = draw.number(2, 4)
        return (lambda x, i: jax.vmap(lambda x, i: lax.switch(i, branches[:3], x))(x, i),
                [draw.floats((count, *shape)), draw.integers((count,), np.int32, -1, 3)])
    return lambda x, y: lax.cond(x.sum() > y.sum(), lambda: (x, y * 2), lambda: (y, x - 1)), [x, y]


@family(4)
def randoms(draw):
    key = draw.integers((2,), np.uint32)
    shape = draw.shape(1, 3, 6)
    kind = draw.number(0, 9)
    wrap = jax.random.wrap_key_data
    functions = (
        lambda k: jax.random.bits(wrap(k), shape), lambda k: jax.random.uniform(wrap(k), shape, minval=-2, maxval=3),
        lambda k: jax.random.normal(wrap(k), shape), lambda k: jax.random.bernoulli(wrap(k), 0.3, shape),
        lambda k: jax.random.categorical(wrap(k), jnp.arange(5.0), shape=shape),
        lambda k: jax.random.randint(wrap(k), shape, -5, 100), lambda k: jax.random.key_data(jax.random.split(wrap(k), 3)),
        lambda k: jax.random.permutation(wrap(k), shape[0] + 3), lambda k: jax.random.gumbel(wrap(k), shape),
        lambda k: jax.random.truncated_normal(wrap(k), -1.0, 2.0, shape),
        lambda k: jax.random.key_data(jax.random.fold_in(wrap(k), 7)))
    return functions[kind], [key]


# Pieces of networks.


def normalized(x, scale, offset):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-5) * scale + offset


@family(8)
def layers(draw):
    width, rows = draw.number(2, 9), draw.number(2, 6)
    x = draw.floats((rows, width))
    kind = draw.number(0, 9)
    if kind == 0:
        return with_gradients(draw, normalized, [x, draw.floats((width,)), draw.floats((width,))], (0, 1, 2))
    if kind == 1:
        function = draw.one((jax.nn.softmax, jax.nn.log_softmax, jax.nn.logsumexp))
        axis = draw.number(0, 1)
        return with_gradients(draw, lambda x: function(x, axis), [x])
    if kind == 2:
        masked = draw.chance()

        def attention(q, k, v):
            scores = jnp.einsum("qhd,khd->hqk", q, k) / np.sqrt(q.shape[-1]).astype(np.float32)
            if masked:
                scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -1e9)
            return jnp.einsum("hqk,khd->qhd", jax.nn.softmax(scores), v)

        shape = (rows, draw.number(1, 3), draw.number(2, 8))
        return with_gradients(draw, attention, [draw.floats(shape) for _ in range(3)], (0, 1, 2))
    if kind == 3:
        labels = draw.integers((rows,), np.int32, 0, width - 1)

        def loss(x, labels):
            return -jnp.take_along_axis(jax.nn.log_softmax(x), labels[:, None], 1).mean()

        return with_gradients(draw, loss, [x, labels])
    if kind == 4:
        labels = draw.integers((rows,), np.int32, 0, width - 1)
        return with_gradients(
            draw, lambda x, y: jnp.sum(jax.nn.one_hot(y, width) * jax.nn.log_softmax(x)), [x, labels])
    if kind == 5:
        def mlp(x, a, b, c):
            return jax.nn.gelu(x @ a + c) @ b

        hidden = draw.number(2, 12)
        return with_gradients(draw, mlp, [x, draw.floats((width, hidden)), draw.floats((hidden, width)),
                                          draw.floats((hidden,))], (0, 1, 2, 3))
    if kind == 6:
        ids = draw.integers(draw.shape(1, 2, 5), np.int32, 0, rows - 1)
        return with_gradients(draw, lambda table, ids: jnp.tanh(table[ids]).sum(-1), [x, ids])
    if kind == 7:
        def batch_norm(x, scale, offset):
            axes = tuple(range(x.ndim - 1))
            mean, variance = x.mean(axes), x.var(axes)
            return (x - mean) * lax.rsqrt(variance + 1e-3) * scale + offset

        shape = (*draw.shape(1, 3, 5), width)
        return with_gradients(draw, batch_norm, [draw.floats((3, *shape)), draw.floats((width,)),
                                                 draw.floats((width,))], (0, 1, 2))
    if kind == 8:
        key = draw.integers((2,), np.uint32)

        def dropout(x, key):
            keep = jax.random.bernoulli(jax.random.wrap_key_data(key), 0.6, x.shape)
            return jnp.where(keep, x / 0.6, 0)

        return with_gradients(draw, dropout, [x, key])
    halves = draw.chance()

    def mixed(x, w):
        y = jnp.dot(x.astype(jnp.bfloat16), w.astype(jnp.bfloat16))
        y = jax.nn.relu(y) if halves else jnp.tanh(y)
        return y.astype(jnp.float32)

    return with_gradients(draw, mixed, [x, draw.floats((width, draw.number(1, 8)))], (0, 1))


@family(4)
def optimizers(draw):
    shape = draw.shape(1, 2)
    p, g, m = (draw.floats(shape) for _ in range(3))
    v = np.abs(draw.floats(shape))
    step = draw.integers((), np.int32, 1, 50)
    kind = draw.number(0, 5)
    if kind == 0:
        return lambda p, g: p - 0.1 * g, [p, g]
    if kind == 1:
        return lambda p, g, m: (p - 0.1 * (0.9 * m + g), 0.9 * m + g), [p, g, m]
    if kind == 2:
        def adam(p, g, m, v, step):
            m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
            t = step.astype(jnp.float32)
            update = (m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-8)
            return p - 1e-3 * (update + 0.01 * p), m, v, step + 1
        return adam, [p, g, m, v, step]
    if kind == 3:
        return lambda p, g, v: (p - 0.01 * g * lax.rsqrt(v * 0.9 + 0.1 * g * g + 1e-8), v), [p, g, v]
    if kind == 4:
        def clipped(p, g):
            norm = jnp.sqrt(jnp.sum(g * g))
            return p - 0.1 * g * jnp.minimum(1.0, 1.0 / norm)
        return clipped, [p, g]
    return lambda p, g, m: (p - 1e-2 * jnp.sign(0.9 * m + 0.1 * g), jnp.where(g > 0, m, g)), [p, g, m]


@family(5)
def mapped(draw):
    """Functions of one row, for many rows by vmap, and for rows in another axis."""
    width, rows, other = draw.number(2, 6), draw.number(2, 5), draw.number(2, 5)
    kind = draw.number(0, 8)
    x = draw.floats((rows, width))
    if kind == 0:
        return maybe_gradients(draw, jax.vmap(lambda a, b: a @ b, (0, 2)), [
            draw.floats((rows, width)), draw.floats((width, other, rows))], (0, 1))
    if kind == 1:
        return jax.vmap(lambda a, i: lax.dynamic_slice(a, (i,), (2,))), [x, draw.integers((rows,), np.int32, -1, width)]
    if kind == 2:
        return jax.vmap(lambda a, i, u: a.at[i].add(u)), [
            x, draw.integers((rows, 3), np.int32, 0, width), draw.floats((rows, 3))]
    if kind == 3:
        return maybe_gradients(draw, jax.vmap(jnp.sort, 1, 1), [x])
    if kind == 4:
        w = draw.floats((rows, 3, 2, 3))
        return maybe_gradients(draw, jax.vmap(lambda x, w: lax.conv_general_dilated(
            x[None], w, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))), [draw.floats((rows, 7, 2)), w], (0, 1))
    if kind == 5:
        return jax.vmap(lambda a: jnp.cumsum(a)), [x]
    if kind == 6:
        return jax.vmap(jax.grad(lambda a: jnp.sum(jnp.tanh(a) ** 2))), [x]
    if kind == 7:
        return jax.jacfwd(lambda a: jnp.sin(a) * a.sum()), [draw.floats((width,))]
    return jax.hessian(lambda a: jnp.sum(a**3) * a[0]), [draw.floats((width,))]


@family(2)
def others(draw):
    """What else programs use."""
    x = draw.floats((draw.number(2, 5), draw.number(2, 5)))
    n = x.shape[0]
    square = (x @ x.T + 3 * np.eye(n)).astype(np.float32)
    functions = (
        (lambda x: jnp.histogram(x, 4, (-2, 2))[0], x), (lambda x: jnp.where(x > 0, jnp.cumsum(x, 1), 0), x),
        (lambda x: jnp.bincount((x > 0).reshape(-1).astype(jnp.int32), length=3), x),
        (lambda x: jax.ops.segment_sum(x, jnp.arange(x.shape[0]) // 2, 3), x), (lambda x: jnp.kron(x, x[:2, :2]), x),
        (lambda x: lax.dot(x.astype(jnp.int8), x.T.astype(jnp.int8), preferred_element_type=jnp.int32), x),
        (jnp.linalg.cholesky, square), (lambda x: jnp.polyval(jnp.arange(4.0), x), x),
        (lambda x: jax.image.resize(x, (7, 3), "linear"), x), (lambda x: jnp.interp(x, jnp.arange(3.0), jnp.arange(3.0)), x),
        (lambda x: jnp.unravel_index(jnp.argmax(x), x.shape), x), (lambda x: jax.scipy.special.ndtr(x), x),
        (lambda x: jnp.convolve(x[0], x[1]), x), (lambda x: jnp.pad(x, 1, mode="reflect"), x),
        (lambda x: jnp.pad(x, 2, mode="edge"), x), (lambda x: jnp.diff(x, axis=0), x), (lambda x: jnp.outer(x[0], x[1]), x),
        (lambda x: x.at[1:, ::2].set(0.5), x), (lambda x: jnp.quantile(x, 0.3, 1), x))
    function, argument = draw.one(functions)
    return function, [argument]
