"""Takes a TFLite file apart: a file for each operator, with the same tensors."""

import copy
from collections.abc import Iterator

import flatbuffers
from tensorflow.lite.python import schema_py_generated as schema


def one_operator_each(model: bytes) -> Iterator[bytes]:
    """Files that compute the file's operators one by one, in its order.

    Tensors keep their names: the inputs of such a file are the operator's inputs without values of their own,
    its outputs the operator's outputs.
    """
    whole = schema.ModelT.InitFromObj(schema.Model.GetRootAs(model))
    (graph,) = whole.subgraphs
    for operator in graph.operators:
        piece = copy.copy(whole)
        piece.signatureDefs = []
        piece.subgraphs = [copy.copy(graph)]
        piece.operatorCodes = [whole.operatorCodes[operator.opcodeIndex]]
        alone = copy.copy(operator)
        alone.opcodeIndex = 0
        piece.subgraphs[0].operators = [alone]
        given = {int(tensor) for tensor in operator.inputs if tensor >= 0}
        piece.subgraphs[0].inputs = sorted(
            tensor for tensor in given if not _has_values(whole, graph.tensors[tensor])
        )
        piece.subgraphs[0].outputs = [int(tensor) for tensor in operator.outputs]
        builder = flatbuffers.Builder(1024)
        builder.Finish(piece.Pack(builder), file_identifier=b"TFL3")
        yield bytes(builder.Output())


def _has_values(model: schema.ModelT, tensor: schema.TensorT) -> bool:
    values = model.buffers[tensor.buffer].data
    return values is not None and len(values) > 0
