"""Recurrent layers."""

from collections.abc import Callable

import numpy as np

from draw import Draw
from tflite_file import ABSENT, Quantization, TfliteFile, any_quantization, covering
from tflite_operators.registry import RELU, RELU6, RELU_N1_TO_1, tflite

TANH = 4
INPUT, FORGET, CELL, OUTPUT = range(4)
# Of the integers that the gates' functions read, without normalization.
GATE_SCALE = 2.0**-12

# Makes the constant of a gate and returns its tensor.
MakeConstant = Callable[[int], int]


class Lstm:
    """A layer of a random form: the inputs of its node in the order of the file."""

    source: int  # the sequence

    def __init__(self, draw: Draw, types: str) -> None:
        self.draw, self.types, self.file = draw, types, TfliteFile()
        self.is_time_major = draw.chance(0.3)
        self.steps, self.batch = draw.integer(1, 9), draw.choice([1, 1, 1, 2, 3])
        self.couples_gates, self.has_peepholes = draw.chance(0.25), draw.chance(0.3)
        self.projects, self.normalizes = draw.chance(0.3), draw.chance(0.25)
        # Of few real numbers, the normalized ones depend on the last bits of their sums.
        fewest = 6 if self.normalizes and types != "int8" else 1
        self.inputs, self.cells = draw.integer(1, 30), draw.integer(fewest, 20)
        # The runtime takes the number of results for that of the cells where it reads peepholes of integers.
        is_square = types == "int8" and self.has_peepholes
        self.outputs = draw.integer(1, 20) if self.projects and not is_square else self.cells

    def gates(self) -> list[int]:
        return [FORGET, CELL, OUTPUT] if self.couples_gates else [INPUT, FORGET, CELL, OUTPUT]

    def extents(self) -> list[int]:
        order = [self.steps, self.batch] if self.is_time_major else [self.batch, self.steps]
        return [*order, self.inputs]

    def finish(self, parts: dict[str, list[int]], states: list[int], output: int) -> TfliteFile:
        """Adds the node. `parts` has the constants of each kind by gate."""
        inputs = [
            self.source,
            *parts["input"],
            *parts["state"],
            parts["peephole"][INPUT],
            parts["peephole"][FORGET],
            parts["peephole"][OUTPUT],
            *parts["bias"],
            *parts["projection"],
            *states,
            *parts["normalization"],
        ]
        if not self.normalizes and self.draw.chance(0.3):
            inputs = inputs[:20]
        function = TANH
        if self.types != "int8":
            function = self.draw.choice([TANH, TANH, RELU, RELU_N1_TO_1, RELU6])
        self.file.operator(
            "UNIDIRECTIONAL_SEQUENCE_LSTM",
            inputs,
            [output],
            "UnidirectionalSequenceLSTMOptions",
            version=3,  # of the last one, there is no reference kernel
            fused_activation_function=function,
            cell_clip=self.draw.choice([0.0, 0.0, 10.0, self.draw.real(0.1, 1)]),
            proj_clip=self.draw.choice([0.0, 0.0, self.draw.real(0.1, 1)]) if self.projects else 0.0,
            time_major=self.is_time_major,
        )
        return self.file

    def by_gate(self, make: MakeConstant, kinds: list[int]) -> list[int]:
        """The constants that `make` gives for the gates of a kind; ABSENT for the others."""
        return [make(gate) if gate in kinds else ABSENT for gate in range(4)]

    def peepholes(self) -> list[int]:
        return [gate for gate in self.gates() if gate != CELL] if self.has_peepholes else []


class FloatLstm(Lstm):
    """Of float32; its weights are int8 if it is hybrid."""

    def make(self) -> TfliteFile:
        self.source = self.file.input("input", self.draw.floats(self.extents()))
        normalized = self.gates() if self.normalizes else []
        parts = {
            "input": self.by_gate(self.matrix("w", self.cells, self.inputs), self.gates()),
            "state": self.by_gate(self.matrix("r", self.cells, self.outputs), self.gates()),
            "peephole": self.by_gate(
                lambda gate: self.weights(f"p{gate}", [self.cells], 0.3), self.peepholes()
            ),
            "bias": self.by_gate(lambda gate: self.floats(f"b{gate}", [self.cells], 0.3), self.gates()),
            "normalization": self.by_gate(lambda gate: self.floats(f"n{gate}", [self.cells], 1), normalized),
            "projection": [ABSENT, ABSENT],
        }
        if self.projects:
            spread = self.cells**-0.5
            parts["projection"][0] = self.weights("projection", [self.outputs, self.cells], spread)
            if self.draw.chance(0.5):
                parts["projection"][1] = self.floats("projection_bias", [self.outputs], 0.3)
        states = [
            self.file.variable("state", "float32", [self.batch, self.outputs]),
            self.file.variable("cell", "float32", [self.batch, self.cells]),
        ]
        return self.finish(parts, states, self.file.output("output", "float32"))

    def matrix(self, name: str, rows: int, columns: int) -> MakeConstant:
        return lambda gate: self.weights(f"{name}{gate}", [rows, columns], columns**-0.5)

    def floats(self, name: str, shape: list[int], spread: float) -> int:
        return self.file.constant(name, self.draw.floats(shape, spread))

    def weights(self, name: str, shape: list[int], spread: float) -> int:
        numbers = self.draw.floats(shape, spread)
        if self.types == "float32":
            return self.file.constant(name, numbers)
        scale = float(np.float32(np.abs(numbers).max() / 127 + 1e-6))
        return self.file.constant(name, np.rint(numbers / scale).astype(np.int8), Quantization([scale], [0]))


