"""Describes layers the way Keras 2.11 does: class, config and named weights.

Only what the network of this folder uses is here. The fields of each config,
their order included, are those Keras writes into `model_config`.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

Config = dict[str, Any]

ZEROS: Config = {"class_name": "Zeros", "config": {}}
ONES: Config = {"class_name": "Ones", "config": {}}
GLOROT_UNIFORM: Config = {"class_name": "GlorotUniform", "config": {"seed": None}}


@dataclass(frozen=True)
class KerasLayer:
    """One layer of a Sequential model; weights are in the order Keras saves them in."""

    class_name: str
    config: Config
    weights: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.config["name"]

    def to_config(self) -> Config:
        return {"class_name": self.class_name, "config": self.config}


def input_layer(name: str, shape: tuple[int, ...]) -> KerasLayer:
    """The layer Keras itself puts before the first one; it has no group in the file."""
    config = {
        "batch_input_shape": [None, *shape],
        "dtype": "float32",
        "sparse": False,
        "ragged": False,
        "name": name,
    }
    return KerasLayer("InputLayer", config)


def reshape(name: str, input_shape: tuple[int, ...], target_shape: tuple[int, ...]) -> KerasLayer:
    """A Reshape that is the model's first layer, hence with the shape of the model's input."""
    config = {
        "name": name,
        "trainable": True,
        "batch_input_shape": [None, *input_shape],
        "dtype": "float32",
        "target_shape": list(target_shape),
    }
    return KerasLayer("Reshape", config)


def conv2d(name: str, kernel: np.ndarray, stride: int) -> KerasLayer:
    """A convolution with "same" padding and no bias; kernel is (height, width, in, out)."""
    height, width, _, filters = kernel.shape
    config = _common(name) | {
        "filters": filters,
        "kernel_size": [height, width],
        "strides": [stride, stride],
        "padding": "same",
        "data_format": "channels_last",
        "dilation_rate": [1, 1],
        "groups": 1,
        "activation": "linear",
        "use_bias": False,
    }
    return KerasLayer("Conv2D", config | _kernel_settings(), {"kernel": kernel})


def batch_normalization(
    name: str,
    axis: int,
    momentum: float,
    epsilon: float,
    beta: np.ndarray,
    moving_mean: np.ndarray,
    moving_variance: np.ndarray,
) -> KerasLayer:
    """Batch normalization that centres but does not scale; axis counts the batch as 0."""
    config = _common(name) | {
        "axis": [axis],
        "momentum": momentum,
        "epsilon": epsilon,
        "center": True,
        "scale": False,
        "beta_initializer": ZEROS,
        "gamma_initializer": ONES,
        "moving_mean_initializer": ZEROS,
        "moving_variance_initializer": ONES,
        "beta_regularizer": None,
        "gamma_regularizer": None,
        "beta_constraint": None,
        "gamma_constraint": None,
    }
    weights = {"beta": beta, "moving_mean": moving_mean, "moving_variance": moving_variance}
    return KerasLayer("BatchNormalization", config, weights)


def relu(name: str) -> KerasLayer:
    return KerasLayer("Activation", _common(name) | {"activation": "relu"})


def flatten(name: str) -> KerasLayer:
    return KerasLayer("Flatten", _common(name) | {"data_format": "channels_last"})


def dropout(name: str, rate: float) -> KerasLayer:
    return KerasLayer("Dropout", _common(name) | {"rate": rate, "noise_shape": None, "seed": None})


def dense(
    name: str, kernel: np.ndarray, bias: np.ndarray | None = None, activation: str = "linear"
) -> KerasLayer:
    """A fully connected layer; kernel is (in, out)."""
    config = _common(name) | {
        "units": kernel.shape[1],
        "activation": activation,
        "use_bias": bias is not None,
    }
    weights = {"kernel": kernel} if bias is None else {"kernel": kernel, "bias": bias}
    return KerasLayer("Dense", config | _kernel_settings(), weights)


def _common(name: str) -> Config:
    return {"name": name, "trainable": True, "dtype": "float32"}


def _kernel_settings() -> Config:
    return {
        "kernel_initializer": GLOROT_UNIFORM,
        "bias_initializer": ZEROS,
        "kernel_regularizer": None,
        "bias_regularizer": None,
        "activity_regularizer": None,
        "kernel_constraint": None,
        "bias_constraint": None,
    }
