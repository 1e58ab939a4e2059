"""Operators that find places by indices, sort, reverse, or work on bits."""

import numpy as np

from draw import Draw
from tflite_file import TfliteFile
from tflite_operators.registry import tflite
from tflite_operators.shapes import MOVED, Move


def _indices(draw: Draw, file: TfliteFile, values: np.ndarray, name: str = "indices") -> int:
    """A constant, or an input of the network."""
    if draw.chance(0.5):
        return file.input(name, values.astype(np.int32))
    return file.constant(name, values.astype(np.int32))


@tflite("GATHER_batch_dims", *MOVED)
def gather_with_batch(draw: Draw, types: str) -> TfliteFile:
    """Indices of their own for each index of the first axes."""
    move = Move(draw, types, draw.shape((2, 4), (2, 5)))
    axis = draw.integer(1, len(move.shape) - 1)
    batch = draw.integer(1, axis)
    rows = move.shape[:batch] + [draw.integer(1, 4) for _ in range(draw.integer(0, 2))]
    indices = draw.integers(rows, 0, move.shape[axis] - 1, "int32")
    inputs = [move.input, _indices(draw, move.file, indices)]
    move.file.operator(
        "GATHER", inputs, [move.output()], "GatherOptions", axis=axis, batch_dims=batch
    )
    return move.file


@tflite("EMBEDDING_LOOKUP", "float32")
def embedding_lookup(draw: Draw, types: str) -> TfliteFile:
    file = TfliteFile()
    rows, columns = draw.integer(2, 9), draw.integer(1, 6)
    indices = draw.integers([draw.integer(1, 6)], 0, rows - 1, "int32")
    table = file.constant("table", draw.floats([rows, columns]))
    found = file.value("found", "float32")
    file.operator("EMBEDDING_LOOKUP", [file.input("indices", indices), table], [found])
    other = file.input("other", draw.floats([indices.size, columns]))
    output = file.output("output", "float32")
    file.operator("ADD", [found, other], [output], "AddOptions", fused_activation_function=0)
    return file


@tflite("TOPK_V2", "float32", "int8", "uint8")
def top_k(draw: Draw, types: str) -> TfliteFile:
    move = Move(draw, types, draw.shape((1, 4), (1, 7)))
    k = move.file.constant("k", np.array(draw.integer(1, move.shape[-1]), np.int32))
    outputs = [move.output("values"), move.file.output("places", "int32")]
    move.file.operator("TOPK_V2", [move.input, k], outputs, "TopKV2Options")
    return move.file


@tflite("SCATTER_ND", "float32")
def scatter_nd(draw: Draw, types: str) -> TfliteFile:
    file = TfliteFile()
    shape = draw.shape((1, 4), (1, 6))
    axes = draw.integer(1, len(shape))
    rows = [draw.integer(1, 5)]
    columns = [draw.integers(rows, 0, extent - 1, "int32") for extent in shape[:axes]]
    inputs = [
        _indices(draw, file, np.stack(columns, axis=-1)),
        file.input("updates", draw.floats([*rows, *shape[axes:]])),
        file.integers("shape", shape),
    ]
    output = file.output("output", "float32")
    file.operator("SCATTER_ND", inputs, [output], "ScatterNdOptions")
    return file


@tflite("SEGMENT_SUM", "float32")
def segment_sum(draw: Draw, types: str) -> TfliteFile:
    file = TfliteFile()
    shape = [draw.integer(1, 6), *draw.shape((1, 3), (1, 5))]
    segments = np.cumsum(draw.integers([shape[0]], 0, 2, "int32")).astype(np.int32)
    segments -= segments[0]  # the runtime begins with 0
    inputs = [file.input("input", draw.floats(shape)), file.constant("segments", segments)]
    output = file.output("output", "float32")
    file.operator("SEGMENT_SUM", inputs, [output], "SegmentSumOptions")
    return file


@tflite("BITWISE_XOR", "int32")
def bitwise_xor(draw: Draw, types: str) -> TfliteFile:
    file = TfliteFile()
    shape = draw.shape((1, 4), (1, 6))
    inputs = [file.input(name, draw.integers(shape, -(2**23), 2**23, "int32")) for name in "ab"]
    file.operator("BITWISE_XOR", inputs, [file.output("output", "int32")], "BitwiseXorOptions")
    return file


@tflite("RIGHT_SHIFT", "int32")
def right_shift(draw: Draw, types: str) -> TfliteFile:
    file = TfliteFile()
    shape = draw.shape((1, 4), (1, 6))
    inputs = [
        file.input("numbers", draw.integers(shape, -(2**23), 2**23, "int32")),
        file.input("places", draw.integers(shape, 0, 31, "int32")),
    ]
    file.operator("RIGHT_SHIFT", inputs, [file.output("output", "int32")], "RightShiftOptions")
    return file


@tflite("WHERE", "float32")
def where(draw: Draw, types: str) -> TfliteFile:
    """The places of a constant's true elements, of which another node takes the slices."""
    file = TfliteFile()
    shape = draw.shape((2, 3), (2, 5))
    condition = draw.floats(shape[:-1]) > 0
    condition.flat[0] = True
    found, places = file.value("found", "int64"), file.value("places", "int32")
    file.operator("WHERE", [file.constant("condition", condition)], [found], "WhereOptions")
    file.operator("CAST", [found], [places], "CastOptions")
    inputs = [file.input("input", draw.floats(shape)), places]
    file.operator("GATHER_ND", inputs, [file.output("output", "float32")], "GatherNdOptions")
    return file


@tflite("REVERSE_SEQUENCE", "float32", "uint8", "int16")
def reverse_sequence(draw: Draw, types: str) -> TfliteFile:
    move = Move(draw, types, draw.shape((2, 4), (2, 6)))
    time, batch = draw.permutation(len(move.shape))[:2]
    lengths = draw.integers([move.shape[batch]], 0, move.shape[time], "int32")
    inputs = [move.input, _indices(draw, move.file, lengths, "lengths")]
    move.file.operator(
        "REVERSE_SEQUENCE",
        inputs,
        [move.output()],
        "ReverseSequenceOptions",
        seq_dim=time,
        batch_dim=batch,
    )
    return move.file
