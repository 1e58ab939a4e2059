#!/usr/bin/env python3
"""Writes the six workloads of the TPU paper as graph files (docs/graph_files.md), and one matrix of them.

Jouppi et al., "In-Datacenter Performance Analysis of a Tensor Processing Unit", ISCA 2017, publishes for each
of its six networks the number of layers by kind, the weights, the batch and operations per weight byte (Table
1), shares of active cycles and of multiply-accumulates (Table 3) and the peak use of the Unified Buffer (Table 8),
but no layer shapes. The shapes below are reconstructions. Most follow from Table 1. What Table 1 leaves open was
decided with Table 3 in view, which is also what a simulation is compared with: widths by rows 1, 2 and 3 (array active,
useful and unused multiply-accumulates), bits by rows 1, 2, 5 and 9 (weight shift, operations a second). They are choices,
and docs/validation_choices.md has the errors that the other ways give. The numbers stand together at the top of each
function.

The shapes alone, as numbers, are in shapes.json: models that need no compiler read them.
"""

import argparse
import json
import math
import pathlib


class Network:
    """A graph file as it grows, layer by layer."""

    def __init__(self, name, shape, activation_bits=8):
        self.head = {
            "schema": "sim.graph/1",
            "name": name,
            "activation_bits": activation_bits,
            "input": {"shape": shape},
            "weights": {"seed": 1},
        }
        self.layers = []

    def add(self, name, op, inputs, **keys):
        """Appends a layer and returns its name, which is what others read it by."""
        inputs = [inputs] if isinstance(inputs, str) else list(inputs)
        self.layers.append({"name": name, "op": op, "inputs": inputs, **keys})
        return name

    def dense(self, name, source, units, activation):
        return self.add(name, "dense", source, units=units, activation=activation)

    def convolution(self, name, source, kernel, filters, stride=1):
        return self.add(
            name,
            "convolution",
            source,
            filters=filters,
            kernel=kernel,
            stride=stride,
            padding="same",
            activation="relu",
        )

    def pool(self, name, source, kind, stride):
        return self.add(name, f"{kind}_pool", source, kernel=3, stride=stride, padding="same")

    def text(self):
        """One line a layer: what changed is what a diff shows."""
        lines = [f'"{key}": {json.dumps(value)}' for key, value in self.head.items()]
        layers = ",\n  ".join(json.dumps(layer) for layer in self.layers)
        lines.append(f'"layers": [\n  {layers}\n ]')
        lines.append(f'"output": {json.dumps(self.layers[-1]["name"])}')
        return "{\n " + ",\n ".join(lines) + "\n}\n"


def mlp0(widths=(2016, 2016, 1776, 2288, 2016, 2016)):
    # Table 1: 5 FC of 20M weights in all, so about 2000 wide. Table 3: 0.024 of the active multiply-accumulates
    # unused, so close below multiples of 256. Section 7: an array of 512 x 512 is worse for every network, so not
    # all widths fill multiples of 512: one layer a tile narrower, one a tile wider.
    return multilayer_perceptron("mlp0", widths)


def mlp1(widths=(1200, 1200, 1200, 1200, 512)):
    # Table 1: 4 FC of 5M weights in all. Table 3: 0.113 of the active multiply-accumulates unused: 5 tiles of 256
    # hold 1200 of 1280.
    return multilayer_perceptron("mlp1", widths)


def multilayer_perceptron(name, widths):
    network = Network(name, list(widths[:1]))
    value = "input"
    for i, width in enumerate(widths[1:]):
        value = network.dense(f"fc{i + 1}", value, width, "relu")  # Table 1: ReLU
    return network


class Slices:
    """Parts of the input vector, one behind the other, each a layer of its own."""

    def __init__(self, network):
        self.network = network
        self.taken = 0

    def take(self, name, width):
        first = self.taken
        self.taken += width
        return self.network.add(name, "slice", "input", first=first, count=width)

    def finish(self):
        self.network.head["input"]["shape"] = [self.taken]