class IntegerLstm(Lstm):
    """Of int8, with a cell of int16."""

    def make(self) -> TfliteFile:
        draw, file = self.draw, self.file
        quantization = any_quantization(draw, "int8")
        assert quantization is not None
        self.source = file.input("input", draw.stored(self.extents(), "int8"), quantization)
        self.cell_scale = 2.0 ** draw.integer(-15, -9)
        # Without a projection, both are the result.
        self.state = self.of_results()
        self.hidden = self.of_results() if self.projects else self.state
        spread = 74 * quantization.scales[0] * self.inputs**0.5
        # Results of the gates' products, before their functions or their normalization.
        self.gate_scale = [GATE_SCALE] * 4
        if self.normalizes:
            self.gate_scale = [float(np.float32(draw.real(1, 8) / 2**14)) for _ in range(4)]
        self.weight_scale = float(np.float32(draw.real(0.5, 3) / (spread * 74)))
        self.bias_scale = float(np.float32(self.weight_scale) * np.float32(quantization.scales[0]))
        of_state = float(np.float32(draw.real(0.2, 2) / 74 / self.outputs**0.5))
        normalized = self.gates() if self.normalizes else []
        parts = {
            "input": self.by_gate(self.matrix("w", self.inputs, self.weight_scale), self.gates()),
            "state": self.by_gate(self.matrix("r", self.outputs, of_state), self.gates()),
            "peephole": self.by_gate(self.peephole, self.peepholes()),
            "bias": self.by_gate(self.bias, self.gates()),
            "normalization": self.by_gate(self.normalization, normalized),
            "projection": self.projection(),
        }
        states = [
            file.variable("state", "int8", [self.batch, self.outputs], self.state),
            file.variable("cell", "int16", [self.batch, self.cells], Quantization([self.cell_scale], [0])),
        ]
        self.finish(parts, states, file.output("output", "int8", self.state))
        self.add_intermediates()
        return file

    def of_results(self) -> Quantization:
        """Of numbers between -1 and 1, of which the outer ones may saturate."""
        found = covering(self.draw, "int8", -self.draw.real(0.3, 1), self.draw.real(0.3, 1))
        assert found is not None  # as it is for floats
        return found

    def matrix(self, name: str, columns: int, scale: float) -> MakeConstant:
        def make(gate: int) -> int:
            own = float(np.float32(scale * self.draw.real(0.7, 1.4)))
            numbers = self.draw.integers([self.cells, columns], -127, 127, "int8")
            return self.file.constant(f"{name}{gate}", numbers, Quantization([own], [0]))

        return make

    def peephole(self, gate: int) -> int:
        scale = float(np.float32(self.draw.real(0.1, 1) / 32767))
        numbers = self.draw.stored([self.cells], "int16")
        return self.file.constant(f"p{gate}", numbers, Quantization([scale], [0]))

    def bias(self, gate: int) -> int:
        scale = self.normalization_scale(gate) / 2**10 if self.normalizes else self.bias_scale
        largest = min(2 / scale, 2.0**30)
        numbers = self.draw.random.uniform(-largest, largest, self.cells).astype(np.int32)
        return self.file.constant(f"b{gate}", numbers, Quantization([float(scale)], [0]))

    def normalization_scale(self, gate: int) -> float:
        return float(np.float32((1 + gate) / 32767))

    def normalization(self, gate: int) -> int:
        numbers = self.draw.stored([self.cells], "int16")
        quantization = Quantization([self.normalization_scale(gate)], [0])
        return self.file.constant(f"n{gate}", numbers, quantization)

    def projection(self) -> list[int]:
        if not self.projects:
            return [ABSENT, ABSENT]
        scale = float(np.float32(self.draw.real(0.3, 3) / 74 / self.cells**0.5))
        numbers = self.draw.integers([self.outputs, self.cells], -127, 127, "int8")
        weights = self.file.constant("projection", numbers, Quantization([scale], [0]))
        if self.draw.chance(0.5):
            return [weights, ABSENT]
        bias_scale = float(np.float32(scale) * np.float32(self.hidden.scales[0]))
        largest = 0.5 / bias_scale
        numbers = self.draw.random.uniform(-largest, largest, self.outputs).astype(np.int32)
        return [weights, self.file.constant("projection_bias", numbers, Quantization([bias_scale], [0]))]

    def add_intermediates(self) -> None:
        """What the runtime must know of values between the node's inputs and its result."""
        numbers = []
        for gate, name in enumerate(["input", "forget", "cell", "output"]):
            of_gate = Quantization([self.gate_scale[gate]], [0]) if self.normalizes else None
            numbers.append(self.intermediate(name, "int16" if self.normalizes else "float32", of_gate))
        numbers.append(self.intermediate("hidden", "int8", self.hidden))
        self.file.graph.operators[-1].intermediates = numbers

    def intermediate(self, name: str, type_name: str, quantization: Quantization | None) -> int:
        number = self.file.value(name, type_name, quantization)
        self.file.set_shape(number, [0])
        return number


@tflite("UNIDIRECTIONAL_SEQUENCE_LSTM", "float32", "hybrid", "int8", weight=4)
def unidirectional_sequence_lstm(draw: Draw, types: str) -> TfliteFile:
    """One call, with states of 0 before it."""
    return IntegerLstm(draw, types).make() if types == "int8" else FloatLstm(draw, types).make()
