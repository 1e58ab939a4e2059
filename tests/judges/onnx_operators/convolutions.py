"""Convolutions, matrix products, and their integer forms."""

import numpy as np

from draw import Draw
from onnx_file import OnnxFile
from onnx_operators.registry import floats, image, onnx, real_type


class Window:
    """Kernel, strides, dilations and padding of an image of one or two dimensions."""

    def __init__(self, draw: Draw, dimensions: int, dilated: bool = True) -> None:
        self.kernel = [draw.integer(1, 5) for _ in range(dimensions)]
        self.strides = [draw.integer(1, 3) for _ in range(dimensions)]
        self.dilations = [1] * dimensions
        if dilated and draw.chance(0.2):
            self.dilations = [draw.integer(1, 3) for _ in range(dimensions)]
        self.covered = [(k - 1) * d + 1 for k, d in zip(self.kernel, self.dilations)]
        self.sides = [draw.integer(extent, extent + 9) for extent in self.covered]
        self.pads: list[int] | None = None
        self.auto_pad: str | None = None
        kind = draw.integer(0, 5)
        if kind <= 2:
            largest = [min(extent - 1, 3) for extent in self.covered]
            self.pads = [draw.integer(0, limit) for limit in largest + largest]
        elif kind <= 4:
            self.auto_pad = draw.choice(["SAME_UPPER", "SAME_LOWER", "VALID"])
            if self.auto_pad != "VALID":
                self.dilations = [1] * dimensions

    def attributes(self, draw: Draw) -> dict[str, object]:
        """Attributes; those that have their default are left out at times."""
        found: dict[str, object] = {"kernel_shape": self.kernel}
        for name in ("strides", "dilations"):
            values = getattr(self, name)
            if any(value != 1 for value in values) or draw.chance(0.7):
                found[name] = values
        if self.pads is not None:
            found["pads"] = self.pads
        if self.auto_pad is not None:
            found["auto_pad"] = self.auto_pad
        return found


def _dimensions(draw: Draw) -> int:
    return 1 if draw.chance(0.2) else 2


def _groups(draw: Draw) -> int:
    return draw.choice([1, 1, 1, 1, 2, 3])


@onnx("Conv", "float32", "float32", "float16", weight=5)
def conv(draw: Draw, types: str, file: OnnxFile) -> None:
    window = Window(draw, _dimensions(draw))
    groups = _groups(draw)
    depthwise = draw.chance(0.25)
    if depthwise:
        groups = draw.integer(1, 9)
    inputs_a_group = 1 if depthwise else draw.integer(1, 8)
    filters = groups * (draw.choice([1, 1, 2]) if depthwise else draw.integer(1, 8))
    shape = [draw.batch(), groups * inputs_a_group, *window.sides]
    tensors = [
        file.input("x", floats(draw, shape, types)),
        file.constant("w", floats(draw, [filters, inputs_a_group, *window.kernel], types, 0.3)),
    ]
    if draw.chance(0.7):
        tensors.append(file.constant("b", floats(draw, [filters], types)))
    attributes = window.attributes(draw)
    if draw.chance(0.1):
        del attributes["kernel_shape"]  # known from the weights
    if groups > 1 or draw.chance(0.5):
        attributes["group"] = groups
    file.node("Conv", tensors, "y", **attributes)
    file.output("y", real_type(types))


