"""Runs a Sequential Keras model from nothing but its HDF5 file.

The layers, their settings and their weights all come from the file. Values
travel between the layers as in Keras: the batch first, the channels last.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import torch
import torch.nn.functional as F

from network import same_padding

Config = dict[str, Any]
Weights = dict[str, torch.Tensor]
Layer = Callable[[torch.Tensor, Config, Weights], torch.Tensor]

ACTIVATIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "linear": lambda values: values,
    "relu": F.relu,
    "softmax": lambda values: F.softmax(values, dim=-1),
}


class KerasModel:
    """A Sequential model of the layer classes named in LAYERS."""

    def __init__(self, path: Path) -> None:
        if not h5py.is_hdf5(path):
            raise ValueError(f"{path}: not an HDF5 file, or not there")
        with h5py.File(path, "r") as file:
            if "model_config" not in file.attrs:
                raise ValueError(f"{path}: a file of weights only, without model_config")
            model_config = json.loads(file.attrs["model_config"])
            if model_config["class_name"] != "Sequential":
                raise ValueError(f"{path}: not a Sequential model")
            self._layers = model_config["config"]["layers"]
            self._weights = {
                name: _read_weights(file["model_weights"][name])
                for name in _strings(file["model_weights"].attrs["layer_names"])
            }
        for layer in self._layers:
            if layer["class_name"] not in LAYERS:
                raise ValueError(f"{path}: no layer of class {layer['class_name']} is known here")

    @property
    def input_shape(self) -> tuple[int, ...]:
        """The shape of one input, without the batch."""
        return tuple(self._layers[0]["config"]["batch_input_shape"][1:])

    @torch.no_grad()
    def predict(self, inputs: np.ndarray) -> np.ndarray:
        """Returns the outputs for a batch of inputs of the shape above."""
        values = torch.from_numpy(inputs)
        for layer in self._layers:
            config = layer["config"]
            weights = self._weights.get(config["name"], {})
            values = LAYERS[layer["class_name"]](values, config, weights)
        return values.numpy()


def _read_weights(group: h5py.Group) -> Weights:
    """Weights by their short names: "conv2d/kernel:0" becomes "kernel"."""
    return {
        name.split("/")[-1].split(":")[0]: torch.from_numpy(group[name][()])
        for name in _strings(group.attrs["weight_names"])
    }


def _strings(attribute: np.ndarray) -> list[str]:
    return [text.decode() if isinstance(text, bytes) else text for text in attribute]


def _pass_on(values: torch.Tensor, config: Config, weights: Weights) -> torch.Tensor:
    return values


def _reshape(values: torch.Tensor, config: Config, weights: Weights) -> torch.Tensor:
    return values.reshape(-1, *config["target_shape"])


def _flatten(values: torch.Tensor, config: Config, weights: Weights) -> torch.Tensor:
    return values.flatten(start_dim=1)


def _activation(values: torch.Tensor, config: Config, weights: Weights) -> torch.Tensor:
    return ACTIVATIONS[config["activation"]](values)


def _dense(values: torch.Tensor, config: Config, weights: Weights) -> torch.Tensor:
    values = values @ weights["kernel"]
    if config["use_bias"]:
        values = values + weights["bias"]
    return _activation(values, config, weights)


def _conv2d(values: torch.Tensor, config: Config, weights: Weights) -> torch.Tensor:
    padded = _pad(values, config["padding"], config["kernel_size"], config["strides"], with_value=0)
    kernel = weights["kernel"].permute(3, 2, 0, 1)
    bias = weights["bias"] if config["use_bias"] else None
    convolved = F.conv2d(padded.permute(0, 3, 1, 2), kernel, bias, stride=config["strides"])
    return _activation(convolved.permute(0, 2, 3, 1), config, weights)


def _max_pooling(values: torch.Tensor, config: Config, weights: Weights) -> torch.Tensor:
    lowest = -torch.inf
    padded = _pad(values, config["padding"], config["pool_size"], config["strides"], lowest)
    pooled = F.max_pool2d(padded.permute(0, 3, 1, 2), config["pool_size"], config["strides"])
    return pooled.permute(0, 2, 3, 1)


def _batch_normalization(values: torch.Tensor, config: Config, weights: Weights) -> torch.Tensor:
    values = values - weights["moving_mean"]
    values = values / torch.sqrt(weights["moving_variance"] + config["epsilon"])
    if config["scale"]:
        values = values * weights["gamma"]
    if config["center"]:
        values = values + weights["beta"]
    return values


def _pad(
    values: torch.Tensor, padding: str, kernel: list[int], strides: list[int], with_value: float
) -> torch.Tensor:
    """Pads height and width as TensorFlow does for "same"; "valid" needs none."""
    if padding == "valid":
        return values
    top_bottom = same_padding(values.shape[1], kernel[0], strides[0])
    left_right = same_padding(values.shape[2], kernel[1], strides[1])
    return F.pad(values, (0, 0, *left_right, *top_bottom), value=with_value)


LAYERS: dict[str, Layer] = {
    "InputLayer": _pass_on,
    "Reshape": _reshape,
    "Conv2D": _conv2d,
    "BatchNormalization": _batch_normalization,
    "Activation": _activation,
    "MaxPooling2D": _max_pooling,
    "Flatten": _flatten,
    "Dropout": _pass_on,
    "Dense": _dense,
}
