"""Draws Keras cases: a network of one layer or function, its inputs, and what Keras gives."""

import logging
import tempfile
from collections.abc import Callable
from pathlib import Path

import keras
import numpy as np
from keras import layers

from cases import Case, float_rule
from draw import Draw

logging.getLogger("absl").setLevel(logging.ERROR)  # says that .h5 files are old

# Draws a layer, or a function that calls one with several tensors, for inputs whose shapes it draws too,
# without the batch.
Make = Callable[[Draw], tuple[Callable[..., object], list[list[int]]]]


def image(draw: Draw) -> list[int]:
    return [draw.integer(5, 10), draw.integer(5, 10), draw.integer(1, 6)]


def sequence(draw: Draw) -> list[int]:
    return [draw.integer(5, 20), draw.integer(1, 6)]


def any_shape(draw: Draw) -> list[int]:
    return draw.shape((2, 4), (1, 7))[1:]


def _window(draw: Draw, sides: int) -> dict[str, object]:
    """Strides and padding of a convolution or a pool."""
    sizes = [draw.integer(1, 3) for _ in range(sides)]
    strides = [draw.integer(1, 3)] * 2 if draw.chance(0.5) else [1, 1]
    return {
        "kernel_size": sizes,
        "strides": strides[:sides],
        "padding": draw.choice(["valid", "same"]),
    }


def _dilated(draw: Draw, sides: int) -> dict[str, object]:
    keys = _window(draw, sides)
    if max(keys["strides"]) == 1 and draw.chance(0.3):
        keys["dilation_rate"] = draw.integer(1, 2)
    return keys


def _pool(draw: Draw, sides: int) -> dict[str, object]:
    keys = _window(draw, sides)
    keys["pool_size"] = keys.pop("kernel_size")
    return keys


def _convolution(kind: type, sides: int) -> Make:
    def make(draw: Draw) -> tuple[keras.layers.Layer, list[list[int]]]:
        shape = image(draw) if sides == 2 else sequence(draw)
        keys = _window(draw, sides) if "Transpose" in kind.__name__ else _dilated(draw, sides)
        if "Separable" in kind.__name__ or "Depthwise" in kind.__name__:
            keys["depth_multiplier"] = draw.integer(1, 2)
            if "strides" in keys:
                keys["strides"] = keys["strides"][0]
        filters = () if "Depthwise" in kind.__name__ else (draw.integer(1, 9),)
        function = draw.choice([None, "relu", "tanh"])
        return kind(*filters, use_bias=draw.chance(0.6), activation=function, **keys), [shape]

    return make


def _of_images(make: Callable[[Draw], keras.layers.Layer]) -> Make:
    return lambda draw: (make(draw), [image(draw)])


def _of_sequences(make: Callable[[Draw], keras.layers.Layer]) -> Make:
    return lambda draw: (make(draw), [sequence(draw)])


def _of_any(make: Callable[[Draw], keras.layers.Layer]) -> Make:
    return lambda draw: (make(draw), [any_shape(draw)])


def _of_several(kind: type) -> Make:
    def make(draw: Draw) -> tuple[keras.layers.Layer, list[list[int]]]:
        count = 2 if kind is layers.Subtract else draw.integer(2, 3)
        return kind(), [any_shape(draw)] * count

    return make


def _concatenate(draw: Draw) -> tuple[keras.layers.Layer, list[list[int]]]:
    shape = any_shape(draw)
    axis = draw.integer(1, len(shape))
    shapes = [list(shape) for _ in range(draw.integer(2, 3))]
    for other in shapes:
        other[axis - 1] = draw.integer(1, 6)
    return layers.Concatenate(axis=axis - len(shape) - 1 if draw.chance(0.5) else axis), shapes


