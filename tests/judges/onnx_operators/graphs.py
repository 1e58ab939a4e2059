"""What stands around operators: functions of the file, chosen graphs, constants as outputs."""

import numpy as np
from onnx import FunctionProto, TensorProto, helper

from draw import Draw
from onnx_file import OnnxFile
from onnx_operators.registry import onnx

DOMAIN = "pkg.judges"


def _function(
    file: OnnxFile, name: str, inputs: list[str], nodes: list[object], attributes: list[str]
) -> FunctionProto:
    imports = [helper.make_opsetid("", file.opset), helper.make_opsetid(DOMAIN, 1)]
    function = helper.make_function(DOMAIN, name, inputs, ["y"], nodes, imports, attributes)
    file.functions.append(function)
    return function


def _reference(node: object, name: str, function_name: str, kind: int) -> object:
    """Lets an attribute of a node be one of the function's."""
    attribute = node.attribute.add()
    attribute.name, attribute.ref_attr_name, attribute.type = name, function_name, kind
    return node


@onnx("Function", oldest=15, weight=2)
def function(draw: Draw, types: str, file: OnnxFile) -> None:
    """A function that others call, with attributes that are handed on, and a constant of its own."""
    leaky = _reference(helper.make_node("LeakyRelu", ["s"], ["y"]), "alpha", "slope", 1)
    tensor = helper.make_tensor("c", TensorProto.FLOAT, [1], [draw.real(-1, 1)])
    inner_nodes = [
        helper.make_node("Constant", [], ["c"], value=tensor),
        helper.make_node("Mul", ["a", "b"], ["p"]),
        helper.make_node("Add", ["p", "c"], ["s"]),
        leaky,
    ]
    inner = _function(file, "Inner", ["a", "b"], inner_nodes, ["slope"])
    first = helper.make_node("Inner", ["a", "b"], ["t"], domain=DOMAIN)
    second = helper.make_node("Inner", ["t", "b"], ["y"], domain=DOMAIN)
    outer_nodes = [
        _reference(first, "slope", "first", 1),
        _reference(second, "slope", "second", 1),
    ]
    outer = _function(file, "Outer", ["a", "b"], outer_nodes, ["first", "second"])
    shape = draw.shape((2, 4), (1, 6))
    x = file.input("x", draw.floats(shape))
    w = file.constant("w", draw.floats([shape[-1]]))
    v = file.constant("v", draw.floats([1]))
    slopes = {"first": draw.real(0.05, 0.9), "second": draw.real(0.05, 0.9)}
    once = file.call(outer, [x, w], **slopes)
    twice = file.call(inner, [once, v], slope=draw.real(0.05, 0.9))
    file.node("Relu" if draw.chance(0.5) else "Identity", [twice], "y")
    file.output("y", "float32")


@onnx("If", oldest=13)
def chosen_graph(draw: Draw, types: str, file: OnnxFile) -> None:
    """An If whose condition follows from a shape, and whose graphs read tensors around them."""
    shape = draw.shape((2, 4), (1, 6))
    axis = draw.integer(0, len(shape) - 1)
    x = file.input("x", draw.floats(shape))
    scale = file.constant("scale", draw.floats([1]))
    extents = file.node("Shape", [x])
    extent = file.node("Gather", [extents, file.integers("axis", [axis])])
    wanted = shape[axis] + (1 if draw.chance(0.5) else 0)
    condition = file.node("Equal", [extent, file.integers("wanted", [wanted])])
    condition = file.node("Squeeze", [condition])
    weight = helper.make_tensor("weight", TensorProto.FLOAT, [shape[-1]], draw.floats([shape[-1]]))
    result = helper.make_tensor_value_info("r", TensorProto.FLOAT, None)
    then = helper.make_graph(
        [
            helper.make_node("Mul", [x, "weight"], ["m"]),
            helper.make_node("Add", ["m", scale], ["r"]),
        ],
        "then",
        [],
        [result],
        [weight],
    )
    product = helper.make_node("Mul", [x, scale], ["r"])
    other = helper.make_graph([product], "else", [], [result])
    chosen = file.node("If", [condition], then_branch=then, else_branch=other)
    file.node("Tanh", [chosen], "y")
    file.output("y", "float32")


@onnx("ConstantOutput", oldest=9)
def constant_output(draw: Draw, types: str, file: OnnxFile) -> None:
    """One output is a constant: a tensor of the file, or the shape of another one."""
    shape = draw.shape((2, 4), (1, 6))
    x = file.input("x", draw.floats(shape))
    if draw.chance(0.5):
        table = file.constant("table", draw.floats(draw.shape((1, 3), (1, 5))))
        file.node("Identity", [table], "c")
    else:
        file.node("Cast", [file.node("Shape", [x])], "c", to=TensorProto.FLOAT)
    file.output("c", "float32")
    file.node("Tanh", [x], "y")
    file.output("y", "float32")
