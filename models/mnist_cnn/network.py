"""The article's network, in Keras, and the files that it is saved in."""

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import keras
import numpy as np
import tensorflow as tf
import tf2onnx
import tf_keras
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

MNIST_SIDE = 28
NUM_CLASSES = 10
ONNX_OPSET = 13


def make_model(api: ModuleType, size_multiplier: int = 1) -> keras.Model:
    """The layers as the article has them; `api` is keras (Keras 3) or tf_keras (Keras 2).

    The size multiplier makes the sides of the images as many times 28.
    """
    side = MNIST_SIDE * size_multiplier
    layers = api.layers
    return api.Sequential(
        [
            layers.Input((side * side,), name="image_input"),
            layers.Reshape(target_shape=(side, side, 1), name="image"),
            layers.Conv2D(12, 3, padding="same", use_bias=False, name="conv2d"),
            layers.BatchNormalization(scale=False, center=True, name="batch_normalization"),
            layers.Activation("relu", name="activation"),
            layers.Conv2D(24, 6, padding="same", use_bias=False, strides=2, name="conv2d_1"),
            layers.BatchNormalization(scale=False, center=True, name="batch_normalization_1"),
            layers.Activation("relu", name="activation_1"),
            layers.Conv2D(64, 6, padding="same", use_bias=False, strides=2, name="conv2d_2"),
            layers.BatchNormalization(scale=False, center=True, name="batch_normalization_2"),
            layers.Activation("relu", name="activation_2"),
            layers.Flatten(name="flatten"),
            layers.Dense(200, use_bias=False, name="dense"),
            layers.BatchNormalization(scale=False, center=True, name="batch_normalization_3"),
            layers.Activation("relu", name="activation_3"),
            layers.Dropout(0.4, name="dropout"),
            layers.Dense(NUM_CLASSES, activation="softmax", name="dense_1"),
        ],
        name="mnist_cnn",
    )


def save(model: keras.Model, size_multiplier: int, samples: np.ndarray, path: Path) -> None:
    """Writes a trained Keras 3 model in the format that the file's ending names."""
    if path.suffix == ".keras":
        # A new model, because Keras 3 saves the optimizer of a trained one with it.
        new = make_model(keras, size_multiplier)
        new.set_weights(model.get_weights())
        new.save(path)
    elif path.suffix == ".h5":
        # Keras 2, whose files of this kind most programs read, has the same layers.
        old = make_model(tf_keras, size_multiplier)
        old.set_weights(model.get_weights())
        old.save(path, include_optimizer=False, save_format="h5")
    elif path.suffix == ".tflite":
        path.write_bytes(to_tflite(model, samples))
    elif path.suffix == ".onnx":
        path.write_bytes(to_onnx(model))
    else:
        raise ValueError(f"{path}: the name must end in .h5, .keras, .tflite or .onnx")


def to_tflite(model: keras.Model, samples: np.ndarray) -> bytes:
    """int8 weights for each channel, int8 activations, calibrated with samples of the input."""

    def representative() -> Iterator[list[np.ndarray]]:
        for sample in samples:
            yield [sample[np.newaxis]]

    function = convert_variables_to_constants_v2(_inference(model).get_concrete_function())
    converter = tf.lite.TFLiteConverter.from_concrete_functions([function], model)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = representative
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    converter.inference_input_type = converter.inference_output_type = tf.int8
    return bytes(converter.convert())


def to_onnx(model: keras.Model) -> bytes:
    function = _inference(model)
    proto, _ = tf2onnx.convert.from_function(function, function.input_signature, opset=ONNX_OPSET)
    return proto.SerializeToString(deterministic=True)


def _inference(model: keras.Model) -> tf.types.experimental.GenericFunction:
    """One image in, ten probabilities out."""
    spec = tf.TensorSpec([1, *model.input_shape[1:]], tf.float32, name="image_input")

    @tf.function(input_signature=[spec])
    def probabilities(image: tf.Tensor) -> tf.Tensor:
        return model(image, training=False)

    return probabilities
