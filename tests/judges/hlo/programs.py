"""Whole programs, each forward and for one step of training: the article's CNN, ResNet-50, a BERT block, a GPT-2 block
with its cache, an LSTM by scan, embeddings. Weights and data are random; images and batches are small."""

import functools

import make_modules
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

PROGRAMS = {}


def program(make):
    """Registers what draws parameters and inputs, and returns (forward, loss, parameters, inputs): `forward` and the
    step of training, which is gradient descent with momentum by the gradients of `loss`."""
    name = make.__name__

    def forward(draw):
        forward, _, parameters, inputs = make(draw)
        return forward, [parameters, *inputs]

    def training(draw):
        _, loss, parameters, inputs = make(draw)
        momentum = jax.tree.map(lambda p: (draw.floats(p.shape) * np.float32(0.01)), parameters)

        def step(parameters, momentum, *inputs):
            value, gradients = jax.value_and_grad(loss)(parameters, *inputs)
            momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, gradients)
            return jax.tree.map(lambda p, m: p - 0.01 * m, parameters, momentum), momentum, value

        return step, [parameters, momentum, *inputs]

    PROGRAMS[name] = forward
    PROGRAMS[f"{name}_training"] = training
    return make


def weights(draw, *shape):
    return draw.floats(shape, scale=float(1 / np.sqrt(np.prod(shape[:-1]))))


def cross_entropy(logits, labels):
    picked = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], -1)
    return -jnp.mean(picked)


# The article's CNN is one of the golden modules; its step is that of Adam with dropout and batch statistics.


def filled(draw, tree):
    def fill(path, value):
        name = jax.tree_util.keystr(path)
        if np.dtype(value.dtype).kind in "iu":
            return draw.integers(value.shape, value.dtype, 1, 9)
        if "'variance'" in name or "'second'" in name:
            return np.abs(draw.floats(value.shape)) + np.float32(0.5)
        if "'kernel'" in name:
            return weights(draw, *value.shape)
        return draw.floats(value.shape)

    return jax.tree_util.tree_map_with_path(fill, tree)


def cnn(draw):
    _, arguments, _ = make_modules.CASES["cnn_forward"]
    return make_modules.cnn_forward, list(filled(draw, arguments))


def cnn_training(draw):
    _, arguments, _ = make_modules.CASES["cnn_training"]
    return make_modules.cnn_training, list(filled(draw, arguments))


PROGRAMS["cnn"] = cnn
PROGRAMS["cnn_training"] = cnn_training


# ResNet-50, with the statistics of the batch as in training. A block adds little to what it is given, as at the
# beginning of training: otherwise the last bits of the first layer would be those of the answer.

BLOCK_SCALE = 0.1

NUMBERS = ("NHWC", "HWIO", "NHWC")
STAGES = ((3, 64), (4, 128), (6, 256), (3, 512))


def unit_parameters(draw, size, features, results, scale=1):
    return {"kernel": weights(draw, size, size, features, results),
            "scale": (draw.floats((results,)) * np.float32(0.1) + 1) * np.float32(scale),
            "offset": draw.floats((results,)) * np.float32(0.1)}


def unit(x, p, stride=1):
    x = lax.conv_general_dilated(x, p["kernel"], (stride, stride), "SAME", dimension_numbers=NUMBERS)
    mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
    return (x - mean) * lax.rsqrt(variance + 1e-5) * p["scale"] + p["offset"]


def resnet_parameters(draw, stages, classes):
    blocks = []
    features = 64
    for count, width in stages:
        for i in range(count):
            block = {"a": unit_parameters(draw, 1, features, width), "b": unit_parameters(draw, 3, width, width),
                     "c": unit_parameters(draw, 1, width, 4 * width, BLOCK_SCALE)}
            if i == 0:
                block["d"] = unit_parameters(draw, 1, features, 4 * width)
            blocks.append(block)
            features = 4 * width
    return {"stem": unit_parameters(draw, 7, 3, 64), "blocks": blocks, "top": weights(draw, features, classes),
            "bias": draw.floats((classes,))}


