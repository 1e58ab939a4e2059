"""Runs ONNX files with ONNX Runtime on the CPU.

What it does not have there (ConvInteger with int8 weights), onnx's reference evaluator computes:
exact and slow, for single operators.
"""

import numpy as np
import onnx
import onnxruntime
from onnx.reference import ReferenceEvaluator

from cases import Arrays

onnxruntime.set_default_logger_severity(3)

NotImplementedByRuntime = onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented
LARGEST_EVALUATED = 100_000  # bytes


def run(model: bytes, inputs: Arrays, optimized: bool = False) -> Arrays:
    """The outputs by name. Without optimization, each node computes what the standard says."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = (
        levels.ORT_ENABLE_ALL if optimized else levels.ORT_DISABLE_ALL
    )
    # Processors without VNNI would saturate sums of uint8 by int8 products without this.
    options.add_session_config_entry("session.x64quantprecision", "1")
    try:
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except NotImplementedByRuntime:
        if len(model) > LARGEST_EVALUATED:
            raise
        return evaluate(model, inputs)
    names = [output.name for output in session.get_outputs()]
    given = {name.name: inputs[name.name] for name in session.get_inputs() if name.name in inputs}
    return dict(zip(names, (np.asarray(values) for values in session.run(names, given))))


def evaluate(model: bytes, inputs: Arrays) -> Arrays:
    evaluator = ReferenceEvaluator(onnx.load_from_string(model))
    results = (np.asarray(values) for values in evaluator.run(None, inputs))
    return dict(zip(evaluator.output_names, results, strict=True))
