"""Small networks that TensorFlow's own converter writes: the graphs that people have."""

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import tensorflow as tf

from draw import Draw

Network = Callable[[tf.Tensor], tf.Tensor]
CONVERTED_TYPES = ("float32", "float16", "hybrid", "int8", "uint8", "int16")


@dataclass
class Converted:
    model: bytes
    values: dict[str, np.ndarray]  # the inputs, by name


class Layers:
    """Layers with random weights, in the order in which a network asks for them."""

    def __init__(self, draw: Draw, types: str) -> None:
        self.draw, self.types = draw, types

    def conv(
        self,
        x: tf.Tensor,
        filters: int,
        kernel: int,
        stride: int = 1,
        padding: str = "SAME",
        dilation: int = 1,
    ) -> tf.Tensor:
        shape = [kernel, kernel, x.shape[3], filters]
        weights = tf.constant(self.draw.floats(shape, 1.5 / np.sqrt(np.prod(shape[:3]))))
        x = tf.nn.conv2d(x, weights, stride, padding, dilations=dilation)
        return self.normalize(x) if self.draw.chance(0.5) else self.bias(x)

    def depthwise(self, x: tf.Tensor, kernel: int, stride: int = 1) -> tf.Tensor:
        weights = tf.constant(self.draw.floats([kernel, kernel, x.shape[3], 1], 1.5 / kernel))
        return self.bias(tf.nn.depthwise_conv2d(x, weights, [1, stride, stride, 1], "SAME"))

    def transposed(self, x: tf.Tensor, filters: int, kernel: int) -> tf.Tensor:
        shape = [kernel, kernel, filters, x.shape[3]]
        weights = tf.constant(self.draw.floats(shape, 1.5 / np.sqrt(kernel * kernel * x.shape[3])))
        output = [1, x.shape[1] * 2, x.shape[2] * 2, filters]
        return self.bias(tf.nn.conv2d_transpose(x, weights, output, 2, "SAME"))

    def dense(self, x: tf.Tensor, units: int) -> tf.Tensor:
        weights = tf.constant(self.draw.floats([x.shape[-1], units], 1.5 / np.sqrt(x.shape[-1])))
        return self.bias(tf.matmul(x, weights))

    def bias(self, x: tf.Tensor) -> tf.Tensor:
        return tf.nn.bias_add(x, tf.constant(self.draw.floats([x.shape[-1]], 0.3)))

    def normalize(self, x: tf.Tensor) -> tf.Tensor:
        channels = [x.shape[-1]]
        scale = tf.constant(self.draw.positive_floats(channels, 0.5, 1.5))
        offset = tf.constant(self.draw.floats(channels, 0.3))
        mean = tf.constant(self.draw.floats(channels, 0.2))
        variance = tf.constant(self.draw.positive_floats(channels, 0.5, 2))
        return tf.nn.batch_normalization(x, mean, variance, offset, scale, 1e-3)

    def activation(self, x: tf.Tensor) -> tf.Tensor:
        functions = [
            tf.nn.relu,
            tf.nn.relu6,
            tf.nn.leaky_relu,
            tf.nn.silu,
            tf.nn.tanh,
            tf.nn.sigmoid,
        ]
        if self.types != "int16":  # which has no such kernels: an output would stay in float
            functions += [tf.nn.elu, lambda v: v * tf.nn.relu6(v + 3) / 6]
        return self.draw.choice(functions)(x)


def classifier(layers: Layers, x: tf.Tensor) -> tf.Tensor:
    """Convolution, pooling, dense, softmax."""
    draw = layers.draw
    x = layers.activation(layers.conv(x, draw.integer(2, 8), draw.choice([3, 5])))
    pool = tf.nn.max_pool2d if draw.chance(0.5) else tf.nn.avg_pool2d
    x = pool(x, 2, 2, draw.choice(["SAME", "VALID"]))
    x = tf.reshape(x, [1, x.shape[1] * x.shape[2] * x.shape[3]])
    return tf.nn.softmax(layers.dense(x, draw.integer(2, 12)))


def residual(layers: Layers, x: tf.Tensor) -> tf.Tensor:
    """Two convolutions beside a shortcut, and the mean over the image."""
    channels = layers.draw.integer(2, 8)
    x = tf.nn.relu(layers.conv(x, channels, 3))
    inner = tf.nn.relu(layers.conv(x, channels, 3))
    x = tf.nn.relu(x + layers.conv(inner, channels, 3))
    return layers.dense(tf.reduce_mean(x, [1, 2]), layers.draw.integer(2, 10))


def inverted_residual(layers: Layers, x: tf.Tensor) -> tf.Tensor:
    """Expansion, depthwise convolution, projection, as in MobileNet v2."""
    channels = x.shape[3]
    inner = tf.nn.relu6(layers.conv(x, channels * layers.draw.integer(2, 4), 1))
    inner = tf.nn.relu6(layers.depthwise(inner, 3))
    return x + layers.conv(inner, channels, 1)


def squeeze_and_excite(layers: Layers, x: tf.Tensor) -> tf.Tensor:
    """Channels weighted by a small network of their means, as in MobileNet v3."""
    x = layers.activation(layers.conv(x, layers.draw.integer(4, 8), 3))
    means = tf.reduce_mean(x, [1, 2], keepdims=True)
    inner = tf.nn.relu(layers.conv(means, 3, 1))
    return x * tf.nn.relu6(layers.conv(inner, x.shape[3], 1) + 3) / 6


