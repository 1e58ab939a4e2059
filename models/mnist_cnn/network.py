"""The digit network, as a PyTorch model that keeps to the conventions of Keras."""

import torch
import torch.nn.functional as F
from torch import nn

import keras_layers
from keras_layers import KerasLayer

MNIST_SIDE = 28
CLASSES = 10


def same_padding(size: int, kernel: int, stride: int) -> tuple[int, int]:
    """TensorFlow's "same" padding of one axis: how much goes before it and how much after."""
    outputs = -(-size // stride)
    total = max((outputs - 1) * stride + kernel - size, 0)
    return total // 2, total - total // 2


class SameConv2d(nn.Module):
    """A square convolution with "same" padding and no bias."""

    def __init__(self, inputs: int, filters: int, kernel_size: int, stride: int = 1) -> None:
        super().__init__()
        self.stride = stride
        self.kernel = nn.Parameter(torch.empty(filters, inputs, kernel_size, kernel_size))
        nn.init.xavier_uniform_(self.kernel)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        height, width = images.shape[2:]
        kernel_size = self.kernel.shape[-1]
        top_bottom = same_padding(height, kernel_size, self.stride)
        left_right = same_padding(width, kernel_size, self.stride)
        return F.conv2d(F.pad(images, left_right + top_bottom), self.kernel, stride=self.stride)

    def to_keras(self, name: str) -> KerasLayer:
        kernel = self.kernel.detach().permute(2, 3, 1, 0).contiguous().numpy()
        return keras_layers.conv2d(name, kernel, self.stride)


class CentringBatchNorm(nn.Module):
    """Batch normalization over the channels (axis 1) with a shift but no scale."""

    MOMENTUM = 0.99
    EPSILON = 1e-3

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.beta = nn.Parameter(torch.zeros(channels))
        self.register_buffer("moving_mean", torch.zeros(channels))
        self.register_buffer("moving_variance", torch.ones(channels))

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        return F.batch_norm(
            values,
            self.moving_mean,
            self.moving_variance,
            bias=self.beta,
            training=self.training,
            momentum=1 - self.MOMENTUM,
            eps=self.EPSILON,
        )

    def to_keras(self, name: str, axis: int) -> KerasLayer:
        return keras_layers.batch_normalization(
            name,
            axis,
            self.MOMENTUM,
            self.EPSILON,
            self.beta.detach().numpy(),
            self.moving_mean.numpy(),
            self.moving_variance.numpy(),
        )


class DigitNetwork(nn.Module):
    """Three convolutions and two dense layers; takes flat images of pixels 0 to 1, gives logits.

    The size multiplier makes the sides of the images as many times 28; all layers stay, and
    only the first dense one grows.
    """

    HIDDEN_UNITS = 200
    DROPOUT_RATE = 0.4

    def __init__(self, size_multiplier: int = 1) -> None:
        super().__init__()
        self.side = MNIST_SIDE * size_multiplier
        self.conv2d = SameConv2d(1, 12, kernel_size=3)
        self.batch_normalization = CentringBatchNorm(12)
        self.conv2d_1 = SameConv2d(12, 24, kernel_size=6, stride=2)
        self.batch_normalization_1 = CentringBatchNorm(24)
        self.conv2d_2 = SameConv2d(24, 64, kernel_size=6, stride=2)
        self.batch_normalization_2 = CentringBatchNorm(64)
        self.dense = nn.Linear((self.side // 4) ** 2 * 64, self.HIDDEN_UNITS, bias=False)
        self.batch_normalization_3 = CentringBatchNorm(self.HIDDEN_UNITS)
        self.dropout = nn.Dropout(self.DROPOUT_RATE)
        self.dense_1 = nn.Linear(self.HIDDEN_UNITS, CLASSES)
        for dense in (self.dense, self.dense_1):
            nn.init.xavier_uniform_(dense.weight)
        nn.init.zeros_(self.dense_1.bias)

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        values = pixels.reshape(-1, 1, self.side, self.side)
        values = F.relu(self.batch_normalization(self.conv2d(values)))
        values = F.relu(self.batch_normalization_1(self.conv2d_1(values)))
        values = F.relu(self.batch_normalization_2(self.conv2d_2(values)))
        values = values.permute(0, 2, 3, 1).flatten(start_dim=1)  # Keras flattens channels last
        values = F.relu(self.batch_normalization_3(self.dense(values)))
        return self.dense_1(self.dropout(values))

    def to_keras(self) -> list[KerasLayer]:
        """The same network as Keras layers, named as Keras names them; softmax included."""
        pixels = self.side * self.side
        return [
            keras_layers.input_layer("image_input", (pixels,)),
            keras_layers.reshape("image", (pixels,), (self.side, self.side, 1)),
            self.conv2d.to_keras("conv2d"),
            self.batch_normalization.to_keras("batch_normalization", axis=3),
            keras_layers.relu("activation"),
            self.conv2d_1.to_keras("conv2d_1"),
            self.batch_normalization_1.to_keras("batch_normalization_1", axis=3),
            keras_layers.relu("activation_1"),
            self.conv2d_2.to_keras("conv2d_2"),
            self.batch_normalization_2.to_keras("batch_normalization_2", axis=3),
            keras_layers.relu("activation_2"),
            keras_layers.flatten("flatten"),
            keras_layers.dense("dense", self.dense.weight.detach().T.numpy()),
            self.batch_normalization_3.to_keras("batch_normalization_3", axis=1),
            keras_layers.relu("activation_3"),
            keras_layers.dropout("dropout", self.DROPOUT_RATE),
            keras_layers.dense(
                "dense_1",
                self.dense_1.weight.detach().T.numpy(),
                self.dense_1.bias.detach().numpy(),
                activation="softmax",
            ),
        ]
