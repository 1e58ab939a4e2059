"""Resizing images, with all ways to map coordinates."""

import numpy as np

from draw import Draw
from onnx_file import OnnxFile
from onnx_operators.registry import image, onnx


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


@onnx("Resize", oldest=10, weight=4)
def resize(draw: Draw, types: str, file: OnnxFile) -> None:
    shape = image(draw, sides=(1, 8))
    x = file.input("x", draw.floats(shape))
    mode = draw.choice(["nearest", "linear"])
    scales = [1.0, 1.0] + [draw.choice([1.0, 2.0, 3.0, 0.5, 1.5, 0.7]) for _ in range(2)]
    # No side may vanish.
    scales[2:] = [max(scale, 1 / side) for scale, side in zip(scales[2:], shape[2:])]
    factors = np.array(scales, dtype=np.float32)
    if file.opset == 10:
        file.node("Resize", [x, file.constant("scales", factors)], "y", mode=mode)
        file.output("y", "float32")
        return
    ways = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]
    attributes: dict[str, object] = {"mode": mode}
    if draw.chance(0.8):
        attributes["coordinate_transformation_mode"] = draw.choice(ways)
    if attributes.get("coordinate_transformation_mode") == "align_corners":
        # With a part of an element left over, ONNX's own tests and ONNX Runtime differ.
        factors = np.ceil(factors)
    if mode == "nearest" and draw.chance(0.7):
        roundings = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]
        attributes["nearest_mode"] = draw.choice(roundings)
    if file.opset < 13:
        region = file.constant("roi", np.zeros(0, dtype=np.float32))
    else:
        region = ""
    if draw.chance(0.5):
        inputs = [x, region, file.constant("scales", factors)]
    else:
        sizes = [*shape[:2], draw.integer(1, 14), draw.integer(1, 14)]
        empty = ""
        if file.opset < 13:
            empty = file.constant("scales", np.zeros(0, dtype=np.float32))
        inputs = [x, region, empty, file.integers("sizes", sizes)]
    file.node("Resize", inputs, "y", **attributes)
    file.output("y", "float32")
