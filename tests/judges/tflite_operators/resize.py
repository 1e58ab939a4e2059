"""Resizing images."""

from draw import Draw
from tflite_file import TfliteFile
from tflite_operators.registry import tflite
from tflite_operators.shapes import MOVED, Move


def _resize(name: str, options: str, draw: Draw, types: str) -> TfliteFile:
    # Long sides have places that float32 rounds to another element.
    is_long = draw.chance(0.4)
    shape = draw.image(sides=(1, 60), channels=(1, 2)) if is_long else draw.image(sides=(1, 9))
    move = Move(draw, types, shape)
    height, width = move.shape[1:3]
    if is_long:
        size = [draw.integer(1, 70), draw.integer(1, 70)]
    elif draw.chance(0.5):
        factor = draw.integer(1, 4)
        size = [height * factor, width * factor]
    else:
        size = [draw.integer(1, 15), draw.integer(1, 15)]
    corners = draw.choice(["", "", "align_corners", "half_pixel_centers"])
    move.file.operator(
        name,
        [move.input, move.file.integers("size", size)],
        [move.output()],
        options,
        version=3,
        **({corners: True} if corners else {}),
    )
    return move.file


@tflite("RESIZE_BILINEAR", *MOVED, weight=2)
def resize_bilinear(draw: Draw, types: str) -> TfliteFile:
    return _resize("RESIZE_BILINEAR", "ResizeBilinearOptions", draw, types)


@tflite("RESIZE_NEAREST_NEIGHBOR", *MOVED, weight=2)
def resize_nearest_neighbor(draw: Draw, types: str) -> TfliteFile:
    return _resize("RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighborOptions", draw, types)
