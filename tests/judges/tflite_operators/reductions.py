"""Reductions over axes, and the index of the largest and smallest element."""

import numpy as np

from draw import Draw
from tflite_file import Quantization, TfliteFile, any_quantization, covering, real_range
from tflite_operators.registry import tflite


def _axes(draw: Draw, rank: int) -> list[int]:
    if rank == 4 and draw.chance(0.5):
        return [1, 2]
    axes = draw.subset(range(1, rank)) if draw.chance(0.9) else list(range(rank))
    return [axis - rank for axis in axes] if draw.chance(0.3) else axes


class Reduction:
    """A file with one input that a reduction takes."""

    def __init__(self, draw: Draw, types: str) -> None:
        self.draw, self.types = draw, types
        self.file = TfliteFile()
        shape = draw.image(sides=(1, 8)) if draw.chance(0.6) else draw.shape((2, 4), (1, 6))
        self.quantization = any_quantization(draw, types)
        self.input = self.file.input("input", draw.stored(shape, types), self.quantization)
        self.axes = _axes(draw, len(shape))
        self.count = 1
        for axis in self.axes:
            self.count *= shape[axis]

    def finish(self, name: str, quantization: Quantization | None) -> TfliteFile:
        self.file.operator(
            name,
            [self.input, self.file.integers("axes", self.axes)],
            [self.file.output("output", self.types, quantization)],
            "ReducerOptions",
            version=2,
            keep_dims=self.draw.chance(0.5),
        )
        return self.file


@tflite("MEAN", "float32", "int8", "uint8", "int16", weight=3)
def mean(draw: Draw, types: str) -> TfliteFile:
    reduction = Reduction(draw, types)
    quantization = reduction.quantization
    if quantization is not None and draw.chance(0.6):
        low, high = real_range(quantization, types)
        narrower = 2 * reduction.count**-0.5
        middle = (low + high) / 2
        half = (high - low) / 2 * min(narrower, 1.0)
        quantization = covering(draw, types, middle - half, middle + half)
    return reduction.finish("MEAN", quantization)


@tflite("SUM", "float32", "int8", "uint8")
def sum_(draw: Draw, types: str) -> TfliteFile:
    reduction = Reduction(draw, types)
    quantization = reduction.quantization
    if quantization is not None and draw.chance(0.85):
        low, high = real_range(quantization, types)
        middle = (low + high) / 2 * reduction.count
        # Many sums of the narrowest range are outside, none of the widest.
        half = (high - low) / 2 * reduction.count ** draw.choice([0.1, 0.5, 1.0])
        quantization = covering(draw, types, middle - half, middle + half)
    return reduction.finish("SUM", quantization)


@tflite("REDUCE_MAX", "float32", "int8", "uint8", "int16")
def reduce_max(draw: Draw, types: str) -> TfliteFile:
    reduction = Reduction(draw, types)
    return reduction.finish("REDUCE_MAX", reduction.quantization)


@tflite("REDUCE_MIN", "float32", "int8", "uint8", "int16")
def reduce_min(draw: Draw, types: str) -> TfliteFile:
    reduction = Reduction(draw, types)
    return reduction.finish("REDUCE_MIN", reduction.quantization)


@tflite("CUMSUM", "float32", "int32")
def cumulative_sum(draw: Draw, types: str) -> TfliteFile:
    file = TfliteFile()
    shape = draw.shape((1, 4), (1, 7))
    values = draw.floats(shape) if types == "float32" else draw.integers(shape, -(2**20), 2**20, "int32")
    axis = draw.integer(-len(shape), len(shape) - 1)
    inputs = [file.input("input", values), file.constant("axis", np.array(axis, np.int32))]
    file.operator(
        "CUMSUM",
        inputs,
        [file.output("output", types)],
        "CumsumOptions",
        exclusive=draw.chance(0.4),
        reverse=draw.chance(0.4),
    )
    return file


@tflite("REDUCE_PROD", "float32")
def reduce_prod(draw: Draw, types: str) -> TfliteFile:
    return Reduction(draw, types).finish("REDUCE_PROD", None)


def _index(name: str, options: str, draw: Draw, types: str) -> TfliteFile:
    file = TfliteFile()
    shape = draw.shape((2, 4), (1, 9))
    values = file.input("input", draw.stored(shape, types), any_quantization(draw, types))
    axis = draw.integer(1, len(shape) - 1)
    result = draw.choice(["int32", "int64"])
    file.operator(
        name,
        [values, file.integers("axis", [axis - len(shape) if draw.chance(0.5) else axis])],
        [file.output("output", result)],
        options,
        output_type=2 if result == "int32" else 4,
    )
    return file


@tflite("ARG_MAX", "float32", "int8", "uint8")
def arg_max(draw: Draw, types: str) -> TfliteFile:
    return _index("ARG_MAX", "ArgMaxOptions", draw, types)


@tflite("ARG_MIN", "float32", "int8", "uint8")
def arg_min(draw: Draw, types: str) -> TfliteFile:
    return _index("ARG_MIN", "ArgMinOptions", draw, types)