def lstm_layer(network, i, inputs, c, width):
    """Gates, cell and output of an LSTM layer at one time step, 5 element-wise layers. Returns the new h and c."""
    gates = {
        gate: network.dense(f"{gate}{i}", inputs, width, "tanh" if gate == "candidate" else "sigmoid")
        for gate in ("input_gate", "forget_gate", "candidate", "output_gate")
    }
    kept = network.add(f"kept{i}", "multiply", [gates["forget_gate"], c])
    added = network.add(f"added{i}", "multiply", [gates["input_gate"], gates["candidate"]])
    new_c = network.add(f"new_c{i}", "add", [kept, added])
    squashed = network.add(f"squashed{i}", "tanh", new_c)
    new_h = network.add(f"new_h{i}", "multiply", [gates["output_gate"], squashed])
    return new_h, new_c


def lstm0(inputs=512, first_width=1280, bits=16):
    # Table 1: 24 FC; an LSTM layer has 4, its gates, so 6 layers. 52M weights are about 1024 wide, and as Table 3 has
    # no unused multiply-accumulates, multiples of 256. Section 7: an array of 512 x 512 is worse for every network, so
    # not all widths are multiples of 512. Residual connections keep layers 2 to 6 at one width; the first is a tile
    # wider, and 52M weights leave it 512 inputs.
    widths = [first_width] + 5 * [1024]
    # Table 1: 34 vector layers, 5 for each LSTM layer and 4 more: residual connections from the third layer on, as
    # Google's translation network has them (Wu et al. 2016, arXiv 1609.08144), which one of the two LSTMs belongs to.
    first_residual = 3

    # 16 bits: Table 3's operations per second are half of what its useful multiply-accumulates make.
    network = Network("lstm0", [0], activation_bits=bits)
    slices = Slices(network)
    x = slices.take("x", inputs)
    states = []
    for i, width in enumerate(widths, 1):
        h, c = slices.take(f"h{i}", width), slices.take(f"c{i}", width)
        new_h, new_c = lstm_layer(network, i, [x, h], c, width)
        states += [new_h, new_c]
        x = network.add(f"residual{i}", "add", [new_h, x]) if i >= first_residual else new_h
    slices.finish()
    network.add("state", "concat", states + [x])
    return network


def lstm1(recurrent_bits=16, other_bits=8, packed=False):
    layers = 5  # Table 1: 19 vector layers; 5 LSTM layers have 25 with our 5 each, 20 where tanh(c) is not counted
    width = 600  # section 7: 600 x 600 matrices; Table 3: 0.6 of the active multiply-accumulates in use, 0.61 with
    # each 600 x 600 matrix in 3 x 3 tiles of its own. Otherwise (`packed`), what a gate reads is one matrix: 1200
    # rows in 5 tiles and not in 6, 1800 in 8 and not in 9.
    fully_connected = 17  # Table 1: 37 FC, of which the LSTM layers have 20
    # Table 1: 34M weights: 3 matrices for each gate (x, the first layer's input again, h), 2 for each other FC (what
    # is before it and what is before that), 33.8M in all.
    # Bits: the reference derives 1.64 passes a row. The recurrent part is 16-bit as LSTM0 is, the FC before it is
    # 8-bit behind the two that take the network's input: 1.68.

    network = Network("lstm1", [0], activation_bits=recurrent_bits)
    slices = Slices(network)
    halves = [slices.take("both", 2 * width)] if packed else [slices.take("left", width), slices.take("right", width)]
    made = []
    for i in range(1, fully_connected + 1):
        # The second takes the network's input, too: both inputs of a layer have as many bits.
        inputs = made[-2:] if len(made) >= 2 else halves
        units = width
        if packed:  # as many weights: 1200 x 600 and 600 x 1200 in turn
            inputs = made[-1:] or halves
            units = width if i % 2 else 2 * width
        bits = {} if other_bits == recurrent_bits or i == fully_connected else {"activation_bits": other_bits}
        made.append(network.add(f"fc{i}", "dense", inputs, units=units, activation="tanh", **bits))
    context = x = made[-1]
    states = []
    for i in range(1, layers + 1):
        h, c = slices.take(f"h{i}", 2 * width if packed else width), slices.take(f"c{i}", width)
        # The first layer's x is the context itself; its third matrix sees the h of the step before last.
        third = [] if packed else [slices.take("h_before", width) if i == 1 else context]
        x, new_c = lstm_layer(network, i, [x, *third, h], c, width)
        states += [x, new_c]
    slices.finish()
    network.add("state", "concat", states)
    return network


