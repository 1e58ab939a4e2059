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

# Draws a layer for inputs whose shapes it draws too, without the batch.
Make = Callable[[Draw], tuple[keras.layers.Layer, list[list[int]]]]


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


def _softmax(draw: Draw) -> tuple[keras.layers.Layer, list[list[int]]]:
    shape = any_shape(draw)
    return layers.Softmax(axis=draw.choice([-1, draw.integer(1, len(shape))])), [shape]


def _dense(draw: Draw) -> tuple[keras.layers.Layer, list[list[int]]]:
    return layers.Dense(draw.integer(1, 20), use_bias=draw.chance(0.7)), [any_shape(draw)]


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
    "AlphaDropout": _of_any(lambda draw: layers.AlphaDropout(0.4)),
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
    "Dropout": _of_any(lambda draw: layers.Dropout(0.4)),
    "ELU": _of_any(lambda draw: layers.ELU(draw.real(0.3, 2))),
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
    "Identity": _of_any(lambda draw: layers.Identity()),
    "LeakyReLU": _of_any(lambda draw: layers.LeakyReLU(draw.real(0.05, 0.5))),
    "MaxPooling1D": _of_sequences(lambda draw: layers.MaxPooling1D(**_pool(draw, 1))),
    "MaxPooling2D": _of_images(lambda draw: layers.MaxPooling2D(**_pool(draw, 2))),
    "Maximum": _of_several(layers.Maximum),
    "Minimum": _of_several(layers.Minimum),
    "Multiply": _of_several(layers.Multiply),
    "Normalization": _normalization,
    "PReLU": _prelu,
    "Permute": _permute,
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
    "SpatialDropout1D": _of_sequences(lambda draw: layers.SpatialDropout1D(0.4)),
    "SpatialDropout2D": _of_images(lambda draw: layers.SpatialDropout2D(0.4)),
    "Subtract": _of_several(layers.Subtract),
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
    *("SpatialDropout1D", "SpatialDropout2D", "function_linear"),
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
    inputs = {tensor.name: draw.floats([2, *tensor.shape[1:]]) for tensor in model.inputs}
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


def _network(kind: str, draw: Draw) -> keras.Model:
    if kind.startswith("function_"):
        function = kind.removeprefix("function_")
        make = draw.choice([layers.Dense, layers.Activation])
        layer = layers.Activation(function) if make is layers.Activation else layers.Dense(5, activation=function)
        shapes = [any_shape(draw)]
    else:
        layer, shapes = LAYERS[kind](draw)
    inputs = [keras.Input(shape, name=f"input_{index}") for index, shape in enumerate(shapes)]
    if len(inputs) > 1:
        model = keras.Model(inputs, layer(inputs))
    else:
        (tensor,) = inputs
        if kind in PASS_ON or draw.chance(0.3):
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
