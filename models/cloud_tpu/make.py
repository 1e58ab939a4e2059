#!/usr/bin/env python3
"""Writes products of one layer as graph files (docs/graph_files.md), and all shapes of sim validate cloud_tpu.

The classifiers among the shapes are those of models/coral, whose script this one reads; weights are drawn from a seed.
Cycles do not depend on their values.
"""

import argparse
import importlib.util
import pathlib

# Rows, and the inputs and outputs of a fully connected layer, as configs/validation/cloud_tpu.json names them.
PRODUCTS = [
    (8, 128),
    (128, 128),
    (4096, 128),
    (8, 1024),
    (64, 1024),
    (128, 1024),
    (1024, 1024),
    (4096, 1024),
    (8, 4096),
    (128, 4096),
    (1024, 4096),
    (128, 100),
    (128, 129),
    (128, 1000),
    (5, 128),
]
# The same with another number of outputs.
RECTANGLES = [(1024, 128, 4096), (1024, 4096, 128), (128, 4096, 1024)]


def of_coral():
    spec = importlib.util.spec_from_file_location("coral", pathlib.Path(__file__).parents[1] / "coral/make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def products_of(network):
    """The shapes of a network, without the normalizations of DenseNet, which are no products."""
    head, *layers = network.shapes().split("\n")
    products = [line.rstrip(",") for line in layers[:-1] if '"inputs": [1],' not in line]
    return head + "\n" + ",\n".join(products) + "\n" + layers[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    folder = parser.parse_args().folder
    coral = of_coral()
    shapes = []
    for rows, side in PRODUCTS:
        network = coral.dense(side, side)
        (folder / f"{network.head['name']}.json").write_text(network.text(), encoding="ascii")
        shapes.append(f'"m{rows}_k{side}": {network.shapes()}')
    for rows, depth, width in RECTANGLES:
        network = coral.dense(depth, width)
        (folder / f"{network.head['name']}.json").write_text(network.text(), encoding="ascii")
        shapes.append(f'"m{rows}_k{depth}_n{width}": {network.shapes()}')
    for network in [coral.inception_v1(), coral.resnet50_v1(), coral.vgg16(), coral.densenet121()]:
        shapes.append(f'"{network.head["name"]}": {products_of(network)}')
    text = "{\n " + ",\n ".join(['"schema": "sim.shapes/1"', *shapes]) + "\n}\n"
    (folder / "shapes.json").write_text(text, encoding="ascii")


if __name__ == "__main__":
    main()
