"""The article's network, in Keras."""

from types import ModuleType
from typing import Any

MNIST_SIDE = 28
NUM_CLASSES = 10


def make_model(api: ModuleType, size_multiplier: int = 1, momentum: float = 0.99) -> Any:
    """The layers as the article has them; `api` is keras (Keras 3) or tf_keras (Keras 2).

    The size multiplier makes the sides of the images as many times 28; the momentum is that of the means that batch
    normalization keeps, which Keras has as 0.99.
    """
    side = MNIST_SIDE * size_multiplier
    layers = api.layers

    def normalization(name: str) -> Any:
        return layers.BatchNormalization(scale=False, center=True, momentum=momentum, name=name)

    return api.Sequential(
        [
            layers.Input((side * side,), name="image_input"),
            layers.Reshape(target_shape=(side, side, 1), name="image"),
            layers.Conv2D(12, 3, padding="same", use_bias=False, name="conv2d"),
            normalization("batch_normalization"),
            layers.Activation("relu", name="activation"),
            layers.Conv2D(24, 6, padding="same", use_bias=False, strides=2, name="conv2d_1"),
            normalization("batch_normalization_1"),
            layers.Activation("relu", name="activation_1"),
            layers.Conv2D(64, 6, padding="same", use_bias=False, strides=2, name="conv2d_2"),
            normalization("batch_normalization_2"),
            layers.Activation("relu", name="activation_2"),
            layers.Flatten(name="flatten"),
            layers.Dense(200, use_bias=False, name="dense"),
            normalization("batch_normalization_3"),
            layers.Activation("relu", name="activation_3"),
            layers.Dropout(0.4, name="dropout"),
            layers.Dense(NUM_CLASSES, activation="softmax", name="dense_1"),
        ],
        name="mnist_cnn",
    )