def inception(layers: Layers, x: tf.Tensor) -> tf.Tensor:
    """Branches that are concatenated."""
    draw = layers.draw
    branches = [tf.nn.relu(layers.conv(x, draw.integer(1, 5), kernel)) for kernel in (1, 3, 5)]
    branches.append(layers.conv(tf.nn.max_pool2d(x, 3, 1, "SAME"), draw.integer(1, 5), 1))
    return tf.concat(branches, 3)


def unet(layers: Layers, x: tf.Tensor) -> tf.Tensor:
    """Down, up, and a concatenation with what was before."""
    top = tf.nn.relu(layers.conv(x, layers.draw.integer(2, 5), 3))
    x = tf.nn.max_pool2d(top, 2, 2, "VALID")
    x = tf.nn.relu(layers.conv(x, layers.draw.integer(2, 6), 3))
    if layers.draw.chance(0.5):
        x = layers.transposed(x, layers.draw.integer(2, 4), layers.draw.choice([2, 3]))
    else:
        x = tf.image.resize(x, top.shape[1:3], layers.draw.choice(["bilinear", "nearest"]))
    return tf.nn.sigmoid(layers.conv(tf.concat([top, x], 3), 1, 1))


def padded(layers: Layers, x: tf.Tensor) -> tf.Tensor:
    """Explicit padding before a convolution with stride 2."""
    x = tf.pad(x, [[0, 0], [0, 1], [1, 1], [0, 0]], layers.draw.choice(["CONSTANT", "REFLECT"]))
    return layers.activation(layers.conv(x, layers.draw.integer(2, 8), 3, 2, "VALID"))


def dilated(layers: Layers, x: tf.Tensor) -> tf.Tensor:
    """A dilated convolution, which some converters write with blocks as images."""
    x = layers.conv(x, layers.draw.integer(2, 6), 3, dilation=2)
    return layers.activation(x)


def one_dimensional(layers: Layers, x: tf.Tensor) -> tf.Tensor:
    """A convolution over a sequence."""
    draw = layers.draw
    x = tf.reshape(x, [1, x.shape[1] * x.shape[2], x.shape[3]])
    weights = tf.constant(draw.floats([draw.integer(2, 5), x.shape[2], draw.integer(2, 6)], 0.4))
    x = tf.nn.conv1d(x, weights, draw.integer(1, 2), draw.choice(["SAME", "VALID"]))
    with_softmax = layers.types != "int16" and draw.chance(0.5)
    return tf.nn.log_softmax(layers.bias(x)) if with_softmax else layers.activation(x)


def split_and_shuffle(layers: Layers, x: tf.Tensor) -> tf.Tensor:
    """Halves of the channels, one convolved, shuffled as in ShuffleNet."""
    x = layers.conv(x, 2 * layers.draw.integer(1, 4), 1)
    left, right = tf.split(x, 2, 3)
    right = tf.nn.relu(layers.conv(right, right.shape[3], 3))
    x = tf.stack([left, right], 3)
    x = tf.transpose(x, [0, 1, 2, 4, 3])
    return tf.reshape(x, [1, x.shape[1], x.shape[2], x.shape[3] * x.shape[4]])


NETWORKS = [
    classifier,
    residual,
    inverted_residual,
    squeeze_and_excite,
    inception,
    unet,
    padded,
    dilated,
    one_dimensional,
    split_and_shuffle,
]


def draw_converted(
    make: Callable[[Layers, tf.Tensor], tf.Tensor], draw: Draw, types: str
) -> Converted:
    """One of the networks above with weights, image size and numbers of the given kind."""
    shape = [1, 2 * draw.integer(3, 6), 2 * draw.integer(3, 6), draw.integer(1, 4)]
    layers = Layers(draw, types)

    @tf.function(input_signature=[tf.TensorSpec(shape, tf.float32, name="input")])
    def network(x: tf.Tensor) -> tf.Tensor:
        return make(layers, x)

    samples = [draw.floats(shape) for _ in range(8)]
    concrete = network.get_concrete_function()
    with silence():
        converter = tf.lite.TFLiteConverter.from_concrete_functions([concrete], tf.Module())
        model = quantizing(converter, samples, types)
    interpreter = tf.lite.Interpreter(model_content=model)
    values = {}
    for detail in interpreter.get_input_details():
        values[detail["name"]] = draw.stored(detail["shape"], np.dtype(detail["dtype"]).name)
    return Converted(model, values)


def quantizing(converter: tf.lite.TFLiteConverter, samples: list[np.ndarray], types: str) -> bytes:
    if types != "float32":
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if types == "float16":
        converter.target_spec.supported_types = [tf.float16]
    if types in ("int8", "uint8", "int16"):
        converter.representative_dataset = lambda: ([sample] for sample in samples)
        io_type = {"int8": tf.int8, "uint8": tf.uint8, "int16": tf.int16}[types]
        converter.inference_input_type = converter.inference_output_type = io_type
        sets = tf.lite.OpsSet
        kernels = [sets.TFLITE_BUILTINS_INT8]
        if types == "int16":
            # Operators without an int16 kernel, such as hard-swish, stay in float.
            int16 = sets.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8
            kernels = [int16, sets.TFLITE_BUILTINS]
        converter.target_spec.supported_ops = kernels
    return bytes(converter.convert())


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Hides what the converter's libraries write to standard error."""
    saved = os.dup(2)
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
