"""Bends training images a little, anew each time they are shown."""

import math

import tensorflow as tf

MAX_TURN = math.radians(12)
MAX_SCALING = 0.12
MAX_SHEAR = 0.18
MAX_SHIFT_PIXELS = 2.0
ELASTIC_KNOTS = 6
ELASTIC_PIXELS = 0.9


@tf.function
def augment(images: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
    """Turns, scales, shears, shifts and elastically bends each image (count, side, side).

    The two numbers of the seed settle everything.
    """
    count, side = tf.shape(images)[0], tf.shape(images)[1]
    seeds = tf.unstack(tf.random.split(seed, 7))
    middle = (tf.cast(side, tf.float32) - 1) / 2
    across = tf.range(tf.cast(side, tf.float32)) - middle
    y, x = tf.meshgrid(across, across, indexing="ij")
    turn = _spread(count, MAX_TURN, seeds[0])
    width = 1 + _spread(count, MAX_SCALING, seeds[1])
    height = 1 + _spread(count, MAX_SCALING, seeds[2])
    shear = _spread(count, MAX_SHEAR, seeds[3])
    cos, sin = tf.cos(turn), tf.sin(turn)
    bent = _elastic(count, side, seeds[6])
    columns = width * cos * x + (shear - height * sin) * y + bent[..., 0]
    rows = width * sin * x + height * cos * y + bent[..., 1]
    columns += _spread(count, MAX_SHIFT_PIXELS, seeds[4]) + middle
    rows += _spread(count, MAX_SHIFT_PIXELS, seeds[5]) + middle
    return _sample(images, rows, columns)


def _elastic(count: tf.Tensor, side: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
    """A smooth field of small displacements in pixels (count, side, side, 2)."""
    knots = tf.random.stateless_normal([count, ELASTIC_KNOTS, ELASTIC_KNOTS, 2], seed)
    return tf.image.resize(knots, [side, side], tf.image.ResizeMethod.BICUBIC) * ELASTIC_PIXELS


def _sample(images: tf.Tensor, rows: tf.Tensor, columns: tf.Tensor) -> tf.Tensor:
    """The images at fractional positions, bilinearly; outside them is black."""
    padded = tf.pad(images, [[0, 0], [1, 1], [1, 1]])
    last = tf.cast(tf.shape(images)[1], tf.float32)
    rows = tf.clip_by_value(rows, -1, last) + 1
    columns = tf.clip_by_value(columns, -1, last) + 1
    top, left = tf.floor(rows), tf.floor(columns)
    top, left = tf.minimum(top, last), tf.minimum(left, last)
    down, right = rows - top, columns - left
    top, left = tf.cast(top, tf.int32), tf.cast(left, tf.int32)

    def pixels(row: tf.Tensor, column: tf.Tensor) -> tf.Tensor:
        return tf.gather_nd(padded, tf.stack([row, column], axis=-1), batch_dims=1)

    above = pixels(top, left) * (1 - right) + pixels(top, left + 1) * right
    below = pixels(top + 1, left) * (1 - right) + pixels(top + 1, left + 1) * right
    return above * (1 - down) + below * down


def _spread(count: tf.Tensor, limit: float, seed: tf.Tensor) -> tf.Tensor:
    """Evenly spread numbers between -limit and limit, one for each image."""
    return tf.random.stateless_uniform([count, 1, 1], seed, -limit, limit)
