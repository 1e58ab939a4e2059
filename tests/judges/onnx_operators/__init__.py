"""The ONNX operators that the judges try, one file a group."""

from onnx_operators import (
    activations,
    convolutions,
    element_wise,
    graphs,
    indices,
    microsoft,
    normalization,
    pooling,
    qdq,
    quantization,
    recurrences,
    reductions,
    resize,
    shapes,
    written_functions,
)
from onnx_operators.registry import OPERATORS, OnnxOperator

__all__ = [
    "OPERATORS",
    "OnnxOperator",
    "activations",
    "convolutions",
    "element_wise",
    "graphs",
    "indices",
    "microsoft",
    "normalization",
    "pooling",
    "qdq",
    "quantization",
    "recurrences",
    "reductions",
    "resize",
    "shapes",
    "written_functions",
]
