"""Recurrent layers."""

import numpy as np

from draw import Draw
from onnx_file import OnnxFile
from onnx_operators.registry import onnx

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
FUNCTIONS = {"RNN": 1, "GRU": 2, "LSTM": 3}
NAMES = ["Sigmoid", "Tanh", "Relu", "Softsign", "HardSigmoid"]


class Recurrence:
    """A node and its inputs: of a few steps, in one direction or in both."""

    def __init__(self, draw: Draw, file: OnnxFile, operator: str) -> None:
        self.draw, self.file, self.operator = draw, file, operator
        self.steps, self.batch = draw.integer(1, 6), draw.choice([1, 1, 1, 2, 3])
        self.inputs, self.hidden = draw.integer(1, 20), draw.integer(1, 20)
        self.attributes: dict[str, object] = {"hidden_size": self.hidden}
        direction = draw.choice(["forward", "reverse", "bidirectional", ""])
        if direction:
            self.attributes["direction"] = direction
        self.directions = 2 if direction == "bidirectional" else 1
        self.tensors = [
            file.input("x", draw.floats([self.steps, self.batch, self.inputs]), has_batch=False),
            self._weights("w", GATES[operator] * self.hidden, self.inputs),
            self._weights("r", GATES[operator] * self.hidden, self.hidden),
        ]
        has_bias = draw.chance(0.7)
        self.tensors.append(self._weights("b", 2 * GATES[operator] * self.hidden) if has_bias else "")
        lengths = np.full(self.batch, self.steps, dtype=np.int32)
        self.tensors.append(file.constant("lengths", lengths) if draw.chance(0.2) else "")

    def _weights(self, name: str, *shape: int) -> str:
        scale = 1 / np.sqrt(shape[-1]) if len(shape) > 1 else 0.3
        return self.file.constant(name, self.draw.floats([self.directions, *shape], scale))

    def states(self, names: list[str]) -> None:
        """What the first step begins with: nothing, constants or inputs."""
        kind = self.draw.choice(["none", "constant", "input"])
        for name in names:
            values = self.draw.floats([self.directions, self.batch, self.hidden], 0.5)
            if kind == "none":
                self.tensors.append("")
            elif kind == "constant":
                self.tensors.append(self.file.constant(name, values))
            else:
                self.tensors.append(self.file.input(name, values, has_batch=False))

    def functions(self) -> None:
        if self.draw.chance(0.3):
            count = FUNCTIONS[self.operator] * self.directions
            # The runtime's RNN takes 0 for numbers that are not given, against the standard, and may end where
            # some are.
            known = NAMES[:-1] if self.operator == "RNN" else NAMES
            names = [self.draw.choice(known) for _ in range(count)]
            self.attributes["activations"] = names
            hard = names.count("HardSigmoid")
            if hard:
                self.attributes["activation_alpha"] = [self.draw.real(0.1, 0.5) for _ in range(hard)]
                self.attributes["activation_beta"] = [self.draw.real(0.3, 0.7) for _ in range(hard)]
        if self.draw.chance(0.2):
            self.attributes["clip"] = self.draw.real(0.3, 2)

    def finish(self, results: list[str]) -> None:
        """Adds the node with some of its results."""
        read = [name for name in results if self.draw.chance(0.6)] or [results[0]]
        # With one step, the first and the second result have the same elements.
        if self.steps == 1 and self.directions == 1:
            read = read[:1]
        while self.tensors and not self.tensors[-1]:
            self.tensors.pop()
        names = [name if name in read else "" for name in results]
        self.file.nodes_with_outputs(self.operator, self.tensors, names, **self.attributes)
        for name in read:
            self.file.output(name, "float32")


@onnx("RNN", oldest=7, weight=2)
def rnn(draw: Draw, types: str, file: OnnxFile) -> None:
    node = Recurrence(draw, file, "RNN")
    node.states(["h"])
    node.functions()
    node.finish(["y", "y_h"])


@onnx("GRU", oldest=7, weight=3)
def gru(draw: Draw, types: str, file: OnnxFile) -> None:
    node = Recurrence(draw, file, "GRU")
    node.states(["h"])
    node.functions()
    if draw.chance(0.6):
        node.attributes["linear_before_reset"] = 1
    node.finish(["y", "y_h"])


@onnx("LSTM", oldest=7, weight=4)
def lstm(draw: Draw, types: str, file: OnnxFile) -> None:
    node = Recurrence(draw, file, "LSTM")
    node.states(["h", "c"])
    node.functions()
    if draw.chance(0.2):
        node.tensors.append(file.constant("p", draw.floats([node.directions, 3 * node.hidden], 0.3)))
    if draw.chance(0.15):
        node.attributes["input_forget"] = 1
    node.finish(["y", "y_h", "y_c"])