def _reshape(draw: Draw) -> tuple[keras.layers.Layer, list[list[int]]]:
    shape = any_shape(draw)
    count = int(np.prod(shape))
    first = draw.choice([n for n in range(1, count + 1) if count % n == 0])
    return layers.Reshape(draw.choice([(count,), (first, count // first), (-1, first)])), [shape]


def _permute(draw: Draw) -> tuple[keras.layers.Layer, list[list[int]]]:
    shape = any_shape(draw)
    return layers.Permute([axis + 1 for axis in draw.permutation(len(shape))]), [shape]


def _repeat(draw: Draw) -> tuple[keras.layers.Layer, list[list[int]]]:
    return layers.RepeatVector(draw.integer(1, 5)), [[draw.integer(1, 9)]]


def _embedding(draw: Draw) -> tuple[keras.layers.Layer, list[list[int]]]:
    # No layer behind it uses the mask.
    layer = layers.Embedding(draw.integer(2, 9), draw.integer(1, 6), mask_zero=draw.chance(0.2))
    return layer, [[draw.integer(1, 9)]]


def _sides(draw: Draw) -> list[list[int]]:
    return [[draw.integer(0, 1), 1] for _ in range(2)]


def _prelu(draw: Draw) -> tuple[keras.layers.Layer, list[list[int]]]:
    shared = [1, 2] if draw.chance(0.5) else None
    return layers.PReLU(shared_axes=shared), [image(draw)]


def _normalization(draw: Draw) -> tuple[keras.layers.Layer, list[list[int]]]:
    shape = image(draw)
    numbers = [draw.floats([shape[-1]]), draw.positive_floats([shape[-1]], 0.3, 2)]
    mean, variance = [array.tolist() for array in numbers]
    return layers.Normalization(mean=mean, variance=variance, invert=draw.chance(0.3)), [shape]


def _last_axes(draw: Draw) -> tuple[dict[str, object], list[int]]:
    """Keys of a layer that normalizes the last axes, and a shape for it without the batch."""
    shape = draw.shape((2, 4), (2, 7))[1:]
    count = draw.integer(1, len(shape))
    axes = [len(shape) - count + 1 + axis for axis in range(count)]
    from_end = [axis - len(shape) - 1 for axis in axes]
    choices = [axes, from_end] if count > 1 else [axes, from_end, *axes, *from_end]
    keys: dict[str, object] = {"axis": draw.choice(choices)}
    if draw.chance(0.6):
        keys["epsilon"] = 10 ** draw.real(-5, -2)
    return keys, shape


def _layer_normalization(draw: Draw) -> tuple[keras.layers.Layer, list[list[int]]]:
    keys, shape = _last_axes(draw)
    if draw.chance(0.2):
        keys["rms_scaling"] = True
    keys.update(scale=draw.chance(0.7), center=draw.chance(0.7))
    return layers.LayerNormalization(**keys), [shape]


def _rms_normalization(draw: Draw) -> tuple[keras.layers.Layer, list[list[int]]]:
    keys, shape = _last_axes(draw)
    return layers.RMSNormalization(**keys), [shape]


def _group_normalization(draw: Draw) -> tuple[keras.layers.Layer, list[list[int]]]:
    shape = draw.shape((2, 4), (2, 6))[1:]
    axis = draw.integer(1, len(shape))
    groups = draw.integer(1, 4)
    shape[axis - 1] = groups * draw.integer(2, 3)
    layer = layers.GroupNormalization(
        groups=-1 if len(shape) > 1 and draw.chance(0.3) else groups,
        axis=draw.choice([axis, axis - len(shape) - 1]),
        scale=draw.chance(0.7),
        center=draw.chance(0.7),
    )
    return layer, [shape]


def _softmax(draw: Draw) -> tuple[keras.layers.Layer, list[list[int]]]:
    shape = any_shape(draw)
    return layers.Softmax(axis=draw.choice([-1, draw.integer(1, len(shape))])), [shape]


def _dense(draw: Draw) -> tuple[keras.layers.Layer, list[list[int]]]:
    return layers.Dense(draw.integer(1, 20), use_bias=draw.chance(0.7)), [any_shape(draw)]


def _heads_inputs(draw: Draw) -> tuple[list[list[int]], dict[str, object]]:
    """Shapes of query, value and, maybe, key, and the other arguments of a call."""
    queries, keys, size = draw.integer(1, 6), draw.integer(1, 6), draw.integer(1, 6)
    shapes = [[queries, size], [keys, size]]
    if draw.chance(0.4):
        shapes.append([keys, draw.integer(1, 6)])
    arguments: dict[str, object] = {}
    if draw.chance(0.4):
        arguments["use_causal_mask"] = True
    if draw.chance(0.3):
        mask = draw.floats([queries, keys]) > 0
        mask[:, 0] = True  # each query meets a key
        arguments["attention_mask"] = mask if draw.chance(0.5) else mask[np.newaxis]
    return shapes, arguments


def _by_name(layer: keras.layers.Layer, arguments: dict[str, object], named: bool) -> Callable[..., object]:
    """Calls a layer with query, value and, maybe, key, in their order or by name."""

    def call(tensors: list[object]) -> object:
        if not named:
            return layer(*tensors, **arguments)
        return layer(**dict(zip(("query", "value", "key"), tensors)), **arguments)

    return call


def _multi_head_attention(draw: Draw) -> tuple[Callable[..., object], list[list[int]]]:
    shapes, arguments = _heads_inputs(draw)
    keys: dict[str, object] = {"use_bias": draw.chance(0.7), "use_gate": draw.chance(0.2), "dropout": 0.1}
    if draw.chance(0.4):
        keys["value_dim"] = draw.integer(1, 5)
    if draw.chance(0.3):
        keys["output_shape"] = draw.choice([5, (2, 3)])
    if "attention_mask" not in arguments and draw.chance(0.2):
        keys["sliding_window"] = 6
    if not arguments and draw.chance(0.4):  # over images
        shapes = [[2, *shape] for shape in shapes]
    layer = layers.MultiHeadAttention(draw.integer(1, 4), draw.integer(1, 5), **keys)
    return _by_name(layer, arguments, draw.chance(0.3)), shapes


def _group_query_attention(draw: Draw) -> tuple[Callable[..., object], list[list[int]]]:
    shapes, arguments = _heads_inputs(draw)
    heads = draw.integer(1, 3)
    layer = layers.GroupQueryAttention(
        draw.integer(1, 5), heads * draw.integer(1, 3), heads, use_bias=draw.chance(0.7)
    )
    return _by_name(layer, arguments, draw.chance(0.3)), shapes


def _attention(kind: type) -> Make:
    def make(draw: Draw) -> tuple[Callable[..., object], list[list[int]]]:
        size, keys = draw.integer(1, 6), draw.integer(1, 6)
        shapes = [[draw.integer(1, 6), size], [keys, size]]
        if draw.chance(0.5):
            shapes = [shapes[0], [keys, draw.integer(1, 6)], [keys, size]]
        given: dict[str, object] = {"use_scale": draw.chance(0.5)}
        if kind is layers.Attention:
            given["score_mode"] = draw.choice(["dot", "concat"])
        arguments = {"use_causal_mask": True} if draw.chance(0.5) else {}
        layer = kind(**given)
        return lambda tensors: layer(tensors, **arguments), shapes

    return make


def _recurrent(kind: type, states: int = 1) -> Make:
    """A recurrent layer, at times in both directions, at times with an initial state."""

    def make(draw: Draw) -> tuple[Callable[..., object], list[list[int]]]:
        units, steps = draw.integer(1, 12), draw.integer(1, 6)
        given: dict[str, object] = {"use_bias": draw.chance(0.8), "return_sequences": draw.chance(0.5)}
        if kind is layers.GRU:
            given["reset_after"] = draw.chance(0.6)
        if draw.chance(0.3):
            given["activation"] = draw.choice(["relu", "softsign", "linear"])
        if kind is not layers.SimpleRNN and draw.chance(0.3):
            given["recurrent_activation"] = draw.choice(["hard_sigmoid", "tanh"])
        shapes = [[steps, draw.integer(1, 12)]]
        directions = 2 if draw.chance(0.4) else 1
        if directions == 1:
            given["go_backwards"] = draw.chance(0.3)
        layer: keras.layers.Layer = kind(units, **given)
        if directions == 2:
            layer = layers.Bidirectional(layer, merge_mode=draw.choice(["concat", "sum", "mul", "ave"]))
        if not draw.chance(0.3):
            return layer, shapes
        shapes += [[units]] * (states * directions)
        return lambda tensors: layer(tensors[0], initial_state=tensors[1:]), shapes

    return make


def _dot(draw: Draw) -> tuple[keras.layers.Layer, list[list[int]]]:
    shapes = [draw.shape((2, 4), (1, 6))[1:] for _ in range(2)]
    axes = [draw.integer(1, len(shape)) for shape in shapes]
    shapes[1][axes[1] - 1] = shapes[0][axes[0] - 1]
    given = [draw.choice([axis, axis - len(shape) - 1]) for axis, shape in zip(axes, shapes)]
    return layers.Dot(given, normalize=draw.chance(0.3)), shapes


def _einsum_dense(draw: Draw) -> tuple[keras.layers.Layer, list[list[int]]]:
    first, second, third = (draw.integer(1, 5) for _ in range(3))
    # Where another axis is as long as that of the bias, Keras on TensorFlow may add it along the wrong one.
    units, others = draw.integer(6, 9), draw.integer(1, 4)
    equation, shape, output, bias = draw.choice(
        [
            ("ab,bc->ac", [first], units, "c"),
            ("abc,cd->abd", [first, second], (None, units), "d"),
            ("abc,cde->abde", [first, second], (None, units, others), "de"),
            ("abcd,cde->abe", [first, second, third], (None, units), "e"),
            ("abc,dc->adb", [first, second], (units, None), "d"),
            ("abc,bcd->abd", [first, second], (first, units), "bd"),
            ("abc,cd->abd", [first, second], (first, units), "b"),
            ("...x,xy->...y", [first, second], units, "y"),
            ("ab...,bc->ac...", [first, second], units, "c"),
        ]
    )
    function = draw.choice([None, "relu", "softmax"])
    axes = bias if draw.chance(0.6) else None
    return layers.EinsumDense(equation, output, activation=function, bias_axes=axes), [shape]


def _time_distributed(draw: Draw) -> tuple[keras.layers.Layer, list[list[int]]]:
    shape = [draw.integer(3, 6), draw.integer(3, 6), draw.integer(1, 4)]
    inner = draw.choice(
        [
            lambda: layers.Dense(draw.integer(1, 5), activation="relu"),
            lambda: layers.BatchNormalization(),
            lambda: layers.Activation("tanh"),
            lambda: layers.Softmax(),
            lambda: layers.Flatten(),
            lambda: layers.Conv2D(draw.integer(1, 4), 2, padding=draw.choice(["valid", "same"])),
            lambda: layers.MaxPooling2D(2),
            lambda: layers.GlobalAveragePooling2D(),
            lambda: keras.Sequential(
                [keras.Input(shape), layers.Conv2D(3, 2), layers.Flatten(), layers.Dense(2)]
            ),
        ]
    )()
    return layers.TimeDistributed(inner), [[draw.integer(1, 4), *shape]]


def _upsampling(draw: Draw) -> keras.layers.Layer:
    mode = draw.choice(["nearest", "bilinear"])
    return layers.UpSampling2D([draw.integer(1, 3), draw.integer(2, 3)], interpolation=mode)


def _resizing(draw: Draw) -> keras.layers.Layer:
    mode = draw.choice(["nearest", "bilinear"])
    return layers.Resizing(draw.integer(2, 12), draw.integer(2, 12), interpolation=mode)


def _relu(draw: Draw) -> keras.layers.Layer:
    limit = draw.choice([None, draw.real(0.5, 3)])
    slope = 0.0 if limit is not None else draw.choice([0.0, draw.real(0.05, 0.5)])
    return layers.ReLU(max_value=limit, negative_slope=slope)


# Layers by their class, with draws of their keys.
LAYERS: dict[str, Make] = {
    "Activation": _of_any(lambda draw: layers.Activation(draw.choice(["relu", "tanh"]))),
    "ActivityRegularization": _of_any(lambda draw: layers.ActivityRegularization(0.1)),
    "Add": _of_several(layers.Add),
    "AdditiveAttention": _attention(layers.AdditiveAttention),
    "AlphaDropout": _of_any(lambda draw: layers.AlphaDropout(0.4)),
    "Attention": _attention(layers.Attention),
    "Average": _of_several(layers.Average),
    "AveragePooling1D": _of_sequences(lambda draw: layers.AveragePooling1D(**_pool(draw, 1))),
    "AveragePooling2D": _of_images(lambda draw: layers.AveragePooling2D(**_pool(draw, 2))),
    "BatchNormalization": _of_images(
        lambda draw: layers.BatchNormalization(scale=draw.chance(0.7), center=draw.chance(0.7))
    ),
    "Concatenate": _concatenate,
    "Conv1D": _convolution(layers.Conv1D, 1),
    "Conv1DTranspose": _convolution(layers.Conv1DTranspose, 1),
    "Conv2D": _convolution(layers.Conv2D, 2),
    "Conv2DTranspose": _convolution(layers.Conv2DTranspose, 2),
    "Cropping1D": _of_sequences(lambda draw: layers.Cropping1D([1, draw.integer(0, 1)])),
    "Cropping2D": _of_images(lambda draw: layers.Cropping2D(_sides(draw))),
    "Dense": _dense,
    "DepthwiseConv1D": _convolution(layers.DepthwiseConv1D, 1),
    "DepthwiseConv2D": _convolution(layers.DepthwiseConv2D, 2),
    "Dot": _dot,
    "Dropout": _of_any(lambda draw: layers.Dropout(0.4)),
    "ELU": _of_any(lambda draw: layers.ELU(draw.real(0.3, 2))),
    "Embedding": _embedding,
    "EinsumDense": _einsum_dense,
    "Flatten": _of_images(lambda draw: layers.Flatten()),
    "GaussianDropout": _of_any(lambda draw: layers.GaussianDropout(0.4)),
    "GaussianNoise": _of_any(lambda draw: layers.GaussianNoise(0.4)),
    "GlobalAveragePooling1D": _of_sequences(
        lambda draw: layers.GlobalAveragePooling1D(keepdims=draw.chance(0.5))
    ),
    "GlobalAveragePooling2D": _of_images(
        lambda draw: layers.GlobalAveragePooling2D(keepdims=draw.chance(0.5))
    ),
    "GlobalMaxPooling1D": _of_sequences(lambda draw: layers.GlobalMaxPooling1D(keepdims=draw.chance(0.5))),
    "GlobalMaxPooling2D": _of_images(lambda draw: layers.GlobalMaxPooling2D(keepdims=draw.chance(0.5))),
    "GRU": _recurrent(layers.GRU),
    "GroupQueryAttention": _group_query_attention,
    "GroupNormalization": _group_normalization,
    "Identity": _of_any(lambda draw: layers.Identity()),
    "LSTM": _recurrent(layers.LSTM, 2),
    "LayerNormalization": _layer_normalization,
    "LeakyReLU": _of_any(lambda draw: layers.LeakyReLU(draw.real(0.05, 0.5))),
    "Masking": _of_sequences(lambda draw: layers.Masking()),
    "MaxPooling1D": _of_sequences(lambda draw: layers.MaxPooling1D(**_pool(draw, 1))),
    "MaxPooling2D": _of_images(lambda draw: layers.MaxPooling2D(**_pool(draw, 2))),
    "Maximum": _of_several(layers.Maximum),
    "Minimum": _of_several(layers.Minimum),
    "MultiHeadAttention": _multi_head_attention,
    "Multiply": _of_several(layers.Multiply),
    "Normalization": _normalization,
    "PReLU": _prelu,
    "Permute": _permute,
    "RMSNormalization": _rms_normalization,
    "RandomBrightness": _of_images(lambda draw: layers.RandomBrightness(0.2)),
    "RandomContrast": _of_images(lambda draw: layers.RandomContrast(0.2)),
    "RandomFlip": _of_images(lambda draw: layers.RandomFlip()),
    "RandomRotation": _of_images(lambda draw: layers.RandomRotation(0.2)),
    "RandomTranslation": _of_images(lambda draw: layers.RandomTranslation(0.2, 0.2)),
    "RandomZoom": _of_images(lambda draw: layers.RandomZoom(0.2)),
    "ReLU": _of_any(_relu),
    "RepeatVector": _repeat,
    "Rescaling": _of_images(lambda draw: layers.Rescaling(draw.real(0.1, 2), draw.real(-1, 1))),
    "Reshape": _reshape,
    "Resizing": _of_images(_resizing),
    "SeparableConv1D": _convolution(layers.SeparableConv1D, 1),
    "SeparableConv2D": _convolution(layers.SeparableConv2D, 2),
    "Softmax": _softmax,
    "SimpleRNN": _recurrent(layers.SimpleRNN),
    "SpatialDropout1D": _of_sequences(lambda draw: layers.SpatialDropout1D(0.4)),
    "SpatialDropout2D": _of_images(lambda draw: layers.SpatialDropout2D(0.4)),
    "Subtract": _of_several(layers.Subtract),
    "TimeDistributed": _time_distributed,
    "UnitNormalization": _of_any(lambda draw: layers.UnitNormalization()),
    "UpSampling1D": _of_sequences(lambda draw: layers.UpSampling1D(draw.integer(2, 3))),
    "UpSampling2D": _of_images(_upsampling),
    "ZeroPadding1D": _of_sequences(lambda draw: layers.ZeroPadding1D(_sides(draw)[0])),
    "ZeroPadding2D": _of_images(lambda draw: layers.ZeroPadding2D(_sides(draw))),
}

# Functions that layers have as their activation.
FUNCTIONS = [
    *("celu", "elu", "exponential", "gelu", "hard_sigmoid", "hard_silu", "hard_swish", "leaky_relu", "linear"),
    *("log_softmax", "mish", "relu", "relu6", "selu", "sigmoid", "silu", "softmax", "softplus", "softsign"),
    *("swish", "tanh"),
]

# Layers that do nothing after training: another one must come before them.
PASS_ON = [
    *("ActivityRegularization", "AlphaDropout", "Dropout", "GaussianDropout", "GaussianNoise", "Identity"),
    *("RandomBrightness", "RandomContrast", "RandomFlip", "RandomRotation", "RandomTranslation", "RandomZoom"),
    *("Masking", "SpatialDropout1D", "SpatialDropout2D", "function_linear"),
]

CHANNELS_FIRST = "channels_first"


def kinds() -> dict[str, int]:
    """All kinds of cases, with how many each gets relative to the others."""
    names = [*LAYERS, *(f"function_{name}" for name in FUNCTIONS), CHANNELS_FIRST]
    return {name: 1 for name in names}


def draw_case(kind: str, index: int, seed: str) -> Case:
    """The case of a kind with this index."""
    draw = Draw(f"{seed} {kind} {index}")
    keras.backend.clear_session()
    if kind == CHANNELS_FIRST:
        model, other = _turned(draw)
    else:
        model = other = _network(kind, draw)
    inputs = {tensor.name: _numbers(kind, model, draw, [2, *tensor.shape[1:]]) for tensor in model.inputs}
    given = list(inputs.values())
    if kind == CHANNELS_FIRST:
        given = [np.moveaxis(given[0], 1, -1)]
    values = np.asarray(other(given if len(given) > 1 else given[0], training=False))
    if kind == CHANNELS_FIRST:
        values = np.moveaxis(values, -1, 1)
    outputs = {model.layers[-1].name: values}
    # Keras cannot write RandomBrightness into .h5 files.
    ending = "keras" if kind == "RandomBrightness" else draw.choice(["keras", "h5"])
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"model.{ending}"
        model.save(file)
        content = file.read_bytes()
    rules = {name: float_rule(values) for name, values in outputs.items()}
    name = f"{ending}_{kind.lower()}_float32_{index:04d}"
    return Case(name, ending, kind, "float32", content, inputs, outputs, rules)


def _numbers(kind: str, model: keras.Model, draw: Draw, shape: list[int]) -> np.ndarray:
    """What an input gets: indices of the table's rows for an Embedding, else real numbers."""
    if kind != "Embedding":
        return draw.floats(shape)
    return draw.integers(shape, 0, model.layers[-1].input_dim - 1, "int32")


def _network(kind: str, draw: Draw) -> keras.Model:
    if kind.startswith("function_"):
        function = kind.removeprefix("function_")
        make = draw.choice([layers.Dense, layers.Activation])
        layer = layers.Activation(function) if make is layers.Activation else layers.Dense(5, activation=function)
        shapes = [any_shape(draw)]
    else:
        layer, shapes = LAYERS[kind](draw)
    dtype = draw.choice(["int32", "float32"]) if kind == "Embedding" else None
    inputs = [
        keras.Input(shape, name=f"input_{index}", dtype=dtype) for index, shape in enumerate(shapes)
    ]
    if len(inputs) > 1:
        model = keras.Model(inputs, layer(inputs))
    else:
        (tensor,) = inputs
        if kind in PASS_ON or (kind != "Embedding" and draw.chance(0.3)):
            tensor = layers.Rescaling(1.7, 0.2)(tensor)
        model = keras.Model(inputs[0], layer(tensor))
    _draw_weights(model, draw)
    return model


def _draw_weights(model: keras.Model, draw: Draw) -> None:
    for weight in model.weights:
        values = draw.floats(weight.shape, 0.5)
        weight.assign(np.abs(values) + 0.3 if "variance" in weight.path else values)


def _turned(draw: Draw) -> tuple[keras.Model, keras.Model]:
    """Two networks with the same weights: channels first, which Keras does not compute here, and last."""
    height, width, channels = image(draw)
    keys = {"strides": draw.integer(1, 2), "padding": draw.choice(["valid", "same"])}
    filters, pool = draw.integer(1, 6), draw.choice([layers.MaxPooling2D, layers.AveragePooling2D])

    def make(order: str, shape: list[int]) -> keras.Model:
        axis = 1 if order == CHANNELS_FIRST else -1
        tensor = given = keras.Input(shape, name="input_0")
        tensor = layers.Conv2D(filters, 2, data_format=order, activation="relu", **keys)(tensor)
        tensor = layers.BatchNormalization(axis=axis)(tensor)
        tensor = layers.DepthwiseConv2D(1, data_format=order)(tensor)
        return keras.Model(given, pool(2, padding="same", data_format=order)(tensor))

    first = make(CHANNELS_FIRST, [channels, height, width])
    last = make("channels_last", [height, width, channels])
    _draw_weights(last, draw)
    first.set_weights(last.get_weights())
    return first, last
