#!/usr/bin/env python3
"""Makes whole networks as TFLite, ONNX and Keras files, and asks their runtimes for the outputs.

The networks are those of keras.applications and a U-Net, with random weights; batch
normalization is calibrated with random images, so that signals neither vanish nor explode.
TensorFlow's own converter writes float, int8 and int16x8 TFLite files, tf2onnx ONNX files. Files
of other people in a folder (--files) are judged too: each with NAME.input.npy or with the
folder's photographs.
"""

import argparse
import gc
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import keras  # noqa: E402
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import tensorflow as tf  # noqa: E402
import tf2onnx  # noqa: E402
import tf_keras  # noqa: E402
from PIL import Image  # noqa: E402
from tensorflow.python.framework.convert_to_constants import (  # noqa: E402
    convert_variables_to_constants_v2,
)

import onnx_runtime  # noqa: E402
import tflite_runtime  # noqa: E402
from cases import Arrays, Case, Rule, float_rule  # noqa: E402
from draw import Draw  # noqa: E402
from tflite_operators.converted import quantizing, silence  # noqa: E402

KINDS = ("float32", "int8", "int16", "onnx", "keras", "h5")
ONNX_OPSET = 13
CALIBRATION_IMAGES = 4


def unet(api: object) -> object:
    """The U-Net of Ronneberger et al. with "same" padding and fewer filters, on 128x128 pixels."""
    layers = api.layers
    inputs = x = layers.Input((128, 128, 3))
    tops = []
    for filters in (16, 32, 64, 128):
        for _ in range(2):
            x = layers.Conv2D(filters, 3, padding="same", activation="relu")(x)
        tops.append(x)
        x = layers.MaxPooling2D()(x)
    for _ in range(2):
        x = layers.Conv2D(256, 3, padding="same", activation="relu")(x)
    for filters, top in zip((128, 64, 32, 16), reversed(tops)):
        x = layers.Conv2DTranspose(filters, 2, strides=2, padding="same")(x)
        x = layers.Concatenate()([top, x])
        for _ in range(2):
            x = layers.Conv2D(filters, 3, padding="same", activation="relu")(x)
    return api.Model(inputs, layers.Conv2D(1, 1, activation="sigmoid")(x))


def application(name: str, side: int = 224) -> Callable[[object], object]:
    shape = (side, side, 3)

    def make(api: object) -> object:
        # Sums instead of probabilities: most probabilities are 0 as int8, whatever went before.
        network = getattr(api.applications, name)
        return network(weights=None, input_shape=shape, classifier_activation=None)

    return make


NETWORKS: dict[str, Callable[[object], object]] = {
    "mobilenet": application("MobileNet"),
    "mobilenet_v2": application("MobileNetV2"),
    "mobilenet_v3_small": application("MobileNetV3Small"),
    "mobilenet_v3_large": application("MobileNetV3Large"),
    "efficientnet_b0": application("EfficientNetB0"),
    "densenet_121": application("DenseNet121"),
    "resnet_50": application("ResNet50"),
    "inception_v3": application("InceptionV3", 299),
    "xception": application("Xception", 299),
    "vgg_16": application("VGG16"),
    "unet": unet,
}

# Layers in these networks take pixels 0 to 255 and scale them.
TAKES_PIXELS = ("mobilenet_v3", "efficientnet")


def main() -> None:
    arguments = parse_arguments()
    for name in arguments.network or ([] if arguments.files else list(NETWORKS)):
        for kind in arguments.kind or KINDS:
            begin = time.monotonic()
            folder = make_case(name, kind, arguments.seed).write(arguments.out)
            print(f"{folder}: {time.monotonic() - begin:.0f} s", flush=True)
            keras.backend.clear_session()
            gc.collect()
    for folder in arguments.files:
        for case in cases_of_files(folder):
            print(case.write(arguments.out), flush=True)


