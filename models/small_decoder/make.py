#!/usr/bin/env python3
"""Makes small_decoder.onnx: a transformer decoder of two layers with its cache as inputs and outputs.

Its sizes are open (batch, sequence, past_sequence), and its names are those of the exporters of transformers,
so that `sim decode` finds its caches. The weights are random: it has been taught nothing. Needs numpy and onnx
(pip install numpy onnx).
"""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

LAYERS, HEADS, DEPTH, WORDS, POSITIONS = 2, 2, 32, 256, 512
WIDTH = HEADS * DEPTH
FOLDER = Path(__file__).parent


class Network:
    """Nodes and constants, by name."""

    def __init__(self) -> None:
        self.random = np.random.default_rng(17)
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, name: str, values: np.ndarray) -> str:
        self.constants.append(numpy_helper.from_array(values, name))
        return name

    def weights(self, name: str, *shape: int, deviation: float | None = None) -> str:
        deviation = deviation or shape[0] ** -0.5
        return self.constant(name, self.random.normal(0, deviation, shape).astype(np.float32))

    def add(self, op: str, inputs: list[str], *outputs: str, **attributes: object) -> str:
        self.nodes.append(helper.make_node(op, inputs, list(outputs), name=outputs[0], **attributes))
        return outputs[0]

    def normalized(self, name: str, x: str) -> str:
        scale = self.constant(f"{name}.scale", self.random.uniform(0.5, 1.5, WIDTH).astype(np.float32))
        shift = self.weights(f"{name}.bias", WIDTH, deviation=0.1)
        return self.add("LayerNormalization", [x, scale, shift], f"{name}.out", axis=-1)

    def dense(self, name: str, x: str, depth: int, width: int) -> str:
        product = self.add("MatMul", [x, self.weights(f"{name}.weight", depth, width)], f"{name}.product")
        return self.add("Add", [product, self.weights(f"{name}.bias", width, deviation=0.1)], f"{name}.out")

    def heads(self, name: str, x: str) -> str:
        """[batch, sequence, width] as [batch, heads, sequence, depth]."""
        split = self.add("Reshape", [x, "shape_of_heads"], f"{name}.split")
        return self.add("Transpose", [split], f"{name}.heads", perm=[0, 2, 1, 3])

    def attention(self, layer: int, x: str) -> str:
        name = f"layer.{layer}.attention"
        joined = self.dense(f"{name}.qkv", x, WIDTH, 3 * WIDTH)
        parts = [f"{name}.query", f"{name}.key", f"{name}.value"]
        self.add("Split", [joined], *parts, axis=-1)
        query, key, value = (self.heads(part, part) for part in parts)
        past, present = f"past_key_values.{layer}", f"present.{layer}"
        keys = self.add("Concat", [f"{past}.key", key], f"{present}.key", axis=2)
        values = self.add("Concat", [f"{past}.value", value], f"{present}.value", axis=2)
        turned = self.add("Transpose", [keys], f"{name}.turned", perm=[0, 1, 3, 2])
        scores = self.add("MatMul", [query, turned], f"{name}.scores")
        scaled = self.add("Mul", [scores, "scale"], f"{name}.scaled")
        seen = self.add("Where", ["may_see", scaled, "lowest"], f"{name}.seen")
        shares = self.add("Softmax", [seen], f"{name}.shares", axis=-1)
        mixed = self.add("MatMul", [shares, values], f"{name}.mixed")
        back = self.add("Transpose", [mixed], f"{name}.back", perm=[0, 2, 1, 3])
        whole = self.add("Reshape", [back, "shape_of_width"], f"{name}.whole")
        return self.dense(f"{name}.out", whole, WIDTH, WIDTH)

    def gelu(self, name: str, x: str) -> str:
        inner = self.add("Erf", [self.add("Div", [x, "root_of_two"], f"{name}.divided")], f"{name}.erf")
        above = self.add("Add", [inner, "one"], f"{name}.above")
        half = self.add("Mul", [x, "half"], f"{name}.half")
        return self.add("Mul", [half, above], f"{name}.out")


def main() -> None:
    net = Network()
    for name, value in (("scale", DEPTH**-0.5), ("lowest", -1e9), ("root_of_two", 2**0.5), ("one", 1), ("half", 0.5)):
        net.constant(name, np.array(value, np.float32))
    net.constant("shape_of_heads", np.array([0, 0, HEADS, DEPTH], np.int64))
    net.constant("shape_of_width", np.array([0, 0, WIDTH], np.int64))
    for name, axis in (("first", 0), ("second", 1), ("third", 2)):
        net.constant(name, np.array([axis], np.int64))
    for name, value in (("zero", 0), ("step", 1)):
        net.constant(name, np.array(value, np.int64))

    # A token sees the tokens up to its own position, as far as the mask has them.
    shape = net.add("Shape", ["attention_mask"], "mask.shape")
    count = net.add("Gather", [shape, "step"], "mask.count", axis=0)
    places = net.add("Range", ["zero", count, "step"], "mask.places")
    own = net.add("Unsqueeze", ["position_ids", "second"], "mask.own")
    own = net.add("Unsqueeze", [own, net.constant("last", np.array([3], np.int64))], "mask.column")
    before = net.add("LessOrEqual", [places, own], "mask.before")
    given = net.add("Cast", ["attention_mask"], "mask.given", to=TensorProto.BOOL)
    given = net.add("Unsqueeze", [net.add("Unsqueeze", [given, "second"], "mask.row"), "third"], "mask.rows")
    net.add("And", [before, given], "may_see")

    words = net.weights("word_embedding", WORDS, WIDTH, deviation=0.3)
    x = net.add("Gather", [words, "input_ids"], "embedding.words", axis=0)
    positions = net.weights("position_embedding", POSITIONS, WIDTH, deviation=0.1)
    x = net.add("Add", [x, net.add("Gather", [positions, "position_ids"], "embedding.positions")], "embedding.out")
    for layer in range(LAYERS):
        attended = net.attention(layer, net.normalized(f"layer.{layer}.norm_1", x))
        x = net.add("Add", [x, attended], f"layer.{layer}.attended")
        wide = net.dense(f"layer.{layer}.mlp.up", net.normalized(f"layer.{layer}.norm_2", x), WIDTH, 4 * WIDTH)
        narrow = net.dense(f"layer.{layer}.mlp.down", net.gelu(f"layer.{layer}.mlp.gelu", wide), 4 * WIDTH, WIDTH)
        x = net.add("Add", [x, narrow], f"layer.{layer}.out")
    net.add("MatMul", [net.normalized("norm", x), net.weights("output.weight", WIDTH, WORDS)], "logits")

    def value(name: str, kind: int, *shape: str | int) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, kind, shape)

    caches = [f"{layer}.{part}" for layer in range(LAYERS) for part in ("key", "value")]
    ids, floats, every = TensorProto.INT64, TensorProto.FLOAT, "past_sequence + sequence"
    inputs = [
        value("input_ids", ids, "batch", "sequence"),
        value("attention_mask", ids, "batch", every),
        value("position_ids", ids, "batch", "sequence"),
        *(value(f"past_key_values.{each}", floats, "batch", HEADS, "past_sequence", DEPTH) for each in caches),
    ]
    outputs = [
        value("logits", floats, "batch", "sequence", WORDS),
        *(value(f"present.{each}", floats, "batch", HEADS, every, DEPTH) for each in caches),
    ]
    graph = helper.make_graph(net.nodes, "small_decoder", inputs, outputs, net.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    model.producer_name = "systole"
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, FOLDER / "small_decoder.onnx")


if __name__ == "__main__":
    main()
