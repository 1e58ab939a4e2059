"""Resizing images, with all ways to map coordinates."""

from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

import numpy as np

from draw import Draw
from onnx_file import OnnxFile
from onnx_operators.registry import image, onnx

Number = TypeVar("Number", float, Fraction)


@onnx("Upsample", newest=9)
def upsample(draw: Draw, types: str, file: OnnxFile) -> None:
    x = file.input("x", draw.floats(image(draw, sides=(1, 7))))
    scales = [1.0, 1.0, float(draw.integer(1, 3)), float(draw.integer(1, 3))]
    mode = draw.choice(["nearest", "linear"])
    if file.opset < 9:
        file.node("Upsample", [x], "y", mode=mode, scales=scales)
    else:
        factors = file.constant("scales", np.array(scales, dtype=np.float32))
        file.node("Upsample", [x, factors], "y", mode=mode)
    file.output("y", "float32")


@onnx("Resize_10", oldest=10, newest=10)
def resize_10(draw: Draw, types: str, file: OnnxFile) -> None:
    """The first Resize, which only ONNX Runtime defines."""
    shape = image(draw, sides=(1, 8))
    x = file.input("x", draw.floats(shape))
    mode = draw.choice(["nearest", "linear"])
    scales = [1.0, 1.0] + [draw.choice([1.0, 2.0, 3.0, 0.5, 1.5, 0.7]) for _ in range(2)]
    # No side may vanish.
    scales[2:] = [max(scale, 1 / side) for scale, side in zip(scales[2:], shape[2:])]
    factors = file.constant("scales", np.array(scales, dtype=np.float32))
    file.node("Resize", [x, factors], "y", mode=mode)
    file.output("y", "float32")


def _place(
    way: str,
    x: int,
    input_side: int,
    output_side: int,
    scale: Number,
    number: Callable[..., Number],
) -> Number:
    """The place in the input of an element of the result, as onnx's evaluator has it."""
    half = number(1) / 2
    width = scale * input_side
    if way == "align_corners":
        return number(0) if width == 1 else number(x) * (input_side - 1) / (width - 1)
    if way == "asymmetric":
        return number(x) / scale
    offset = number(0)
    if way == "half_pixel_symmetric":
        offset = number(input_side) / 2 * (1 - number(output_side) / width)
    return offset + (x + half) / scale - half


def _is_decided(way: str, input_side: int, output_side: int, scale: Fraction | float) -> bool:
    """Whether the evaluator, which computes in float64, finds all ties, and no others."""

    def decisions(scale: Number, number: Callable[..., Number]) -> list[tuple[object, ...]]:
        found = []
        for x in range(output_side):
            place = _place(way, x, input_side, output_side, scale, number)
            below = int(place // 1)
            rest = place - below
            found.append((below, rest == 0, rest < number(1) / 2, rest > number(1) / 2))
        return found

    return decisions(Fraction(scale), Fraction) == decisions(float(scale), float)


@onnx("Resize", oldest=11, newest=19, weight=8, judged_by_onnx=True)
def resize(draw: Draw, types: str, file: OnnxFile) -> None:
    """Small sides have many places exactly between two elements."""
    shape = [1, draw.integer(1, 2), draw.integer(1, 9), draw.integer(1, 9)]
    x = file.input("x", draw.floats(shape))
    mode = draw.choice(["nearest", "nearest", "nearest", "linear", "cubic"])
    ways = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]
    if file.opset >= 19:
        ways.append("half_pixel_symmetric")
    way = draw.choice(ways)
    attributes: dict[str, object] = {"mode": mode}
    if way != "half_pixel" or draw.chance(0.7):
        attributes["coordinate_transformation_mode"] = way
    if mode == "nearest" and draw.chance(0.8):
        roundings = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]
        attributes["nearest_mode"] = draw.choice(roundings)
    if mode == "cubic":
        attributes["cubic_coeff_a"] = draw.choice([-0.75, -0.5])
        attributes["exclude_outside"] = draw.integer(0, 1)
    given = draw.choice(["scales", "sizes"])
    scales, sizes = [1.0, 1.0], shape[:2]
    for side in shape[2:]:
        scale, size = _drawn_side(draw, given, way, side)
        scales.append(scale)
        sizes.append(size)
    # The evaluator cannot do without a region before operator set 13.
    region = file.constant("roi", np.zeros(8, dtype=np.float32)) if file.opset < 13 else ""
    if given == "scales":
        inputs = [x, region, file.constant("scales", np.array(scales, dtype=np.float32))]
    else:
        no_scales = np.zeros(0, dtype=np.float32)
        empty = file.constant("scales", no_scales) if file.opset < 13 else ""
        inputs = [x, region, empty, file.integers("sizes", sizes)]
    file.node("Resize", inputs, "y", **attributes)
    file.output("y", "float32")


def _drawn_side(draw: Draw, given: str, way: str, side: int) -> tuple[float, int]:
    while True:
        size = draw.integer(1, 19)
        scale: Fraction | float = Fraction(size, side)
        if given == "scales":
            drawn = draw.choice([1.0, 2.0, 3.0, 0.5, 0.25, 1.5, 0.75, 0.7, 1.1, 1 / 3, size / side])
            scale = float(np.float32(drawn))
            # The evaluator computes the result's extent in float64, all others in float32.
            size = int(scale * side)
            if size == 0 or size != int(np.float32(scale) * np.float32(side)):
                continue
        # Of one element, the standard's text has the place 0, and the evaluator -0.5.
        if way == "pytorch_half_pixel" and size == 1:
            continue
        if _is_decided(way, side, size, scale):
            return float(scale), size
