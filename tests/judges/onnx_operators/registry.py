"""The list of operators, and what several of them share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from draw import Draw
from onnx_file import OnnxFile

# A function draws a file for one kind of numbers; the file's opset is drawn before.
Make = Callable[[Draw, str, OnnxFile], None]

NEWEST_OPSET = 17
# QuantizeLinear and DequantizeLinear know integers of 16 bits since this opset.
OPSET_OF_16_BITS = 21


@dataclass
class OnnxOperator:
    name: str
    types: Sequence[str]
    oldest_opset: int
    newest_opset: int
    weight: int  # how many cases it gets, relative to the others
    make: Make
    judged_by_onnx: bool = False  # by onnx's reference evaluator instead of ONNX Runtime

    def opset(self, draw: Draw, types: str) -> int:
        if types in ("uint16", "int16"):
            return OPSET_OF_16_BITS
        return draw.integer(self.oldest_opset, self.newest_opset)


OPERATORS: list[OnnxOperator] = []


def onnx(
    name: str,
    *types: str,
    oldest: int = 7,
    newest: int = NEWEST_OPSET,
    weight: int = 1,
    judged_by_onnx: bool = False,
) -> Callable[[Make], Make]:
    """Registers a function that draws files of an operator; float32 if no types are given."""

    def register(make: Make) -> Make:
        kinds = types or ("float32",)
        OPERATORS.append(OnnxOperator(name, kinds, oldest, newest, weight, make, judged_by_onnx))
        return make

    return register


def image(
    draw: Draw, sides: tuple[int, int] = (3, 12), channels: tuple[int, int] = (1, 9)
) -> list[int]:
    """A shape in the order N, C, H, W."""
    batch, height, width, depth = draw.image(sides, channels)
    return [batch, depth, height, width]


def real_type(types: str) -> str:
    return "float16" if types == "float16" else "float32"


def floats(draw: Draw, shape: Sequence[int], types: str, spread: float = 1.0) -> np.ndarray:
    return draw.floats(shape, spread).astype(real_type(types))
