"""Operators that move numbers without computing: shapes, slices, padding, joins."""

from collections.abc import Sequence

import numpy as np

from draw import Draw
from tflite_file import Quantization, TfliteFile, any_quantization
from tflite_operators.registry import tflite

MOVED = ("float32", "int8", "uint8", "int16")


class Move:
    """A file with one input; its outputs have the input's type and quantization."""

    def __init__(self, draw: Draw, types: str, shape: Sequence[int]) -> None:
        self.file = TfliteFile()
        self.types = types
        self.shape = list(shape)
        self.quantization: Quantization | None = any_quantization(draw, types)
        self.input = self.file.input("input", draw.stored(shape, types), self.quantization)

    def output(self, name: str = "output") -> int:
        return self.file.output(name, self.types, self.quantization)


@tflite("RESHAPE", *MOVED)
def reshape(draw: Draw, types: str) -> TfliteFile:
    move = Move(draw, types, draw.shape((2, 4), (1, 6)))
    count = int(np.prod(move.shape))
    factors = [n for n in range(1, count + 1) if count % n == 0]
    first = draw.choice(factors)
    shape = draw.choice([[1, count], [1, first, count // first], [first, count // first]])
    written = list(shape)
    if draw.chance(0.4):
        written[draw.integer(0, len(written) - 1)] = -1
    inputs = [move.input, move.file.integers("shape", written)]
    move.file.operator("RESHAPE", inputs, [move.output()], "ReshapeOptions", new_shape=written)
    return move.file


@tflite("SQUEEZE", *MOVED)
def squeeze(draw: Draw, types: str) -> TfliteFile:
    shape = [1] + [draw.choice([1, draw.integer(2, 6)]) for _ in range(draw.integer(1, 3))]
    shape.append(draw.integer(2, 6))
    move = Move(draw, types, shape)
    ones = [axis for axis, extent in enumerate(shape) if extent == 1]
    axes = [] if draw.chance(0.2) else draw.subset(ones)
    if axes and draw.chance(0.3):
        axes = [axis - len(shape) for axis in axes]
    move.file.operator(
        "SQUEEZE", [move.input], [move.output()], "SqueezeOptions", squeeze_dims=axes
    )
    return move.file


@tflite("EXPAND_DIMS", *MOVED)
def expand_dims(draw: Draw, types: str) -> TfliteFile:
    move = Move(draw, types, draw.shape((1, 4)))
    axis = move.file.integers("axis", [draw.integer(-1, len(move.shape))])
    move.file.operator("EXPAND_DIMS", [move.input, axis], [move.output()], "ExpandDimsOptions")
    return move.file


@tflite("TRANSPOSE", *MOVED, weight=2)
def transpose(draw: Draw, types: str) -> TfliteFile:
    move = Move(draw, types, draw.shape((2, 5), (1, 6)))
    rank = len(move.shape)
    order = draw.permutation(rank)
    if draw.chance(0.5):
        order = [0] + [axis + 1 for axis in draw.permutation(rank - 1)]
    inputs = [move.input, move.file.integers("order", order)]
    move.file.operator("TRANSPOSE", inputs, [move.output()], "TransposeOptions")
    return move.file


@tflite("DEPTH_TO_SPACE", "float32", "int8", "uint8")
def depth_to_space(draw: Draw, types: str) -> TfliteFile:
    block = draw.integer(2, 3)
    batch, height, width, channels = draw.image(sides=(1, 6), channels=(1, 4))
    move = Move(draw, types, [batch, height, width, channels * block * block])
    move.file.operator(
        "DEPTH_TO_SPACE", [move.input], [move.output()], "DepthToSpaceOptions", block_size=block
    )
    return move.file


@tflite("SPACE_TO_DEPTH", "float32", "int8", "uint8")
def space_to_depth(draw: Draw, types: str) -> TfliteFile:
    block = draw.integer(2, 3)
    batch, height, width, channels = draw.image(sides=(1, 5), channels=(1, 5))
    move = Move(draw, types, [batch, height * block, width * block, channels])
    move.file.operator(
        "SPACE_TO_DEPTH", [move.input], [move.output()], "SpaceToDepthOptions", block_size=block
    )
    return move.file


@tflite("SPACE_TO_BATCH_ND", *MOVED)
def space_to_batch(draw: Draw, types: str) -> TfliteFile:
    """Blocks become images and, in a second operator, an image again, as in dilated layers."""
    block = [draw.integer(1, 3), draw.integer(1, 3)]
    move = Move(draw, types, draw.image(sides=(3, 9)))
    before = [draw.integer(0, 2), draw.integer(0, 2)]
    after = [
        -(move.shape[1 + side] + before[side]) % block[side] + draw.integer(0, 1) * block[side]
        for side in range(2)
    ]
    paddings = np.array([[before[0], after[0]], [before[1], after[1]]], dtype=np.int32)
    sides = move.file.integers("block", block)
    blocks = move.file.value("blocks", types, move.quantization)
    inputs = [move.input, sides, move.file.constant("paddings", paddings)]
    move.file.operator("SPACE_TO_BATCH_ND", inputs, [blocks], "SpaceToBatchNDOptions")
    crops = move.file.constant("crops", paddings if draw.chance(0.7) else paddings * 0)
    move.file.operator(
        "BATCH_TO_SPACE_ND", [blocks, sides, crops], [move.output()], "BatchToSpaceNDOptions"
    )
    return move.file


def _paddings(draw: Draw, shape: Sequence[int], largest: Sequence[int]) -> np.ndarray:
    rows = []
    for axis in range(len(shape)):
        limit = largest[axis] if axis > 0 or draw.chance(0.1) else 0
        rows.append(
            [draw.integer(0, limit), draw.integer(0, limit)] if draw.chance(0.7) else [0, 0]
        )
    return np.array(rows, dtype=draw.choice(["int32", "int32", "int64"]))


@tflite("PAD", *MOVED)
def pad(draw: Draw, types: str) -> TfliteFile:
    move = Move(draw, types, draw.shape((2, 4), (1, 7)))
    paddings = _paddings(draw, move.shape, [3] * len(move.shape))
    inputs = [move.input, move.file.constant("paddings", paddings)]
    move.file.operator("PAD", inputs, [move.output()], "PadOptions", version=2)
    return move.file


@tflite("PADV2", *MOVED)
def pad_with_value(draw: Draw, types: str) -> TfliteFile:
    move = Move(draw, types, draw.shape((2, 4), (1, 7)))
    paddings = _paddings(draw, move.shape, [3] * len(move.shape))
    value = move.file.constant("value", draw.stored([1], types), move.quantization)
    inputs = [move.input, move.file.constant("paddings", paddings), value]
    move.file.operator("PADV2", inputs, [move.output()], "PadV2Options", version=2)
    return move.file


@tflite("MIRROR_PAD", "float32", "int8", "uint8")
def mirror_pad(draw: Draw, types: str) -> TfliteFile:
    move = Move(draw, types, draw.shape((2, 4), (2, 7)))
    symmetric = draw.chance(0.5)
    largest = [min(extent - (0 if symmetric else 1), 3) for extent in move.shape]
    paddings = _paddings(draw, move.shape, largest)
    inputs = [move.input, move.file.constant("paddings", paddings)]
    move.file.operator(
        "MIRROR_PAD", inputs, [move.output()], "MirrorPadOptions", mode=1 if symmetric else 0
    )
    return move.file


@tflite("SLICE", *MOVED)
def slice_(draw: Draw, types: str) -> TfliteFile:
    move = Move(draw, types, draw.shape((1, 4), (1, 8)))
    begin = [draw.integer(0, extent - 1) for extent in move.shape]
    size = [draw.integer(1, extent - at) for extent, at in zip(move.shape, begin)]
    written = [
        -1 if at + n == extent and draw.chance(0.5) else n
        for extent, at, n in zip(move.shape, begin, size)
    ]
    inputs = [move.input, move.file.integers("begin", begin), move.file.integers("size", written)]
    move.file.operator("SLICE", inputs, [move.output()], "SliceOptions")
    return move.file


@tflite("STRIDED_SLICE", *MOVED, weight=2)
def strided_slice(draw: Draw, types: str) -> TfliteFile:
    move = Move(draw, types, draw.shape((1, 4), (2, 8)))
    begin, end, strides = [], [], []
    for extent in move.shape:
        stride = draw.choice([1, 1, 1, 2, 3, -1, -2])
        first, last = sorted([draw.integer(0, extent - 1), draw.integer(0, extent - 1)])
        if stride < 0:
            first, last = last, first
        stop = last + (1 if stride > 0 else -1)
        begin.append(first - extent if draw.chance(0.2) else first)
        end.append(stop if stop >= 0 else -extent - 1)
        strides.append(stride)
    masks = [draw.integer(0, 2 ** len(begin) - 1) if draw.chance(0.4) else 0 for _ in range(2)]
    dropped = 0
    for axis, extent in enumerate(move.shape):
        if axis > 0 and draw.chance(0.15):
            # An axis that goes takes one index, with stride 1.
            dropped |= 1 << axis
            begin[axis] = draw.integer(0, extent - 1)
            end[axis], strides[axis] = begin[axis] + 1, 1
            masks = [mask & ~(1 << axis) for mask in masks]
    inputs = [
        move.input,
        move.file.integers("begin", begin),
        move.file.integers("end", end),
        move.file.integers("strides", strides),
    ]
    move.file.operator(
        "STRIDED_SLICE",
        inputs,
        [move.output()],
        "StridedSliceOptions",
        version=2,
        begin_mask=masks[0],
        end_mask=masks[1],
        shrink_axis_mask=dropped,
    )
    return move.file


@tflite("SPLIT", *MOVED)
def split(draw: Draw, types: str) -> TfliteFile:
    parts = draw.integer(1, 4)
    shape = draw.shape((2, 4), (1, 5))
    axis = draw.integer(1, len(shape) - 1)
    shape[axis] = parts * draw.integer(1, 4)
    move = Move(draw, types, shape)
    written = axis - len(shape) if draw.chance(0.3) else axis
    move.file.operator(
        "SPLIT",
        [move.file.integers("axis", [written]), move.input],
        [move.output(f"output_{part}") for part in range(parts)],
        "SplitOptions",
        num_splits=parts,
    )
    return move.file


@tflite("SPLIT_V", *MOVED)
def split_by_sizes(draw: Draw, types: str) -> TfliteFile:
    sizes = [draw.integer(1, 4) for _ in range(draw.integer(1, 4))]
    shape = draw.shape((2, 4), (1, 5))
    axis = draw.integer(1, len(shape) - 1)
    shape[axis] = sum(sizes)
    move = Move(draw, types, shape)
    if draw.chance(0.3):
        sizes[draw.integer(0, len(sizes) - 1)] = -1
    inputs = [move.input, move.file.integers("sizes", sizes), move.file.integers("axis", [axis])]
    move.file.operator(
        "SPLIT_V",
        inputs,
        [move.output(f"output_{part}") for part in range(len(sizes))],
        "SplitVOptions",
        num_splits=len(sizes),
    )
    return move.file


@tflite("GATHER", *MOVED)
def gather(draw: Draw, types: str) -> TfliteFile:
    move = Move(draw, types, draw.shape((1, 4), (2, 7)))
    axis = draw.integer(0, len(move.shape) - 1)
    shape = draw.choice([[], [draw.integer(1, 5)], [draw.integer(1, 3), draw.integer(1, 3)]])
    if axis == 0 and not shape:
        shape = [draw.integer(1, 5)]
    indices = draw.integers(shape, 0, move.shape[axis] - 1, draw.choice(["int32", "int64"]))
    if draw.chance(0.3):
        named = move.file.input("indices", indices.astype(np.int32))
    else:
        named = move.file.constant("indices", indices)
    inputs = [move.input, named]
    written = axis - len(move.shape) if draw.chance(0.3) else axis
    move.file.operator("GATHER", inputs, [move.output()], "GatherOptions", axis=written)
    return move.file


@tflite("GATHER_ND", *MOVED)
def gather_nd(draw: Draw, types: str) -> TfliteFile:
    move = Move(draw, types, draw.shape((1, 4), (2, 6)))
    axes = draw.integer(1, len(move.shape))
    rows = draw.choice([[draw.integer(1, 5)], [draw.integer(1, 3), draw.integer(1, 3)]])
    columns = [draw.integers(rows, 0, move.shape[axis] - 1, "int32") for axis in range(axes)]
    indices = np.stack(columns, axis=-1).astype(draw.choice(["int32", "int64"]))
    if draw.chance(0.3):
        named = move.file.input("indices", indices.astype(np.int32))
    else:
        named = move.file.constant("indices", indices)
    move.file.operator("GATHER_ND", [move.input, named], [move.output()], "GatherNdOptions")
    return move.file


@tflite("ONE_HOT", "float32", "int8", "uint8")
def one_hot(draw: Draw, types: str) -> TfliteFile:
    file = TfliteFile()
    depth = draw.integer(1, 7)
    # Some are beyond the ends.
    indices = draw.integers(draw.shape((1, 3), (1, 5)), -2, depth + 1, "int32")
    quantization = any_quantization(draw, types)
    values = [draw.stored([], types) for _ in range(2)]
    inputs = [
        file.input("indices", indices),
        file.constant("depth", np.array(depth, np.int32)),
        file.constant("there", values[0], quantization),
        file.constant("elsewhere", values[1], quantization),
    ]
    axis = draw.choice([-1, *range(indices.ndim + 1)])
    output = file.output("output", types, quantization)
    file.operator("ONE_HOT", inputs, [output], "OneHotOptions", axis=axis)
    return file


@tflite("PACK", *MOVED)
def pack(draw: Draw, types: str) -> TfliteFile:
    move = Move(draw, types, draw.shape((1, 3), (1, 6)))
    tensors = [move.input]
    for index in range(1, draw.integer(1, 4)):
        values = draw.stored(move.shape, types)
        tensors.append(move.file.input(f"input_{index}", values, move.quantization))
    axis = draw.integer(-len(move.shape) - 1, len(move.shape))
    move.file.operator(
        "PACK", tensors, [move.output()], "PackOptions", values_count=len(tensors), axis=axis
    )
    return move.file


@tflite("UNPACK", *MOVED)
def unpack(draw: Draw, types: str) -> TfliteFile:
    shape = draw.shape((2, 4), (1, 5))
    move = Move(draw, types, shape)
    axis = draw.integer(1, len(shape) - 1)
    move.file.operator(
        "UNPACK",
        [move.input],
        [move.output(f"output_{part}") for part in range(shape[axis])],
        "UnpackOptions",
        num=shape[axis],
        axis=axis - len(shape) if draw.chance(0.3) else axis,
    )
    return move.file


@tflite("TILE", "float32", "int8", "uint8")
def tile(draw: Draw, types: str) -> TfliteFile:
    move = Move(draw, types, draw.shape((2, 4), (1, 5)))
    repeats = [1] + [draw.integer(1, 3) for _ in move.shape[1:]]
    inputs = [move.input, move.file.integers("repeats", repeats)]
    move.file.operator("TILE", inputs, [move.output()], "TileOptions")
    return move.file


@tflite("CONCATENATION", *MOVED, weight=2)
def concatenation(draw: Draw, types: str) -> TfliteFile:
    """uint8 inputs may have quantizations of their own; those of other integers are the same."""
    shape = draw.shape((2, 4), (1, 6))
    move = Move(draw, types, shape)
    axis = draw.integer(1, len(shape) - 1)
    tensors = [move.input]
    for index in range(1, draw.integer(2, 4)):
        shape[axis] = draw.integer(1, 6)
        quantization = move.quantization
        if types == "uint8" and draw.chance(0.5):
            quantization = any_quantization(draw, types)
        values = draw.stored(shape, types)
        if draw.chance(0.15):
            tensors.append(move.file.constant(f"constant_{index}", values, quantization))
        else:
            tensors.append(move.file.input(f"input_{index}", values, quantization))
    move.file.operator(
        "CONCATENATION",
        tensors,
        [move.output()],
        "ConcatenationOptions",
        axis=axis - len(shape) if draw.chance(0.5) else axis,
    )
    return move.file


@tflite("SHAPE", "float32", "int8")
def shape_arithmetic(draw: Draw, types: str) -> TfliteFile:
    """A reshape whose target is computed from the input's shape, as converters write it."""
    move = Move(draw, types, draw.image(sides=(1, 6)))
    file = move.file
    shape, first = file.value("shape", "int32"), file.value("first", "int32")
    target = file.value("target", "int32")
    file.operator("SHAPE", [move.input], [shape], "ShapeOptions", out_type=2)
    picked = [file.integers("begin", [0]), file.integers("end", [1]), file.integers("step", [1])]
    file.operator(
        "STRIDED_SLICE", [shape, *picked], [first], "StridedSliceOptions", shrink_axis_mask=1
    )
    rest = file.constant("rest", np.array(int(np.prod(move.shape[1:])), dtype=np.int32))
    file.operator("PACK", [first, rest], [target], "PackOptions", values_count=2, axis=0)
    file.operator("RESHAPE", [move.input, target], [move.output()], "ReshapeOptions", new_shape=[])
    return file


@tflite("CAST", "float32", "int8", "uint8", "int16")
def cast(draw: Draw, types: str) -> TfliteFile:
    """Integers become real numbers and the reverse; the integers are numbers, not quantized."""
    file = TfliteFile()
    shape = draw.shape()
    if types == "float32":
        values = file.input("input", draw.floats(shape, 20))
        result = draw.choice(["int32", "int32", "int16"])
    else:
        values = file.input("input", draw.stored(shape, types))
        result = draw.choice(["float32", "int32"])
    file.operator("CAST", [values], [file.output("output", result)], "CastOptions")
    return file


@tflite("REVERSE_V2", "float32", "int8", "uint8", "int16")
def reverse(draw: Draw, types: str) -> TfliteFile:
    move = Move(draw, types, draw.shape((2, 4), (1, 6)))
    axis = draw.integer(1, len(move.shape) - 1)
    inputs = [move.input, move.file.integers("axis", [axis])]
    move.file.operator("REVERSE_V2", inputs, [move.output()], "ReverseV2Options")
    return move.file


@tflite("BROADCAST_TO", *MOVED)
def broadcast(draw: Draw, types: str) -> TfliteFile:
    shape = draw.shape((2, 4), (1, 6))
    smaller = [extent if draw.chance(0.5) else 1 for extent in shape]
    move = Move(draw, types, smaller)
    wanted = move.file.integers("shape", shape)
    move.file.operator("BROADCAST_TO", [move.input, wanted], [move.output()], version=2)
    return move.file


def _with_constant(draw: Draw, make: str) -> TfliteFile:
    """A sum of the input and a tensor that follows from the file and from shapes alone."""
    file = TfliteFile()
    shape = draw.shape((1, 4), (1, 6))
    values = file.input("input", draw.floats(shape))
    made = file.value("made", "float32")
    if make == "FILL":
        extents = file.value("extents", "int32")
        file.operator("SHAPE", [values], [extents], "ShapeOptions", out_type=2)
        number = file.constant("number", np.float32(draw.real(-3, 3)))
        file.operator("FILL", [extents, number], [made], "FillOptions")
    elif make == "ZEROS_LIKE":
        zeros = file.value("zeros", "float32")
        file.operator("ZEROS_LIKE", [values], [zeros], "ZerosLikeOptions")
        file.operator("COS", [zeros], [made], "CosOptions")
    elif make == "RANK":
        rank = file.value("rank", "int32")
        file.operator("RANK", [values], [rank], "RankOptions")
        file.operator("CAST", [rank], [made], "CastOptions")
    else:
        count, step = shape[-1], draw.choice([1, 2, -1])
        first = draw.integer(-3, 3)
        ends = [first, first + step * count, step]
        names = ("first", "end", "step")
        if draw.chance(0.5):
            limits = [file.constant(name, np.float32(end)) for name, end in zip(names, ends)]
            file.operator("RANGE", limits, [made], "RangeOptions")
        else:
            limits = [file.constant(name, np.array(end, np.int32)) for name, end in zip(names, ends)]
            numbers = file.value("numbers", "int32")
            file.operator("RANGE", limits, [numbers], "RangeOptions")
            file.operator("CAST", [numbers], [made], "CastOptions")
    result = file.output("output", "float32")
    file.operator("ADD", [values, made], [result], "AddOptions", fused_activation_function=0)
    return file


@tflite("FILL", "float32")
def fill(draw: Draw, types: str) -> TfliteFile:
    return _with_constant(draw, "FILL")


@tflite("ZEROS_LIKE", "float32")
def zeros(draw: Draw, types: str) -> TfliteFile:
    return _with_constant(draw, "ZEROS_LIKE")


@tflite("RANK", "float32")
def rank(draw: Draw, types: str) -> TfliteFile:
    return _with_constant(draw, "RANK")


@tflite("RANGE", "float32")
def range_(draw: Draw, types: str) -> TfliteFile:
    return _with_constant(draw, "RANGE")