def resnet(parameters, images, strides):
    x = jax.nn.relu(unit(images, parameters["stem"], 2))
    x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
    for block, stride in zip(parameters["blocks"], strides):
        y = jax.nn.relu(unit(x, block["a"], stride))
        y = unit(jax.nn.relu(unit(y, block["b"])), block["c"])
        x = jax.nn.relu(y + (unit(x, block["d"], stride) if "d" in block else x))
    return x.mean((1, 2)) @ parameters["top"] + parameters["bias"]


@program
def resnet50(draw):
    strides = [2 if stage > 0 and i == 0 else 1 for stage, (count, _) in enumerate(STAGES) for i in range(count)]
    forward = functools.partial(resnet, strides=strides)
    loss = lambda p, images, labels: cross_entropy(forward(p, images), labels)  # noqa: E731
    return (lambda p, images, labels: forward(p, images)), loss, resnet_parameters(draw, STAGES, 10), [
        draw.floats((2, 64, 64, 3)), draw.integers((2,), np.int32, 0, 9)]


# Transformers.

WIDTH, HEADS, HIDDEN, WORDS = 64, 4, 128, 50


def dense_parameters(draw, a, b):
    return {"kernel": weights(draw, a, b), "bias": draw.floats((b,)) * np.float32(0.1)}


def dense(x, p):
    return x @ p["kernel"] + p["bias"]


def norm_parameters(draw):
    return {"scale": draw.floats((WIDTH,)) * np.float32(0.1) + 1, "offset": draw.floats((WIDTH,)) * np.float32(0.1)}


def norm(x, p):
    mean = x.mean(-1, keepdims=True)
    variance = jnp.mean((x - mean) ** 2, -1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-5) * p["scale"] + p["offset"]


def block_parameters(draw):
    return {"words": draw.floats((WORDS, WIDTH)), "places": draw.floats((16, WIDTH)),
            "qkv": dense_parameters(draw, WIDTH, 3 * WIDTH), "out": dense_parameters(draw, WIDTH, WIDTH),
            "up": dense_parameters(draw, WIDTH, HIDDEN), "down": dense_parameters(draw, HIDDEN, WIDTH),
            "norm1": norm_parameters(draw), "norm2": norm_parameters(draw)}


