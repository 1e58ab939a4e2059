"""Random choices for the cases. The same seed gives the same case."""

import hashlib
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")

INTEGER_RANGES = {
    "int8": (-128, 127),
    "uint8": (0, 255),
    "int16": (-32768, 32767),
    "uint16": (0, 65535),
    "int32": (-(2**31), 2**31 - 1),
}


class Draw:
    def __init__(self, seed: str) -> None:
        digest = hashlib.sha256(seed.encode()).digest()
        self.random = np.random.default_rng(int.from_bytes(digest[:8], "little"))

    def integer(self, low: int, high: int) -> int:
        """An integer from low to high; both can be drawn."""
        return int(self.random.integers(low, high + 1))

    def real(self, low: float, high: float) -> float:
        return float(self.random.uniform(low, high))

    def chance(self, probability: float) -> bool:
        return bool(self.random.random() < probability)

    def choice(self, options: Sequence[T]) -> T:
        return options[self.integer(0, len(options) - 1)]

    def permutation(self, count: int) -> list[int]:
        return [int(axis) for axis in self.random.permutation(count)]

    def subset(self, options: Sequence[T], least: int = 1) -> list[T]:
        """Some of the options, in their order."""
        count = self.integer(least, len(options))
        chosen = sorted(self.permutation(len(options))[:count])
        return [options[index] for index in chosen]

    def floats(self, shape: Sequence[int], spread: float = 1.0) -> np.ndarray:
        return (self.random.standard_normal(tuple(shape)) * spread).astype(np.float32)

    def positive_floats(self, shape: Sequence[int], low: float, high: float) -> np.ndarray:
        return self.random.uniform(low, high, tuple(shape)).astype(np.float32)

    def powers_at_times(self, scales: np.ndarray) -> np.ndarray:
        """The scales, or the powers of two next to them: with these, exact halves are frequent."""
        if self.chance(0.6):
            return scales
        return np.exp2(np.rint(np.log2(scales))).astype(np.float32)

    def halves(self, numbers: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Real numbers half a step above the numbers, or next to that in float32."""
        reals = ((numbers.astype(np.float32) + np.float32(0.5)) * scale).astype(np.float32)
        beyond = self.integers(reals.shape, -1, 1, "int8").astype(np.float32)
        return np.where(beyond == 0, reals, np.nextafter(reals, reals + beyond)).astype(np.float32)

    def integers(self, shape: Sequence[int], low: int, high: int, type_name: str) -> np.ndarray:
        return self.random.integers(low, high + 1, tuple(shape)).astype(type_name)

    def stored(self, shape: Sequence[int], type_name: str) -> np.ndarray:
        """Values of a tensor as stored: normal floats, or integers over their whole range."""
        if type_name == "float32":
            return self.floats(shape)
        low, high = INTEGER_RANGES[type_name]
        values = self.integers(shape, low, high, type_name)
        if values.size > 1:  # the ends of the range are where types differ
            values.flat[0], values.flat[-1] = low, high
        return values

    def batch(self) -> int:
        """The first extent of an image: nearly always 1."""
        return self.integer(2, 3) if self.chance(0.08) else 1

    def image(
        self, sides: tuple[int, int] = (3, 12), channels: tuple[int, int] = (1, 9)
    ) -> list[int]:
        """A shape in the order N, H, W, C."""
        return [self.batch(), self.integer(*sides), self.integer(*sides), self.integer(*channels)]

    def shape(
        self, ranks: tuple[int, int] = (2, 4), extents: tuple[int, int] = (1, 7)
    ) -> list[int]:
        """A shape of any rank with batch 1."""
        return [1] + [self.integer(*extents) for _ in range(self.integer(*ranks) - 1)]

    def broadcast_from(self, shape: Sequence[int]) -> list[int]:
        """A shape that broadcasts to the given one."""
        kind = self.integer(0, 4)
        if kind == 0:
            return list(shape)
        if kind == 1:
            return [shape[-1]]
        if kind == 2:
            return [1] * len(shape)
        smaller = [extent if self.chance(0.5) else 1 for extent in shape]
        return smaller[self.integer(0, len(shape) - 1) :] if kind == 3 else smaller
