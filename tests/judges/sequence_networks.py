#!/usr/bin/env python3
"""Makes networks of sequences and attention with Keras, TensorFlow's converter and tf2onnx.

Taggers of LSTMs and GRUs, encoders with MultiHeadAttention, and one decoder, with random weights, as
`.keras`, float TFLite and ONNX files, with the answers of Keras.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import keras  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
import tf2onnx  # noqa: E402
from keras import layers  # noqa: E402
from tensorflow.python.framework.convert_to_constants import (  # noqa: E402
    convert_variables_to_constants_v2,
)

import onnx_runtime  # noqa: E402
from cases import Arrays, Case, float_rule  # noqa: E402
from networks import ONNX_OPSET, saved, tflite_case  # noqa: E402
from tflite_operators.converted import silence  # noqa: E402

KINDS = ("keras", "tflite", "onnx")
SIZES = ("small", "real")


def words(steps: int) -> keras.KerasTensor:
    return layers.Input((steps,), batch_size=1, dtype="int32", name="words")


def tagger(kind: type, size: str) -> keras.Model:
    count, width, state, steps = (40, 8, 8, 6) if size == "small" else (10000, 128, 256, 64)
    given = words(steps)
    x = layers.Embedding(count, width)(given)
    x = layers.Bidirectional(kind(state, return_sequences=True))(x)
    return keras.Model(given, layers.Dense(9)(x))


def lstm_tagger(size: str) -> keras.Model:
    return tagger(layers.LSTM, size)


def gru_tagger(size: str) -> keras.Model:
    return tagger(layers.GRU, size)


def lstm_classifier(size: str) -> keras.Model:
    """The last state of two layers."""
    width, state, steps = (6, 8, 5) if size == "small" else (64, 256, 32)
    given = layers.Input((steps, width), batch_size=1, name="x")
    x = layers.LSTM(state, return_sequences=True)(given)
    return keras.Model(given, layers.Dense(5, activation="softmax")(layers.LSTM(state)(x)))


def attention_block(
    x: keras.KerasTensor, heads: int, first_norm: bool, causal: bool = False
) -> keras.KerasTensor:
    width = x.shape[-1]
    y = layers.LayerNormalization(epsilon=1e-6)(x) if first_norm else x
    y = layers.MultiHeadAttention(heads, width // heads)(y, y, use_causal_mask=causal)
    x = layers.Add()([x, y])
    y = layers.LayerNormalization(epsilon=1e-6)(x)
    z = layers.Dense(4 * width, activation="gelu")(y)
    z = layers.Dense(width)(z)
    return layers.Add()([x if first_norm else y, z])


def encoder(size: str) -> keras.Model:
    count, width, heads, depth, steps = (40, 16, 4, 2, 6) if size == "small" else (10000, 256, 8, 4, 64)
    given = words(steps)
    x = layers.Embedding(count, width)(given)
    for _ in range(depth):
        x = attention_block(x, heads, first_norm=False)
    return keras.Model(given, layers.Dense(7)(x))


def decoder(size: str) -> keras.Model:
    width, heads, depth, steps = (16, 4, 2, 6) if size == "small" else (256, 8, 2, 64)
    given = layers.Input((steps, width), batch_size=1, name="x")
    x = given
    for _ in range(depth):
        x = attention_block(x, heads, first_norm=True, causal=True)
    return keras.Model(given, layers.LayerNormalization()(x))


def vit(size: str) -> keras.Model:
    side, patch, width, heads, depth = (16, 4, 16, 2, 2) if size == "small" else (224, 16, 192, 3, 4)
    given = layers.Input((side, side, 3), batch_size=1, name="image")
    x = layers.Conv2D(width, patch, patch)(given)
    x = layers.Reshape(((side // patch) ** 2, width))(x)
    for _ in range(depth):
        x = attention_block(x, heads, first_norm=True)
    x = layers.GlobalAveragePooling1D()(layers.LayerNormalization()(x))
    return keras.Model(given, layers.Dense(10)(x))


NETWORKS: dict[str, Callable[[str], keras.Model]] = {
    each.__name__: each for each in (lstm_tagger, gru_tagger, lstm_classifier, encoder, decoder, vit)
}


def main() -> None:
    arguments = parse_arguments()
    for name in arguments.network or NETWORKS:
        for size in arguments.size or ["small"]:
            for kind in arguments.kind or KINDS:
                begin = time.monotonic()
                try:
                    case = make_case(name, size, kind, arguments.seed)
                except Exception as error:  # a converter may refuse a network: say so and go on
                    message = (str(error).strip() or "(no message)").splitlines()[0]
                    print(f"{name}_{size}_{kind}: not judged: {message}", file=sys.stderr)
                    continue
                print(f"{case.write(arguments.out)}: {time.monotonic() - begin:.0f} s", flush=True)


def make_case(name: str, size: str, kind: str, seed: int) -> Case:
    keras.utils.set_random_seed(seed)
    model = NETWORKS[name](size)
    draw_weights(model)
    given = model.inputs[0]
    if given.dtype == "int32":
        count = next(each for each in model.layers if isinstance(each, layers.Embedding)).input_dim
        values = np.random.randint(0, count, given.shape).astype(np.int32)
    else:
        values = np.random.standard_normal(given.shape).astype(np.float32)
    label, expected = f"keras_{name}_{size}_{kind}", np.asarray(model(values, training=False))
    if kind == "keras":
        outputs = {model.output_names[0]: expected}
        inputs = {given.name.split(":")[0]: values}
        return float_case(label, kind, name, saved(model, kind), inputs, outputs)
    spec = tf.TensorSpec(given.shape, given.dtype, name="input")
    function = tf.function(lambda x: model(x, training=False), input_signature=[spec])
    with silence():
        frozen = convert_variables_to_constants_v2(function.get_concrete_function())
        if kind == "tflite":
            converter = tf.lite.TFLiteConverter.from_concrete_functions([frozen], model)
            content = converter.convert()
            (detail,) = tf.lite.Interpreter(model_content=content).get_input_details()
            case = tflite_case(label, f"{name} tflite", content, {detail["name"]: values})
            case.types = "tflite"
            (key,) = case.outputs
            case.rules = {key: float_rule(expected, relative=1e-3)}
            case.outputs = {key: expected}
            return case
        proto, _ = tf2onnx.convert.from_graph_def(
            frozen.graph.as_graph_def(),
            input_names=[tensor.name for tensor in frozen.inputs],
            output_names=[tensor.name for tensor in frozen.outputs],
            opset=ONNX_OPSET,
            tensors_to_rename={frozen.inputs[0].name: "input"},
        )
    outputs = {proto.graph.output[0].name: expected}
    content = proto.SerializeToString()
    # tf2onnx writes nodes of TensorFlow that ONNX does not have: such a file is none, and fails here.
    onnx_runtime.run(content, {"input": values})
    return float_case(label, kind, name, content, {"input": values}, outputs)


def draw_weights(model: keras.Model) -> None:
    """Without this, all scales are 1 and all offsets 0, and mistakes with them would not show."""
    for each in model.layers:
        if isinstance(each, layers.LayerNormalization):
            each.gamma.assign(np.random.uniform(0.5, 1.5, each.gamma.shape))
            each.beta.assign(np.random.normal(0, 0.2, each.beta.shape))


def float_case(
    label: str, kind: str, network: str, content: bytes, inputs: Arrays, outputs: Arrays
) -> Case:
    rules = {key: float_rule(values, relative=1e-3) for key, values in outputs.items()}
    return Case(label, kind, f"{network} {kind}", kind, content, inputs, outputs, rules)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--out", type=Path, default=Path("build/judges/sequences"), help="folder for the cases")
    add("--network", action="append", choices=list(NETWORKS), help="only this network")
    add("--size", action="append", choices=SIZES, help="small ones (without this option) or real ones")
    add("--kind", action="append", choices=KINDS, help="only this kind of file")
    add("--seed", type=int, default=1, help="settles everything random (1)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