def cnn0():
    board = 19  # Table 1: 2888 operations per weight byte = batch 8 x 19 x 19, a Go board
    planes = 48  # AlphaGo's input (Silver et al., Nature 2016): "one CNN is AlphaGo"
    filters = 256  # Table 3: no unused multiply-accumulates; Table 1: 8M weights
    kernels = [5] + 14 * [3] + [1]  # Table 1: 16 convolutions and nothing else; Silver et al.: 5x5, then 3x3

    network = Network("cnn0", [board, board, planes])
    value = "input"
    for i, kernel in enumerate(kernels):
        value = network.convolution(f"conv{i + 1}", value, kernel, filters)
    return network


def cnn1(pointwise_behind="4d", units=(6144, 6144, 6144, 1000)):
    image = [224, 224, 3]
    # Batch-normalizing Inception ("derives from Inception V2"): Ioffe & Szegedy 2015, arXiv 1502.03167, Figure
    # 5. The filters are those printed; the printed depths of 4c, 4d and 4e are not their sums, which count here.
    # 1x1, 3x3 reduce, 3x3, double 3x3 reduce, double 3x3, kind of pool, its projection.
    modules = {
        "3a": (64, 64, 64, 64, 96, "average", 32),
        "3b": (64, 64, 96, 64, 96, "average", 64),
        "3c": (0, 128, 160, 64, 96, "max", 0),
        "4a": (224, 64, 96, 96, 128, "average", 128),
        "4b": (192, 96, 128, 96, 128, "average", 128),
        "4c": (160, 128, 160, 128, 160, "average", 128),
        "4d": (96, 128, 192, 160, 192, "average", 128),
        "4e": (0, 128, 192, 192, 256, "max", 0),
        "5a": (352, 192, 320, 160, 224, "average", 128),
        "5b": (352, 192, 320, 192, 224, "max", 128),
    }
    pointwise = [1024, 1024, 1024]  # Table 1: 72 convolutions; the modules and what is before them have 69
    # units: Table 1: 4 FC, 100M weights in all

    network = Network("cnn1", image)
    value = network.convolution("conv1", "input", 7, 64, stride=2)
    value = network.pool("pool1", value, "max", 2)
    value = network.convolution("conv2_reduce", value, 1, 64)
    value = network.convolution("conv2", value, 3, 192)
    value = network.pool("pool2", value, "max", 2)
    for name, sizes in modules.items():
        value = inception_module(network, name, value, *sizes)
        # Where no fact says. Table 3: 0.51 of the active multiply-accumulates are unused; behind the last
        # module of 7 x 7 pixels it were 0.57, here, behind the last of 14 x 14, it is 0.53.
        if name == pointwise_behind:
            for i, filters in enumerate(pointwise):
                value = network.convolution(f"pointwise{i + 1}", value, 1, filters)
    value = network.add("global_pool", "global_average_pool", value)  # Table 1: 13 pools with the modules' 10
    for i, width in enumerate(units):
        value = network.dense(f"fc{i + 1}", value, width, "relu" if i + 1 < len(units) else "linear")
    return network


def inception_module(network, name, source, direct, reduce, filters, double_reduce, double, pool, projection):
    """Branches side by side; without a direct one, it halves the image and passes the pool through."""
    stride = 1 if direct else 2
    branches = []
    if direct:
        branches.append(network.convolution(f"{name}_1x1", source, 1, direct))
    value = network.convolution(f"{name}_3x3_reduce", source, 1, reduce)
    branches.append(network.convolution(f"{name}_3x3", value, 3, filters, stride))
    value = network.convolution(f"{name}_double_reduce", source, 1, double_reduce)
    value = network.convolution(f"{name}_double_1", value, 3, double)
    branches.append(network.convolution(f"{name}_double_2", value, 3, double, stride))
    value = network.pool(f"{name}_pool", source, pool, stride)
    branches.append(network.convolution(f"{name}_projection", value, 1, projection) if projection else value)
    return network.add(name, "concat", branches)


