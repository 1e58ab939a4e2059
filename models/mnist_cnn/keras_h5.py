"""Writes a Sequential model as the HDF5 file of Keras 2.11's `model.save("name.h5")`.

The file is that of a model saved without its optimizer, down to the types of
the attributes, and carries no times: the same layers always give the same bytes.
"""

import json
from pathlib import Path

import h5py
import numpy as np

from keras_layers import KerasLayer

KERAS_VERSION = "2.11.0"
BACKEND = "tensorflow"


def save_sequential(path: Path, layers: list[KerasLayer]) -> None:
    """Writes the model; the first of the layers is its InputLayer."""
    model_config = {
        "class_name": "Sequential",
        "config": {"name": "sequential", "layers": [layer.to_config() for layer in layers]},
    }
    with h5py.File(path, "w") as file:
        file.attrs["keras_version"] = KERAS_VERSION
        file.attrs["backend"] = BACKEND
        file.attrs["model_config"] = json.dumps(model_config).encode()
        _write_weights(file.create_group("model_weights"), layers[1:])


def _write_weights(group: h5py.Group, layers: list[KerasLayer]) -> None:
    """Writes one group per layer, sorted by name, and an empty one for weights of no layer."""
    group.attrs["layer_names"] = [layer.name.encode() for layer in layers]
    group.attrs["backend"] = BACKEND.encode()
    group.attrs["keras_version"] = KERAS_VERSION.encode()
    for layer in sorted(layers, key=lambda layer: layer.name):
        named = {f"{layer.name}/{weight}:0": value for weight, value in layer.weights.items()}
        _write_arrays(group.create_group(layer.name), named)
    _write_arrays(group.create_group("top_level_model_weights"), {})


def _write_arrays(group: h5py.Group, named: dict[str, np.ndarray]) -> None:
    group.attrs["weight_names"] = [name.encode() for name in named]
    for name, value in named.items():
        group.create_dataset(name, data=value, dtype=np.float32, track_times=False)