def make_case(name: str, kind: str, seed: int) -> Case:
    api = tf_keras if kind == "h5" else keras
    api.utils.set_random_seed(seed)
    draw = Draw(f"{seed} {name}")
    model = NETWORKS[name](api)
    shape = [1, *model.input_shape[1:]]
    images = [random_image(draw, shape, name) for _ in range(CALIBRATION_IMAGES)]
    normalize(api, model, np.concatenate(images), draw)
    image = random_image(draw, shape, name)
    # A name of its own for the input, whatever the layers are called.
    spec = tf.TensorSpec(shape, tf.float32, name="input")
    function = tf.function(lambda x: model(x, training=False), input_signature=[spec])
    if kind in ("float32", "int8", "int16", "onnx"):
        frozen = convert_variables_to_constants_v2(function.get_concrete_function())
    if kind in ("float32", "int8", "int16"):
        converter = tf.lite.TFLiteConverter.from_concrete_functions([frozen], model)
        with silence():
            content = quantizing(converter, images, kind)
        return tflite_case(f"{name}_{kind}", name, content, quantize_input(content, image))
    if kind == "onnx":
        with silence():
            # from_function would make constants that the function captures inputs of the file.
            proto, _ = tf2onnx.convert.from_graph_def(
                frozen.graph.as_graph_def(),
                input_names=[tensor.name for tensor in frozen.inputs],
                output_names=[tensor.name for tensor in frozen.outputs],
                opset=ONNX_OPSET,
                tensors_to_rename={frozen.inputs[0].name: "input"},
            )
        return onnx_case(f"{name}_onnx", name, proto.SerializeToString(), {"input": image})
    content = saved(model, kind)
    (output,) = model.output_names
    outputs = {output: np.asarray(model(image, training=False))}
    rules = {output: float_rule(outputs[output], relative=1e-3)}
    inputs = {model.inputs[0].name.split(":")[0]: image}
    return Case(f"{name}_{kind}", kind, name, kind, content, inputs, outputs, rules)


def normalize(api: object, model: object, images: np.ndarray, draw: Draw) -> None:
    """Random scales and offsets, the means and variances that these images have, clear answers."""
    layers = [layer for layer in model.layers if type(layer).__name__ == "BatchNormalization"]
    for layer in layers:
        layer.momentum = 0.0  # the next batch alone settles them
        if layer.gamma is not None:
            layer.gamma.assign(draw.positive_floats(layer.gamma.shape, 0.6, 1.4))
        if layer.beta is not None:
            layer.beta.assign(draw.floats(layer.beta.shape, 0.2))
    if layers:
        model(images, training=True)
    # Without this, the probabilities of random networks are all the same.
    last = [layer for layer in model.layers if hasattr(layer, "kernel")][-1]
    activation, last.activation = last.activation, api.activations.linear
    spread = float(np.std(last(api.Model(model.inputs, last.input)(images, training=False))))
    last.activation = activation
    last.kernel.assign(last.kernel * (3 / spread))


def random_image(draw: Draw, shape: list[int], network: str) -> np.ndarray:
    """Noise of several sizes, as in photographs: -1 to 1, or pixels 0 to 255."""
    values = np.zeros(shape, dtype=np.float32)
    for blocks in (4, 16, 64):
        noise = tf.image.resize(draw.floats([1, blocks, blocks, shape[3]]), shape[1:3])
        values += noise.numpy() / np.sqrt(blocks)
    values /= np.abs(values).max()
    return values * 127.5 + 127.5 if network.startswith(TAKES_PIXELS) else values


def saved(model: object, kind: str) -> bytes:
    path = Path(f"build/judges/saved_network.{kind}")
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "h5":
        model.save(path, include_optimizer=False, save_format="h5")
    else:
        model.save(path, include_optimizer=False)
    content = path.read_bytes()
    path.unlink()
    return content


def quantize_input(model: bytes, image: np.ndarray) -> Arrays:
    """The image as the file's input takes it."""
    (detail,) = tf.lite.Interpreter(model_content=model).get_input_details()
    if detail["dtype"] == np.float32:
        return {detail["name"]: image}
    scale, zero_point = detail["quantization"]
    limits = np.iinfo(detail["dtype"])
    stored = np.clip(np.round(image / scale) + zero_point, limits.min, limits.max)
    return {detail["name"]: stored.astype(detail["dtype"])}


def tflite_case(name: str, network: str, content: bytes, inputs: Arrays) -> Case:
    """Integers are judged by the reference kernels; real numbers have a tolerance anyway."""
    optimized = tflite_runtime.run(content, inputs, tflite_runtime.OPTIMIZED)
    outputs = optimized
    notes = {"tflite_runtimes": [tflite_runtime.RELEASE], "kernels": "optimized"}
    if tflite_runtime.quantizes(content):
        notes["kernels"] = "reference"
        outputs = tflite_runtime.run(content, inputs, tflite_runtime.REFERENCE)
        different = tflite_runtime.differences(outputs, optimized)
        if different:
            notes["optimized_kernels_differ_by"] = different
    is_float = all(values.dtype == np.float32 for values in (*inputs.values(), *outputs.values()))
    is_float = is_float and not tflite_runtime.quantizes(content)
    rules = {
        key: float_rule(values, relative=1e-3) if is_float else Rule("equal")
        for key, values in outputs.items()
    }
    types = next(iter(inputs.values())).dtype.name
    return Case(name, "tflite", network, types, content, inputs, outputs, rules, notes)