def choices():
    """The networks with one choice turned the other way, which `sim validate tpu_v1 --choices` runs (docs/validation.md)."""
    return {
        "mlp0_square": mlp0(widths=6 * [2048]),
        "mlp1_equal": mlp1(widths=5 * [1118]),  # 5M weights
        "lstm0_square": lstm0(inputs=1024, first_width=1024),
        "lstm0_8_bit": lstm0(bits=8),
        "lstm1_8_bit": lstm1(recurrent_bits=8, other_bits=8),
        "lstm1_16_bit": lstm1(recurrent_bits=16, other_bits=16),
        "lstm1_packed": lstm1(packed=True),
        "cnn1_pointwise_last": cnn1(pointwise_behind="5b"),
        "cnn1_tapered": cnn1(units=(8192, 6144, 4096, 1000)),
    }


def shapes(network):
    """What a model of its work alone needs to know: bytes in and out, and of each layer with weights the matrices side
    by side (`inputs` are their rows, a window's pixels one behind the other), the columns of all of them, the vectors of
    an inference that they multiply, and the bits of these."""
    bits_of_all = network.head["activation_bits"]
    made = {"input": network.head["input"]["shape"]}
    bits = {"input": bits_of_all}
    layers = []
    for layer in network.layers:
        name, op = layer["name"], layer["op"]
        sources = [made[source] for source in layer["inputs"]]
        shape = list(sources[0])
        bits[name] = layer.get("activation_bits", bits_of_all)
        if "stride" in layer:  # with padding "same"
            shape[:2] = [-(-side // layer["stride"]) for side in shape[:2]]
        if op in ("dense", "convolution"):
            window = layer.get("kernel", 1) ** 2
            shape[-1] = layer["units" if op == "dense" else "filters"]
            layers.append(
                {
                    "name": name,
                    "inputs": [window * source[-1] for source in sources],
                    "columns": shape[-1],
                    "vectors": math.prod(shape[:-1]),
                    "bits": bits[layer["inputs"][0]],
                }
            )
        elif op == "concat":
            shape[-1] = sum(source[-1] for source in sources)
        elif op == "slice":
            shape[-1] = layer["count"]
        elif op == "global_average_pool":
            shape = shape[-1:]
        made[name] = shape
    ends = {"input_bytes": "input", "output_bytes": network.layers[-1]["name"]}
    return {key: math.prod(made[value]) * bits[value] // 8 for key, value in ends.items()} | {"layers": layers}


def shapes_text(networks):
    """One line a layer, as in graph files."""
    texts = []
    for network in networks:
        facts = shapes(network)
        layers = ",\n   ".join(json.dumps(layer) for layer in facts.pop("layers"))
        ends = json.dumps(facts)[1:-1]
        texts.append(f' "{network.head["name"].upper()}": {{{ends}, "layers": [\n   {layers}\n ]}}')
    return '{\n "schema": "sim.shapes/1",\n' + ",\n".join(texts) + "\n}\n"


def matrix(width=600):
    # Section 7: what a 600 x 600 matrix of LSTM1 takes on arrays of 256 x 256 and of 512 x 512.
    network = Network("matrix", [width])
    network.add("matrix", "dense", "input", units=width)
    return network


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    arguments = parser.parse_args()
    networks = [mlp0(), mlp1(), lstm0(), lstm1(), cnn0(), cnn1(), matrix()]
    for network in networks:
        (arguments.folder / f"{network.head['name']}.json").write_text(network.text(), encoding="ascii")
    (arguments.folder / "shapes.json").write_text(shapes_text(networks), encoding="ascii")
    (arguments.folder / "choices").mkdir(exist_ok=True)
    for name, network in choices().items():
        (arguments.folder / "choices" / f"{name}.json").write_text(network.text(), encoding="ascii")


if __name__ == "__main__":
    main()
