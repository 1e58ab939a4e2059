"""Runs TFLite files with TensorFlow's interpreter."""

import warnings

import numpy as np
import tensorflow as tf

from cases import Arrays
from tflite_pieces import one_operator_each

# The interpreter moves to another package one day; these scripts pin this one.
warnings.filterwarnings("ignore", message=".*tf.lite.Interpreter is deprecated.*")

# As `sim --tflite-runtime` names it.
RELEASE = ".".join(tf.__version__.split(".")[:2])

REFERENCE = tf.lite.experimental.OpResolverType.BUILTIN_REF
OPTIMIZED = tf.lite.experimental.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES


def load(model: bytes, kernels: tf.lite.experimental.OpResolverType) -> tf.lite.Interpreter:
    interpreter = tf.lite.Interpreter(
        model_content=model, experimental_op_resolver_type=kernels, num_threads=1
    )
    interpreter.allocate_tensors()
    return interpreter


def run(model: bytes, inputs: Arrays, kernels: tf.lite.experimental.OpResolverType) -> Arrays:
    """The outputs by their names in the file."""
    interpreter = load(model, kernels)
    for detail in interpreter.get_input_details():
        interpreter.set_tensor(detail["index"], inputs[detail["name"]])
    interpreter.invoke()
    return {
        detail["name"]: interpreter.get_tensor(detail["index"]).copy()
        for detail in interpreter.get_output_details()
    }


def run_reference(model: bytes, inputs: Arrays) -> tuple[Arrays, str]:
    """The outputs and which kernels gave them.

    A few operators have no reference kernel that works. Those alone are computed by the optimized kernels: in
    a network of several operators, the others have their reference kernels.
    """
    if not _sums_int8(model):
        try:
            return run(model, inputs, REFERENCE), "reference"
        except ValueError as error:
            if "Didn't find op" not in str(error):
                raise
    if len(tf.lite.Interpreter(model_content=model)._get_ops_details()) == 1:
        return run(model, inputs, OPTIMIZED), "optimized"
    return _run_by_operator(model, inputs), "reference, optimized where there is none"


def _run_by_operator(model: bytes, inputs: Arrays) -> Arrays:
    values = dict(inputs)
    for piece in one_operator_each(model):
        needed = [detail["name"] for detail in load(piece, OPTIMIZED).get_input_details()]
        outputs, _ = run_reference(piece, {name: values[name] for name in needed})
        values.update(outputs)
    interpreter = tf.lite.Interpreter(model_content=model)
    names = [detail["name"] for detail in interpreter.get_output_details()]
    return {name: values[name] for name in names}


def _sums_int8(model: bytes) -> bool:
    """Whether there is a SUM of int8: its reference kernel reads the numbers as uint8."""
    interpreter = tf.lite.Interpreter(model_content=model)
    types = {detail["index"]: detail["dtype"] for detail in interpreter.get_tensor_details()}
    return any(
        operator["op_name"] == "SUM" and types[operator["outputs"][0]] == np.int8
        for operator in interpreter._get_ops_details()
    )


def quantizes(model: bytes) -> bool:
    """Whether the network computes in integers: its activations, not only its weights."""
    interpreter = tf.lite.Interpreter(model_content=model)
    details = interpreter.get_tensor_details()
    inputs = {detail["index"] for detail in interpreter.get_input_details()}
    first = [detail for detail in details if detail["index"] in inputs]
    if any(detail["dtype"] in (np.int8, np.uint8, np.int16) for detail in first):
        return True
    return any(operator["op_name"] == "QUANTIZE" for operator in interpreter._get_ops_details())


def differences(expected: Arrays, other: Arrays) -> dict[str, float]:
    """The largest difference of each output that is not equal; for integers in quanta."""
    found = {}
    for name, values in expected.items():
        if values.dtype == np.bool_ or not values.size:
            continue
        distance = np.abs(values.astype(np.float64) - other[name].astype(np.float64))
        largest = float(np.nanmax(distance, initial=0.0))
        if largest > 0:
            found[name] = largest
    return found
