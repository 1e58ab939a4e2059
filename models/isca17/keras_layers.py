#!/usr/bin/env python3
"""Writes LSTM0 and LSTM1 of make.py as Keras networks of LSTM layers: keras/lstm0.h5 and keras/lstm1.h5.

make.py has the reconstruction, and writes each gate as a dense layer with 16 bits, as the validation runs them. The
networks here have the same inputs, weights and multiply-accumulates, but as people build them: `LSTM` layers that go one
step, with the states as inputs and outputs. All weights have the same value, of which HDF5 packs a thousand in four
bytes: the files are for timing. The script needs h5py, as build/judges/env has it (tests/judges/README.md).
"""

import json
import pathlib

import h5py
import numpy

WEIGHT = 0.01


class Model:
    """A functional model of Keras, layer by layer."""

    def __init__(self, name):
        self.name = name
        self.layers = []
        self.inputs = []
        self.outputs = []
        self.weights = []  # of each layer with some: its name, and names and shapes of its weights

    def add(self, kind, name, sources, **config):
        """Appends a layer; `sources` are layers, or pairs of a layer and the number of its result."""
        pairs = [source if isinstance(source, tuple) else (source, 0) for source in sources]
        inbound = [[[layer, 0, result, {}] for layer, result in pairs]] if pairs else []
        self.layers.append(
            {
                "class_name": kind,
                "name": name,
                "config": {"name": name, "trainable": True, "dtype": "float32", **config},
                "inbound_nodes": inbound,
            }
        )
        return name

    def input(self, name, width):
        self.inputs.append([name, 0, 0])
        return self.add("InputLayer", name, [], batch_input_shape=[None, width])

    def output(self, layer, result=0):
        self.outputs.append([layer, 0, result])

    def concatenate(self, name, sources):
        return self.add("Concatenate", name, sources, axis=-1)

    def dense(self, name, source, inputs, units, activation):
        self.weights.append((name, [(f"{name}/kernel:0", (inputs, units)), (f"{name}/bias:0", (units,))]))
        return self.add("Dense", name, [source], units=units, activation=activation, use_bias=True)

    def lstm(self, name, source, inputs, state, units):
        """One step of an LSTM layer from a state, [h, c]. Its results are h, again h, and c."""
        sequence = self.add("Reshape", f"{name}_sequence", [source], target_shape=[1, inputs])
        cell = f"{name}/lstm_cell"
        shapes = {"kernel": (inputs, 4 * units), "recurrent_kernel": (units, 4 * units), "bias": (4 * units,)}
        self.weights.append((name, [(f"{cell}/{role}:0", shape) for role, shape in shapes.items()]))
        return self.add(
            "LSTM",
            name,
            [sequence, *state],
            units=units,
            activation="tanh",
            recurrent_activation="sigmoid",
            use_bias=True,
            return_sequences=False,
            return_state=True,
            go_backwards=False,
            stateful=False,
            time_major=False,
            unroll=False,
        )

    def write(self, path):
        config = {
            "class_name": "Functional",
            "config": {
                "name": self.name,
                "layers": self.layers,
                "input_layers": self.inputs,
                "output_layers": self.outputs,
            },
        }
        with h5py.File(path, "w") as file:
            file.attrs["keras_version"] = "2.15.0"
            file.attrs["backend"] = "tensorflow"
            file.attrs["model_config"] = json.dumps(config)
            group = file.create_group("model_weights")
            group.attrs["backend"] = "tensorflow"
            group.attrs["layer_names"] = [name.encode() for name, _ in self.weights]
            for name, weights in self.weights:
                layer = group.create_group(name)
                layer.attrs["weight_names"] = [weight.encode() for weight, _ in weights]
                for weight, shape in weights:
                    values = numpy.full(shape, WEIGHT, dtype="float32")
                    layer.create_dataset(weight, data=values, chunks=shape, compression="gzip", compression_opts=9)


def state_inputs(model, i, width):
    return [model.input(f"h{i}", width), model.input(f"c{i}", width)]


def lstm0():
    model = Model("lstm0")
    width = 512
    x = model.input("x", width)
    for i, units in enumerate([1280] + 5 * [1024], 1):
        layer = model.lstm(f"lstm{i}", x, width, state_inputs(model, i, units), units)
        model.output(layer)
        model.output(layer, 2)
        x = model.add("Add", f"residual{i}", [layer, x]) if i >= 3 else layer
        width = units
    model.output(x)
    return model


def lstm1():
    model = Model("lstm1")
    width = 600
    halves = [model.input("left", width), model.input("right", width)]
    made = []
    for i in range(1, 18):
        both = model.concatenate(f"fc{i}_inputs", made[-2:] if len(made) >= 2 else halves)
        made.append(model.dense(f"fc{i}", both, 2 * width, width, "tanh"))
    context = x = made[-1]
    before = model.input("h_before", width)
    for i in range(1, 6):
        both = model.concatenate(f"lstm{i}_inputs", [x, before if i == 1 else context])
        x = model.lstm(f"lstm{i}", both, 2 * width, state_inputs(model, i, width), width)
        model.output(x)
        model.output(x, 2)
    return model


def main():
    folder = pathlib.Path(__file__).parent / "keras"
    folder.mkdir(exist_ok=True)
    for model in (lstm0(), lstm1()):
        model.write(folder / f"{model.name}.h5")


if __name__ == "__main__":
    main()
