#!/usr/bin/env python3
"""Writes networks that the Edge TPU was measured with as graph files (docs/graph_files.md).

The layers are those of the publications named at each function; weights are drawn from a seed. Latencies do not depend on
their values.
"""

import argparse
import json
import math
import pathlib


class Network:
    """A graph file as it grows, layer by layer."""

    def __init__(self, name, shape):
        self.head = {
            "schema": "sim.graph/1",
            "name": name,
            "input": {"shape": shape},
            "weights": {"seed": 1},
        }
        self.layers = []

    def add(self, op, source, name=None, **keys):
        """Appends a layer and returns its name, which is what others read it by."""
        name = name or f"{op}{len(self.layers) + 1}"
        inputs = [source] if isinstance(source, str) else list(source)
        self.layers.append({"name": name, "op": op, "inputs": inputs, **keys})
        return name

    def convolution(self, source, filters, kernel=1, stride=1, padding="same", activation="relu", name=None):
        return self.add(
            "convolution",
            source,
            name,
            filters=filters,
            kernel=kernel,
            stride=stride,
            padding=padding,
            activation=activation,
        )

    def depthwise(self, source, kernel=3, stride=1, **keys):
        return self.add(
            "depthwise_convolution", source, kernel=kernel, stride=stride, padding="same", activation="relu", **keys
        )

    def transposed(self, source, filters, activation="relu"):
        """Twice as many lines and columns by a transposed convolution of 3 x 3.

        Tiles compute it as a convolution of the image with its pixels apart, so a convolution of the enlarged image has its
        time: a file of real numbers cannot have the other one on integers.
        """
        height, width, _ = self.sides()[source]
        larger = self.add("resize", source, size=[2 * height, 2 * width], interpolation="nearest")
        return self.convolution(larger, filters, 3, activation=activation)

    def max_pool(self, source, kernel, stride, padding="same"):
        return self.add("max_pool", source, kernel=kernel, stride=stride, padding=padding)

    def classifier(self, source, classes):
        """The mean of the image, and a product for each class."""
        source = self.add("global_average_pool", source)
        return self.add("softmax", self.add("dense", source, "scores", units=classes), "probabilities")

    def sides(self):
        """Height, width and channels of each value; of a vector, 1, 1 and its length."""
        shape = self.head["input"]["shape"]
        sides = {"input": tuple([1] * (3 - len(shape)) + shape)}
        for layer in self.layers:
            height, width, channels = sides[layer["inputs"][0]]
            op = layer["op"]
            if op in ("convolution", "depthwise_convolution", "max_pool", "average_pool"):
                stride, kernel = layer["stride"], layer["kernel"]
                lost = kernel - 1 if layer["padding"] == "valid" else 0
                height, width = [-(-(side - lost) // stride) for side in (height, width)]
            if op == "concat":
                channels = sum(sides[source][2] for source in layer["inputs"])
            elif op == "convolution":
                channels = layer["filters"]
            elif op == "global_average_pool":
                height = width = 1
            elif op == "resize":
                height, width = layer["size"]
            elif op == "flatten":
                height, width, channels = 1, 1, height * width * channels
            elif op == "dense":
                channels = layer["units"]
            sides[layer["name"]] = (height, width, channels)
        return sides

    def shapes(self):
        """The matrices of the layers with weights, one a line, for models that need no simulator."""
        sides = self.sides()
        lines = []
        for layer in self.layers:
            height, width, channels = sides[layer["name"]]
            window = layer.get("kernel", 1) ** 2
            depth = sides[layer["inputs"][0]][2]
            if layer["op"] == "depthwise_convolution":
                rows = window  # a matrix of one column for each channel: as many weights and products
            elif layer["op"] in ("convolution", "dense"):
                rows = window * depth
            else:
                continue
            lines.append(
                json.dumps(
                    {
                        "name": layer["name"],
                        "inputs": [rows],
                        "columns": channels,
                        "vectors": height * width,
                        "bits": 8,
                    }
                )
            )
        bytes_in = math.prod(self.head["input"]["shape"])
        bytes_out = math.prod(sides[self.layers[-1]["name"]])
        head = f'{{"input_bytes": {bytes_in}, "output_bytes": {bytes_out}, "layers": ['
        return head + "\n   " + ",\n   ".join(lines) + "\n ]}"

    def text(self):
        """One line a layer: what changed is what a diff shows."""
        lines = [f'"{key}": {json.dumps(value)}' for key, value in self.head.items()]
        layers = ",\n  ".join(json.dumps(layer) for layer in self.layers)
        lines.append(f'"layers": [\n  {layers}\n ]')
        lines.append(f'"output": {json.dumps(self.layers[-1]["name"])}')
        return "{\n " + ",\n ".join(lines) + "\n}\n"


def digits():
    # The network whose 15,278 cycles the chip's own compiler estimated (tinycoral, NOTES.md): VALID convolutions
    # 5x5 -> 32, 5x5 -> 32, max pool, 3x3 -> 64, 3x3 -> 64, max pool, fully connected 10.
    network = Network("digits", [28, 28, 1])
    value = network.convolution("input", 32, 5, padding="valid")
    value = network.convolution(value, 32, 5, padding="valid")
    value = network.max_pool(value, 2, 2, "valid")
    value = network.convolution(value, 64, 3, padding="valid")
    value = network.convolution(value, 64, 3, padding="valid")
    value = network.max_pool(value, 2, 2, "valid")
    value = network.add("flatten", value)
    network.add("dense", value, "scores", units=10)
    return network


def mobilenet_v1():
    # Howard et al. 2017, arXiv 1704.04861, Table 1.
    network = Network("mobilenet_v1", [224, 224, 3])
    value = network.convolution("input", 32, 3, 2)
    for stride, filters in [(1, 64), (2, 128), (1, 128), (2, 256), (1, 256), (2, 512)] + [(1, 512)] * 5 + [
        (2, 1024),
        (1, 1024),
    ]:
        value = network.convolution(network.depthwise(value, 3, stride), filters)
    network.classifier(value, 1001)
    return network


def inception_v1(five=3):
    # Szegedy et al. 2014, arXiv 1409.4842, Table 1, with 3x3 in place of 5x5, as in TensorFlow's slim models.
    network = Network("inception_v1", [224, 224, 3])
    value = network.max_pool(network.convolution("input", 64, 7, 2), 3, 2)
    value = network.convolution(network.convolution(value, 64), 192, 3)
    value = network.max_pool(value, 3, 2)
    modules = [
        (64, 96, 128, 16, 32, 32),
        (128, 128, 192, 32, 96, 64),
        3,
        (192, 96, 208, 16, 48, 64),
        (160, 112, 224, 24, 64, 64),
        (128, 128, 256, 24, 64, 64),
        (112, 144, 288, 32, 64, 64),
        (256, 160, 320, 32, 128, 128),
        2,
        (256, 160, 320, 32, 128, 128),
        (384, 192, 384, 48, 128, 128),
    ]
    for module in modules:
        if isinstance(module, int):
            value = network.max_pool(value, module, 2)
            continue
        one, three_in, three, five_in, five_out, pooled = module
        branches = [
            network.convolution(value, one),
            network.convolution(network.convolution(value, three_in), three, 3),
            network.convolution(network.convolution(value, five_in), five_out, five),
            network.convolution(network.max_pool(value, 3, 1), pooled),
        ]
        value = network.add("concat", branches)
    network.classifier(value, 1001)
    return network


def resnet50_v1(stride_first=True):
    # He et al. 2015, arXiv 1512.03385, Table 1; the stride is in the first convolution of a block, or in the second.
    network = Network("resnet50_v1", [299, 299, 3])
    value = network.max_pool(network.convolution("input", 64, 7, 2), 3, 2)
    for stage, (width, blocks) in enumerate([(64, 3), (128, 4), (256, 6), (512, 3)]):
        for block in range(blocks):
            stride = 2 if block == 0 and stage > 0 else 1
            shortcut = value
            if block == 0:
                shortcut = network.convolution(value, 4 * width, 1, stride, activation="linear")
            value = network.convolution(value, width, 1, stride if stride_first else 1)
            value = network.convolution(value, width, 3, 1 if stride_first else stride)
            value = network.convolution(value, 4 * width, activation="linear")
            value = network.add("add", [value, shortcut], activation="relu")
    network.classifier(value, 1000)
    return network


def vgg16():
    # Simonyan and Zisserman 2014, arXiv 1409.1556, Table 1, column D.
    network = Network("vgg16", [224, 224, 3])
    value = "input"
    for width, layers in [(64, 2), (128, 2), (256, 3), (512, 3), (512, 3)]:
        for _ in range(layers):
            value = network.convolution(value, width, 3)
        value = network.max_pool(value, 2, 2)
    value = network.add("flatten", value)
    for _ in range(2):
        value = network.add("dense", value, units=4096, activation="relu")
    network.add("softmax", network.add("dense", value, "scores", units=1000), "probabilities")
    return network


def efficientnet_edgetpu_s(stride_last=True):
    # Gupta and Akin 2020, arXiv 2003.02838, and the models published with it: fused blocks expand by 3x3; their stride
    # is in the 1x1 projection.
    network = Network("efficientnet_edgetpu_s", [224, 224, 3])
    value = network.convolution("input", 32, 3, 2)
    channels = 32
    stages = [
        # blocks, kernel, stride, expansion, filters, fused
        (1, 3, 1, 4, 24, True),
        (2, 3, 2, 8, 32, True),
        (4, 3, 2, 8, 48, True),
        (5, 5, 2, 8, 96, False),
        (4, 5, 1, 8, 144, False),
        (2, 5, 2, 8, 192, False),
    ]
    for blocks, kernel, stride, expansion, filters, fused in stages:
        for block in range(blocks):
            step = stride if block == 0 else 1
            shortcut = value
            # The first stage's expansion is of its filters, the others' of their inputs.
            wide = expansion * (filters if channels == 32 and filters == 24 else channels)
            if fused:
                value = network.convolution(value, wide, kernel, 1 if stride_last else step)
                value = network.convolution(value, filters, 1, step if stride_last else 1, activation="linear")
            else:
                value = network.convolution(value, wide)
                value = network.depthwise(value, kernel, step)
                value = network.convolution(value, filters, activation="linear")
            if block > 0:
                value = network.add("add", [value, shortcut])
            channels = filters
    value = network.convolution(value, 1280)
    network.classifier(value, 1001)
    return network


def densenet121():
    # Huang et al. 2016, arXiv 1608.06993, Table 1, DenseNet-121 with growth 32. Batch normalization before a convolution
    # is a factor and a summand for each channel: a depthwise convolution of one pixel. Which DenseNet was measured is
    # not published.
    network = Network("densenet121", [224, 224, 3])
    value = network.max_pool(network.convolution("input", 64, 7, 2), 3, 2)
    channels = 64
    for stage, layers in enumerate([6, 12, 24, 16]):
        if stage > 0:
            channels //= 2
            value = network.convolution(network.depthwise(value, 1), channels, activation="linear")
            value = network.add("average_pool", value, kernel=2, stride=2, padding="valid")
        for _ in range(layers):
            new = network.convolution(network.depthwise(value, 1), 128)
            new = network.convolution(new, 32, 3, activation="linear")
            value = network.add("concat", [value, new])
            channels += 32
    network.classifier(network.depthwise(value, 1), 1000)
    return network


def mobilenet_v2_ssd():
    # Sandler et al. 2018, arXiv 1801.04381, Table 2, with the boxes of Liu et al. 2015, arXiv 1512.02325, on the layers
    # that TensorFlow's ssd_mobilenet_v2_coco names; each box has 4 numbers and 91 classes. What comes behind the
    # concatenation of all of them is the host's, and not here.
    network = Network("mobilenet_v2_ssd", [224, 224, 3])
    value = network.convolution("input", 32, 3, 2)
    channels = 32
    features = []
    blocks = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
    for expansion, filters, count, stride in blocks:
        for block in range(count):
            step = stride if block == 0 else 1
            wide = network.convolution(value, expansion * channels) if expansion > 1 else value
            if filters == 160 and block == 0:
                features.append((wide, 3))
            new = network.convolution(network.depthwise(wide, 3, step), filters, activation="linear")
            value = network.add("add", [value, new]) if block > 0 else new
            channels = filters
    value = network.convolution(value, 1280)
    features.append((value, 6))
    for filters in [512, 256, 256, 128]:
        value = network.convolution(network.convolution(value, filters // 2), filters, 3, 2)
        features.append((value, 6))
    heads = []
    for source, boxes in features:
        for numbers in [4, 91]:
            head = network.convolution(source, boxes * numbers, activation="linear")
            heads.append(network.add("flatten", head))
    network.add("concat", heads, "boxes")
    return network


def inverted_residuals(network, width=1.0, output_stride=32):
    """MobileNet v2 up to its last block, and the expansions of its blocks (Sandler et al. 2018, arXiv 1801.04381, Table 2).

    With an output stride of 16, the last strides become dilations.
    """
    value = network.convolution("input", channels_of(32, width), 3, 2)
    channels = channels_of(32, width)
    expansions = []
    reached, dilation = 2, 1
    blocks = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
    for expansion, filters, count, stride in blocks:
        next_dilation = dilation
        if reached * stride > output_stride:
            next_dilation, stride = dilation * stride, 1
        reached *= stride
        filters = channels_of(filters, width)
        for block in range(count):
            wide = value
            if expansion > 1:
                wide = network.convolution(value, expansion * channels)
                expansions.append(wide)
            keys = {"dilation": dilation} if dilation > 1 else {}
            deep = network.depthwise(wide, 3, stride if block == 0 else 1, **keys)
            new = network.convolution(deep, filters, activation="linear")
            value = network.add("add", [value, new]) if block > 0 else new
            channels = filters
            dilation = next_dilation
    return value, expansions


def channels_of(channels, width):
    """Rounded to a multiple of 8, and not by more than a tenth downwards."""
    rounded = max(8, int(channels * width + 4) // 8 * 8)
    return rounded + 8 if rounded < 0.9 * channels * width else rounded


def unet_mobilenet_v2():
    # tensorflow.org/tutorials/images/segmentation, whose data the published file was trained with: MobileNet v2 up to its
    # last projection, then five transposed convolutions, each but the last beside the expansion of as many pixels.
    network = Network("unet_mobilenet_v2", [128, 128, 3])
    value, expansions = inverted_residuals(network)
    for filters, skip in [(512, 12), (256, 5), (128, 2), (64, 0)]:
        value = network.transposed(value, filters)
        value = network.add("concat", [value, expansions[skip]])
    # The last one's enlarged image does not fit the tiles. Its four results for each pixel lie in channels here.
    network.convolution(value, 4 * 3, 2, activation="linear", name="classes")
    return network


def deeplab_v3(width):
    # Sandler et al. 2018, 6.3, with Chen et al. 2017, arXiv 1706.05587: MobileNet v2 with an output stride of 16, then 256
    # features of each pixel. The published compiled files end here, too, and have a second result: 256 features of the
    # mean of all pixels, which are left out.
    network = Network(f"deeplab_v3_{round(10 * width):02}", [513, 513, 3])
    value, _ = inverted_residuals(network, width, output_stride=16)
    network.convolution(value, 256, name="features")
    return network


def dense(inputs, units):
    # The fully connected layers of tinycoral's bench/RESULTS.md.
    network = Network(f"dense_{inputs}x{units}", [inputs])
    network.add("dense", "input", "scores", units=units)
    return network


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    folder = parser.parse_args().folder
    classifiers = [mobilenet_v1(), inception_v1(), resnet50_v1(), vgg16(), efficientnet_edgetpu_s()]
    others = [mobilenet_v2_ssd(), unet_mobilenet_v2(), deeplab_v3(0.5), deeplab_v3(1.0)]
    sizes = [(64, 64), (256, 256), (288, 288), (768, 288), (288, 768), (1024, 1024), (2048, 1024), (1024, 4096), (2048, 2048)]
    for network in [digits(), *classifiers, densenet121(), *others, *[dense(*sides) for sides in sizes]]:
        (folder / f"{network.head['name']}.json").write_text(network.text(), encoding="ascii")
    # Networks as they were not taken, for sim validate edge_tpu --choices.
    (folder / "choices").mkdir(exist_ok=True)
    for name, network in [
        ("inception_v1_5x5", inception_v1(five=5)),
        ("efficientnet_edgetpu_s_stride_first", efficientnet_edgetpu_s(stride_last=False)),
        ("resnet50_v1_stride_3x3", resnet50_v1(stride_first=False)),
    ]:
        (folder / "choices" / f"{name}.json").write_text(network.text(), encoding="ascii")
    shapes = [f'"{NAMES.get(network.head["name"], network.head["name"])}": {network.shapes()}' for network in classifiers]
    text = "{\n " + ",\n ".join(['"schema": "sim.shapes/1"', *shapes]) + "\n}\n"
    (folder / "shapes.json").write_text(text, encoding="ascii")


# How configs/validation/edge_tpu.json names them.
NAMES = {"efficientnet_edgetpu_s": "efficientnet_s"}


if __name__ == "__main__":
    main()