def heads(x):
    return x.reshape(*x.shape[:-1], HEADS, WIDTH // HEADS)


def attention(q, k, v, mask):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.float32(np.sqrt(WIDTH // HEADS))
    chances = jax.nn.softmax(jnp.where(mask, scores, -1e9))
    joined = jnp.einsum("bhqk,bkhd->bqhd", chances, v)
    return joined.reshape(*joined.shape[:2], WIDTH)


@program
def bert_block(draw):
    """Embeddings, one block with the norm behind, and the words that are masked."""

    def forward(p, ids, mask, labels):
        x = norm(p["words"][ids] + p["places"][: ids.shape[1]], p["norm1"])
        q, k, v = map(heads, jnp.split(dense(x, p["qkv"]), 3, -1))
        x = norm(x + dense(attention(q, k, v, mask[:, None, None, :]), p["out"]), p["norm1"])
        x = norm(x + dense(jax.nn.gelu(dense(x, p["up"]), approximate=False), p["down"]), p["norm2"])
        return x @ p["words"].T

    loss = lambda p, ids, mask, labels: cross_entropy(forward(p, ids, mask, labels), labels)  # noqa: E731
    ids = draw.integers((2, 12), np.int32, 0, WORDS - 1)
    mask = np.arange(12)[None] < np.array([[12], [9]])
    return forward, loss, block_parameters(draw), [ids, mask, draw.integers((2, 12), np.int32, 0, WORDS - 1)]


@program
def gpt2_block(draw):
    """One new word with the keys and values of those before it, whose places are the program's state."""

    def forward(p, word, place, keys, values, labels):
        x = p["words"][word] + p["places"][place]
        y = norm(x, p["norm1"])[:, None]
        q, k, v = map(heads, jnp.split(dense(y, p["qkv"]), 3, -1))
        keys = lax.dynamic_update_slice(keys, k, (0, place, 0, 0))
        values = lax.dynamic_update_slice(values, v, (0, place, 0, 0))
        mask = (jnp.arange(keys.shape[1]) <= place)[None, None, None]
        x = x + dense(attention(q, keys, values, mask)[:, 0], p["out"])
        x = x + dense(jax.nn.gelu(dense(norm(x, p["norm2"]), p["up"])), p["down"])
        return x @ p["words"].T, keys, values

    def loss(p, *inputs):
        return cross_entropy(forward(p, *inputs)[0], inputs[-1])

    cache = (2, 16, HEADS, WIDTH // HEADS)
    return forward, loss, block_parameters(draw), [
        draw.integers((2,), np.int32, 0, WORDS - 1), draw.integers((), np.int32, 5, 9), draw.floats(cache),
        draw.floats(cache), draw.integers((2,), np.int32, 0, WORDS - 1)]


@program
def gpt2_words(draw):
    """All words at once, each with those before it."""

    def forward(p, ids, labels):
        count = ids.shape[1]
        x = p["words"][ids] + p["places"][:count]
        q, k, v = map(heads, jnp.split(dense(norm(x, p["norm1"]), p["qkv"]), 3, -1))
        x = x + dense(attention(q, k, v, jnp.tril(jnp.ones((count, count), bool))), p["out"])
        x = x + dense(jax.nn.gelu(dense(norm(x, p["norm2"]), p["up"])), p["down"])
        return x @ p["words"].T

    loss = lambda p, ids, labels: cross_entropy(forward(p, ids, labels), labels)  # noqa: E731
    return forward, loss, block_parameters(draw), [draw.integers((2, 10), np.int32, 0, WORDS - 1),
                                                   draw.integers((2, 10), np.int32, 0, WORDS - 1)]


@program
def lstm(draw):
    """An LSTM by scan, on sequences of 8 steps."""
    width, hidden, classes = 12, 24, 5

    def forward(p, x, labels):
        def step(carry, x):
            h, c = carry
            i, f, g, o = jnp.split(x @ p["input"] + h @ p["hidden"] + p["bias"], 4, -1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        zeros = jnp.zeros((x.shape[0], hidden))
        (h, _), _ = lax.scan(step, (zeros, zeros), jnp.swapaxes(x, 0, 1))
        return h @ p["top"]

    loss = lambda p, x, labels: cross_entropy(forward(p, x, labels), labels)  # noqa: E731
    parameters = {"input": weights(draw, width, 4 * hidden), "hidden": weights(draw, hidden, 4 * hidden),
                  "bias": draw.floats((4 * hidden,)), "top": weights(draw, hidden, classes)}
    return forward, loss, parameters, [draw.floats((4, 8, width)), draw.integers((4,), np.int32, 0, classes - 1)]


@program
def embeddings(draw):
    """Words as the mean of their embeddings, and a product of two tables for pairs of users and things."""

    def forward(p, ids, users, things, labels):
        words = jnp.take(p["words"], ids, 0, mode="clip").mean(1) @ p["top"]
        return words, jnp.sum(p["users"][users] * p["things"][things], -1)

    def loss(p, *inputs):
        words, pairs = forward(p, *inputs)
        return cross_entropy(words, inputs[-1]) + jnp.mean((pairs - 1) ** 2)

    parameters = {"words": draw.floats((60, 16)), "top": weights(draw, 16, 7), "users": draw.floats((20, 8)),
                  "things": draw.floats((30, 8))}
    return forward, loss, parameters, [draw.integers((6, 9), np.int32, 0, 59), draw.integers((6,), np.int32, 0, 19),
                                       draw.integers((6,), np.int32, 0, 29), draw.integers((6,), np.int32, 0, 6)]