@onnx("ConvTranspose", weight=3)
def conv_transpose(draw: Draw, types: str, file: OnnxFile) -> None:
    dimensions = _dimensions(draw)
    groups = _groups(draw)
    inputs_a_group, filters = draw.integer(1, 6), draw.integer(1, 6)
    kernel = [draw.integer(1, 4) for _ in range(dimensions)]
    strides = [draw.integer(1, 3) for _ in range(dimensions)]
    dilations = [draw.choice([1, 1, 1, 2]) for _ in range(dimensions)]
    shape = [draw.batch(), groups * inputs_a_group] + [draw.integer(2, 7) for _ in kernel]
    attributes: dict[str, object] = {"strides": strides, "group": groups, "kernel_shape": kernel}
    kind = draw.integer(0, 3)
    if kind == 0:
        attributes["auto_pad"] = draw.choice(["SAME_UPPER", "SAME_LOWER", "VALID"])
        dilations = [1] * dimensions
    elif kind <= 2:
        attributes["pads"] = [draw.integer(0, (k - 1) // 2) for k in kernel + kernel]
        attributes["output_padding"] = [draw.integer(0, stride - 1) for stride in strides]
    attributes["dilations"] = dilations
    tensors = [
        file.input("x", draw.floats(shape)),
        file.constant("w", draw.floats([groups * inputs_a_group, filters, *kernel], 0.4)),
    ]
    if draw.chance(0.7):
        tensors.append(file.constant("b", draw.floats([groups * filters])))
    file.node("ConvTranspose", tensors, "y", **attributes)
    file.output("y", "float32")


@onnx("Gemm", "float32", "float32", "float16", weight=3)
def gemm(draw: Draw, types: str, file: OnnxFile) -> None:
    rows = draw.integer(2, 4) if draw.chance(0.15) else 1
    size, units = draw.integer(1, 60), draw.integer(1, 33)
    transposed = draw.chance(0.6)
    weights_shape = [units, size] if transposed else [size, units]
    tensors = [
        file.input("x", floats(draw, [rows, size], types)),
        file.constant("w", floats(draw, weights_shape, types, 0.3)),
    ]
    if file.opset < 11 or draw.chance(0.8):
        shape = draw.choice([[units], [units], [1, units], [1], [rows, 1]])
        tensors.append(file.constant("c", floats(draw, shape, types)))
    attributes = {"transB": 1} if transposed else {}
    if draw.chance(0.2):
        attributes.update(alpha=draw.real(0.3, 2), beta=draw.real(0.3, 2))
    file.node("Gemm", tensors, "y", **attributes)
    file.output("y", real_type(types))


@onnx("MatMul", weight=2)
def matmul(draw: Draw, types: str, file: OnnxFile) -> None:
    size, units = draw.integer(1, 40), draw.integer(1, 33)
    shape = draw.shape((2, 4), (1, 6))[:-1] + [size]
    x = file.input("x", draw.floats(shape))
    w = file.constant("w", draw.floats([size, units], 0.3))
    y = file.node("MatMul", [x, w], "" if draw.chance(0.6) else "y")
    if y != "y":
        file.node("Add", [y, file.constant("b", draw.floats([units]))], "y")
    file.output("y", "float32")


@onnx("MatMul_constant_first", weight=2)
def matmul_constant_first(draw: Draw, types: str, file: OnnxFile) -> None:
    """The constant is the first factor, at times a vector or with leading axes of 1."""
    size, units = draw.integer(1, 20), draw.integer(1, 20)
    weights = draw.choice([[units, size], [units, size], [size], [1, 1, units, size]])
    inner = draw.integer(1, 9)
    shape = draw.choice([[size, inner], [1, size, inner], [2, 3, size, inner], [size]])
    w = file.constant("w", draw.floats(weights, 0.3))
    file.node("MatMul", [w, file.input("x", draw.floats(shape))], "y")
    file.output("y", "float32")


@onnx("MatMul_constants", weight=2)
def matmul_constants(draw: Draw, types: str, file: OnnxFile) -> None:
    """Several matrices of a constant, which is either factor; the leading axes are broadcast."""
    rows, inner, columns = draw.integer(1, 6), draw.integer(1, 9), draw.integer(1, 6)
    known = [draw.integer(1, 4) for _ in range(draw.integer(1, 2))]
    known[draw.integer(0, len(known) - 1)] = draw.integer(2, 4)
    leading = [extent if draw.chance(0.6) else 1 for extent in known]
    if draw.chance(0.3):
        leading.pop(0)
    elif draw.chance(0.3):
        leading.insert(0, draw.integer(1, 3))
    is_first = draw.chance(0.5)
    factors = [[rows, inner], [inner, columns]]
    w = file.constant("w", draw.floats([*known, *factors[0 if is_first else 1]], 0.3))
    x = file.input("x", draw.floats([*leading, *factors[1 if is_first else 0]]))
    file.node("MatMul", [w, x] if is_first else [x, w], "y")
    file.output("y", "float32")


@onnx("Einsum", weight=2, oldest=12)
def einsum(draw: Draw, types: str, file: OnnxFile) -> None:
    """Equations of attention and of layers; the second operand is at times a constant."""
    equation = draw.choice(["bij,bjk->bik", "bhqd,bhkd->bhqk", "...ij,jk->...ik", "i,j->ij", "bi,bi->b", "ij,jk"])
    extents = {label: draw.integer(1, 6) for label in "bdhijkq"}
    operands = equation.split("->")[0].split(",")
    shapes = [[extents[each] for each in term.replace("...", "bh")] for term in operands]
    a = file.input("a", draw.floats(shapes[0]))
    b = draw.floats(shapes[1])
    inputs = [a, file.constant("b", b) if draw.chance(0.4) else file.input("b", b)]
    file.node("Einsum", inputs, "y", equation=equation)
    file.output("y", "float32")


@onnx("MatMul_computed", weight=3)
def matmul_computed(draw: Draw, types: str, file: OnnxFile) -> None:
    """Two inputs, of which either may be a vector; the leading axes are broadcast."""
    rows, inner, columns = draw.integer(1, 9), draw.integer(1, 20), draw.integer(1, 9)
    leading = [draw.integer(1, 4) for _ in range(draw.integer(0, 2))]
    shapes = []
    for matrix in ([rows, inner], [inner, columns]):
        own = [extent if draw.chance(0.7) else 1 for extent in leading]
        shapes.append([*own[draw.integer(0, len(own)) if draw.chance(0.3) else 0 :], *matrix])
    for place in (0, 1):
        if draw.chance(0.1):
            shapes[place] = [inner]
    names = [file.input(name, draw.floats(shape)) for name, shape in zip("ab", shapes, strict=True)]
    # What another node has computed is no input.
    if draw.chance(0.3):
        names[1] = file.node("Relu", [names[1]])
    file.node("MatMul", names, "y")
    file.output("y", "float32")


@onnx("Gemm_computed", weight=2)
def gemm_computed(draw: Draw, types: str, file: OnnxFile) -> None:
    rows, size, units = draw.integer(1, 9), draw.integer(1, 20), draw.integer(1, 9)
    first, second = draw.chance(0.5), draw.chance(0.5)
    tensors = [
        file.input("a", draw.floats([size, rows] if first else [rows, size])),
        file.input("b", draw.floats([units, size] if second else [size, units])),
    ]
    if file.opset < 11 or draw.chance(0.7):
        shape = draw.choice([[units], [1, units], [rows, units], [1], [rows, 1]])
        addend = draw.floats(shape)
        tensors.append(file.constant("c", addend) if draw.chance(0.5) else file.input("c", addend))
    attributes: dict[str, float] = {}
    if draw.chance(0.4):
        attributes = {"alpha": draw.real(0.3, 2), "beta": draw.real(0.3, 2)}
    file.node("Gemm", tensors, "y", transA=int(first), transB=int(second), **attributes)
    file.output("y", "float32")


@onnx("Gemm_constant_first")
def gemm_constant_first(draw: Draw, types: str, file: OnnxFile) -> None:
    rows, size, units = draw.integer(1, 9), draw.integer(1, 20), draw.integer(1, 9)
    first, second = draw.chance(0.5), draw.chance(0.5)
    tensors = [
        file.constant("w", draw.floats([size, units] if first else [units, size], 0.3)),
        file.input("x", draw.floats([rows, size] if second else [size, rows])),
    ]
    if file.opset < 11 or draw.chance(0.7):
        shape = draw.choice([[rows], [units, 1], [units, rows], [1]])
        tensors.append(file.constant("c", draw.floats(shape)))
    attributes: dict[str, float] = {}
    if draw.chance(0.3):
        attributes = {"alpha": draw.real(0.3, 2), "beta": draw.real(0.3, 2)}
    file.node("Gemm", tensors, "y", transA=int(first), transB=int(second), **attributes)
    file.output("y", "float32")


def _scale(draw: Draw, low: float = -3, high: float = -1) -> np.ndarray:
    return np.array(10 ** draw.real(low, high), dtype=np.float32)


def _zero_point(draw: Draw, type_name: str, symmetric: bool = False) -> np.ndarray:
    if symmetric or draw.chance(0.2):
        return np.array(128 if type_name == "uint8" and not symmetric else 0, dtype=type_name)
    return draw.stored([], type_name).reshape(())


def _result_scale(draw: Draw, products: int, scales: float) -> np.ndarray:
    """So that most sums of so many products of random bytes are within range."""
    return np.array(73 * 73 * np.sqrt(products) * scales / 60 * draw.real(0.7, 2), dtype=np.float32)


@onnx("QLinearConv", "uint8", "int8", oldest=10, weight=4)
def qlinear_conv(draw: Draw, types: str, file: OnnxFile) -> None:
    """The type is that of input and output; weights are int8, or uint8 beside uint8."""
    window = Window(draw, 2)
    groups = _groups(draw)
    depthwise = draw.chance(0.25)
    if depthwise:
        groups = draw.integer(1, 6)
    inputs_a_group = 1 if depthwise else draw.integer(1, 8)
    filters = groups * draw.integer(1, 5)
    weights_type = "uint8" if types == "uint8" and draw.chance(0.3) else "int8"
    x_scale, x_zero = _scale(draw), _zero_point(draw, types)
    if draw.chance(0.5):
        w_scale = 10 ** draw.random.uniform(-3, -2, filters).astype(np.float32)
        w_zero = np.zeros(filters, dtype=weights_type)
        if weights_type == "uint8":
            w_zero += 128
    else:
        w_scale, w_zero = _scale(draw), _zero_point(draw, weights_type, weights_type == "int8")
    products = inputs_a_group * window.kernel[0] * window.kernel[1]
    y_scale = _result_scale(draw, products, float(x_scale) * float(np.mean(w_scale)))
    y_zero = _zero_point(draw, types)
    weights_shape = [filters, inputs_a_group, *window.kernel]
    shape = [draw.batch(), groups * inputs_a_group, *window.sides]
    tensors = [
        file.input("x", draw.stored(shape, types)),
        file.constant("x_scale", x_scale),
        file.constant("x_zero_point", x_zero),
        file.constant("w", draw.stored(weights_shape, weights_type)),
        file.constant("w_scale", w_scale),
        file.constant("w_zero_point", w_zero),
        file.constant("y_scale", y_scale),
        file.constant("y_zero_point", y_zero),
    ]
    if draw.chance(0.7):
        tensors.append(file.constant("b", draw.integers([filters], -9000, 9000, "int32")))
    file.node("QLinearConv", tensors, "y", group=groups, **window.attributes(draw))
    file.output("y", types)


@onnx("QLinearMatMul", "uint8", "int8", oldest=10, weight=2)
def qlinear_matmul(draw: Draw, types: str, file: OnnxFile) -> None:
    size, units = draw.integer(1, 60), draw.integer(1, 33)
    shape = [1, size] if draw.chance(0.5) else [1, draw.integer(2, 5), size]
    a_scale, b_scale = _scale(draw), _scale(draw)
    weights_type = "int8" if types == "int8" else draw.choice(["uint8", "int8"])
    tensors = [
        file.input("x", draw.stored(shape, types)),
        file.constant("x_scale", a_scale),
        file.constant("x_zero_point", _zero_point(draw, types)),
        file.constant("w", draw.stored([size, units], weights_type)),
        file.constant("w_scale", b_scale),
        file.constant("w_zero_point", _zero_point(draw, weights_type)),
        file.constant("y_scale", _result_scale(draw, size, float(a_scale * b_scale))),
        file.constant("y_zero_point", _zero_point(draw, types)),
    ]
    file.node("QLinearMatMul", tensors, "y")
    file.output("y", types)


@onnx("ConvInteger", "uint8", oldest=10)
def conv_integer(draw: Draw, types: str, file: OnnxFile) -> None:
    """As exporters write it: dynamic quantization, integer convolution, scaling in float."""
    window = Window(draw, 2, dilated=False)
    channels, filters = draw.integer(1, 8), draw.integer(1, 8)
    shape = [1, channels, *window.sides]
    weights_type = draw.choice(["uint8", "int8"])
    if weights_type == "int8":
        window.auto_pad = None  # onnx's evaluator, the judge of int8 weights, pads otherwise than the standard
    weights = file.constant("w", draw.stored([filters, channels, *window.kernel], weights_type))
    zero = file.constant("w_zero_point", _zero_point(draw, weights_type, weights_type == "int8"))
    if file.opset < 11:
        stored = file.input("x", draw.stored(shape, types))
        point = file.constant("x_zero_point", _zero_point(draw, types))
        attributes = window.attributes(draw)
        file.node("ConvInteger", [stored, weights, point, zero], "y", **attributes)
        file.output("y", "int32")
        return
    x = file.input("x", draw.floats(shape))
    file.nodes_with_outputs("DynamicQuantizeLinear", [x], ["q", "q_scale", "q_zero_point"])
    attributes = window.attributes(draw)
    sums = file.node("ConvInteger", ["q", weights, "q_zero_point", zero], "", **attributes)
    real = file.node("Cast", [sums], "", to=1)
    scale = file.node("Mul", ["q_scale", file.constant("w_scale", _scale(draw))])
    file.node("Mul", [real, scale], "y")
    file.output("y", "float32")


@onnx("MatMulInteger", "uint8", oldest=10)
def matmul_integer(draw: Draw, types: str, file: OnnxFile) -> None:
    size, units = draw.integer(1, 60), draw.integer(1, 33)
    weights = file.constant("w", draw.stored([size, units], "int8"))
    zero = file.constant("w_zero_point", np.array(0, dtype=np.int8))
    if file.opset < 11:
        x = file.input("x", draw.stored([1, size], types))
        point = file.constant("x_zero_point", _zero_point(draw, types))
        file.node("MatMulInteger", [x, weights, point, zero], "y")
        file.output("y", "int32")
        return
    x = file.input("x", draw.floats([1, size]))
    file.nodes_with_outputs("DynamicQuantizeLinear", [x], ["q", "q_scale", "q_zero_point"])
    sums = file.node("MatMulInteger", ["q", weights, "q_zero_point", zero])
    real = file.node("Cast", [sums], "", to=1)
    scale = file.node("Mul", ["q_scale", file.constant("w_scale", _scale(draw))])
    file.node("Mul", [real, scale], "y")
    file.output("y", "float32")


def quantized(
    file: OnnxFile, draw: Draw, x: str, scale: np.ndarray, zero: np.ndarray, name: str
) -> str:
    """A QuantizeLinear and a DequantizeLinear, as exporters put around operators."""
    parameters = [file.constant(f"{name}_scale", scale), file.constant(f"{name}_zero", zero)]
    stored = file.node("QuantizeLinear", [x, *parameters])
    return file.node("DequantizeLinear", [stored, *parameters])


@onnx("QDQ_Conv", "uint8", "int8", oldest=10, weight=3)
def qdq_conv(draw: Draw, types: str, file: OnnxFile) -> None:
    """A convolution between pairs of QuantizeLinear and DequantizeLinear."""
    window = Window(draw, 2, dilated=False)
    channels, filters = draw.integer(1, 8), draw.integer(1, 8)
    x_scale, x_zero = np.array(draw.real(0.01, 0.04), np.float32), _zero_point(draw, types)
    x = file.input("x", draw.floats([1, channels, *window.sides]))
    x = quantized(file, draw, x, x_scale, x_zero, "x")
    per_channel = file.opset >= 13 and draw.chance(0.6)
    count = [filters] if per_channel else []
    w_scale = draw.positive_floats(count, 0.001, 0.01).reshape(count)
    stored = file.constant(
        "w", draw.integers([filters, channels, *window.kernel], -127, 127, "int8")
    )
    parameters = [
        file.constant("w_scale", w_scale),
        file.constant("w_zero", np.zeros(count, dtype=np.int8)),
    ]
    axis = {"axis": 0} if per_channel else {}
    tensors = [x, file.node("DequantizeLinear", [stored, *parameters], "", **axis)]
    if draw.chance(0.7):
        b_scale = (x_scale * w_scale).astype(np.float32)
        bias = file.constant("b", draw.integers([filters], -5000, 5000, "int32"))
        parameters = [
            file.constant("b_scale", b_scale),
            file.constant("b_zero", np.zeros(count, dtype=np.int32)),
        ]
        tensors.append(file.node("DequantizeLinear", [bias, *parameters], "", **axis))
    y = file.node("Conv", tensors, "", **window.attributes(draw))
    if draw.chance(0.5):
        y = file.node("Relu", [y])
    products = channels * window.kernel[0] * window.kernel[1]
    y_scale = _result_scale(draw, products, 0.6 * float(x_scale) * float(np.mean(w_scale)))
    parameters = [
        file.constant("y_scale", y_scale),
        file.constant("y_zero", _zero_point(draw, types)),
    ]
    if draw.chance(0.5):
        file.node("QuantizeLinear", [y, *parameters], "y")
        file.output("y", types)
        return
    stored = file.node("QuantizeLinear", [y, *parameters])
    file.node("DequantizeLinear", [stored, *parameters], "y")
    file.output("y", "float32")


@onnx("QDQ_Add", "uint8", "int8", oldest=10, weight=2)
def qdq_add(draw: Draw, types: str, file: OnnxFile) -> None:
    shape = image(draw, sides=(1, 8))
    terms = []
    for name in ("a", "b"):
        scale = np.array(draw.real(0.01, 0.04), np.float32)
        x = file.input(name, draw.floats(shape))
        terms.append(quantized(file, draw, x, scale, _zero_point(draw, types), name))
    y = file.node("Add", terms)
    parameters = [
        file.constant("y_scale", np.array(draw.real(0.02, 0.06), np.float32)),
        file.constant("y_zero", _zero_point(draw, types)),
    ]
    file.node("QuantizeLinear", [y, *parameters], "y")
    file.output("y", types)