def recorded_outputs(path: Path) -> Arrays:
    """What stands beside a file: NAME.output.npy, NAME.output1.npy, ..."""
    outputs = {}
    for index, value in enumerate(onnx.load(path).graph.output):
        recorded = path.with_name(f"{path.stem}.output{index or ''}.npy")
        if recorded.exists():
            outputs[value.name] = np.load(recorded)
    return outputs


def onnx_case(
    name: str, network: str, content: bytes, inputs: Arrays, recorded: Arrays | None = None
) -> Case:
    """Recorded outputs serve where ONNX Runtime lacks an operator, and for networks in float: its sigmoid is
    off by up to 1e-7, which is more than small results."""
    try:
        outputs = onnx_runtime.run(content, inputs)
    except onnx_runtime.NotImplementedByRuntime:
        if not recorded:
            raise
        outputs = recorded
    operators = {node.op_type for node in onnx.load_from_string(content).graph.node}
    quantized = operators & {"QuantizeLinear", "DynamicQuantizeLinear", "QLinearConv"}
    if recorded and not quantized:
        outputs = recorded
    source = "float_reference" if "DynamicQuantizeLinear" in operators else "outputs"
    rules = {}
    for key, values in outputs.items():
        if quantized:
            rules[key] = Rule("noise", decibels=20, of=source)
        elif values.dtype == np.float16:
            rules[key] = Rule("noise", decibels=40, of="float_reference")
        elif values.dtype.kind == "f":
            rules[key] = float_rule(values, relative=1e-3)
        else:
            rules[key] = Rule("equal")
    return Case(name, "onnx", network, "onnx", content, inputs, outputs, rules)


def cases_of_files(folder: Path) -> Iterator[Case]:
    """The networks of a folder, with the inputs or photographs that are beside them."""
    for path in sorted(folder.iterdir()):
        if path.suffix not in (".tflite", ".onnx", ".keras", ".h5"):
            continue
        for label, inputs in inputs_of(path):
            name = f"{path.stem}_{label}" if label else path.stem
            try:
                if path.suffix in (".keras", ".h5"):
                    yield keras_case(path, inputs)
                elif path.suffix == ".tflite":
                    yield tflite_case(name, path.stem, path.read_bytes(), inputs)
                else:
                    recorded = recorded_outputs(path)
                    yield onnx_case(name, path.stem, path.read_bytes(), inputs, recorded)
            except Exception as error:  # a runtime may refuse the file: say so and go on
                print(f"{path}: not judged: {str(error).splitlines()[0]}", file=sys.stderr)


def keras_case(path: Path, inputs: Arrays) -> Case:
    """A file of Keras 2 is read by Keras 2. Its networks are judged with one input and one output."""
    api = tf_keras if path.suffix == ".h5" else keras
    model = api.models.load_model(path, compile=False)
    (values,) = inputs.values()
    (output,) = model.output_names
    outputs = {output: np.asarray(model(values, training=False))}
    rules = {output: float_rule(outputs[output], relative=1e-3)}
    name = model.inputs[0].name.split(":")[0]
    kind = path.suffix[1:]
    return Case(path.stem, kind, path.stem, kind, path.read_bytes(), {name: values}, outputs, rules)


def inputs_of(path: Path) -> Iterator[tuple[str, Arrays]]:
    given = path.with_name(f"{path.stem}.input.npy")
    if path.suffix in (".keras", ".h5"):
        if given.exists():
            yield "", {"": np.load(given)}
        return
    if path.suffix == ".onnx":
        if given.exists():
            graph = onnx.load(path).graph
            constants = {tensor.name for tensor in graph.initializer}
            name = next(value.name for value in graph.input if value.name not in constants)
            yield "", {name: np.load(given)}
        return
    (detail, *others) = tf.lite.Interpreter(str(path)).get_input_details()
    if others:
        return
    if given.exists():
        yield "", {detail["name"]: np.load(given).reshape(detail["shape"]).astype(detail["dtype"])}
        return
    if len(detail["shape"]) == 4 and detail["dtype"] == np.uint8:
        for photograph in sorted(path.parent.glob("*.bmp")):
            side = (int(detail["shape"][2]), int(detail["shape"][1]))
            pixels = Image.open(photograph).convert("RGB").resize(side, Image.Resampling.BILINEAR)
            yield photograph.stem, {detail["name"]: np.asarray(pixels, dtype=np.uint8)[np.newaxis]}


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Make whole networks and ask for their outputs.")
    add = parser.add_argument
    add("--out", type=Path, default=Path("build/judges/networks"), help="folder for the cases")
    add("--network", action="append", choices=list(NETWORKS), help="only this network")
    add("--kind", action="append", choices=KINDS, help="only this kind of file")
    add("--files", action="append", type=Path, default=[], metavar="DIR", help="judge its files")
    add("--seed", type=int, default=1, help="settles everything random (1)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
