"""The files that the article's network is saved in."""

from collections.abc import Iterator
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf
import tf2onnx
import tf_keras
from model import make_model
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

ONNX_OPSET = 13


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
