"""Bends training images a little, anew each time they are shown."""

import math

import torch
import torch.nn.functional as F

MAX_TURN = math.radians(12)
MAX_SCALING = 0.12
MAX_SHEAR = 0.18
MAX_SHIFT_PIXELS = 2.0
ELASTIC_KNOTS = 6
ELASTIC_PIXELS = 0.9


def augment(images: torch.Tensor, random: torch.Generator) -> torch.Tensor:
    """Turns, scales, shears, shifts and elastically bends each image (count, 1, side, side)."""
    count, _, side, _ = images.shape
    grid = F.affine_grid(_affine(count, side, random), list(images.shape), align_corners=False)
    grid = grid + _elastic(count, side, random)
    return F.grid_sample(images, grid, align_corners=False)


def _affine(count: int, side: int, random: torch.Generator) -> torch.Tensor:
    """One random 2x3 matrix per image, in grid_sample's coordinates (-1 to 1 across the image)."""
    turn = _spread(count, MAX_TURN, random)
    width = 1 + _spread(count, MAX_SCALING, random)
    height = 1 + _spread(count, MAX_SCALING, random)
    shear = _spread(count, MAX_SHEAR, random)
    shift_x = _spread(count, 2 * MAX_SHIFT_PIXELS / side, random)
    shift_y = _spread(count, 2 * MAX_SHIFT_PIXELS / side, random)
    cos, sin = torch.cos(turn), torch.sin(turn)
    first = torch.stack([width * cos, shear - height * sin, shift_x], dim=1)
    second = torch.stack([width * sin, height * cos, shift_y], dim=1)
    return torch.stack([first, second], dim=1)


def _elastic(count: int, side: int, random: torch.Generator) -> torch.Tensor:
    """A smooth field of small displacements (count, side, side, 2), in the same coordinates."""
    knots = torch.randn(count, 2, ELASTIC_KNOTS, ELASTIC_KNOTS, generator=random)
    field = F.interpolate(knots, size=(side, side), mode="bicubic", align_corners=False)
    return field.permute(0, 2, 3, 1) * (2 * ELASTIC_PIXELS / side)


def _spread(count: int, limit: float, random: torch.Generator) -> torch.Tensor:
    """Evenly spread numbers between -limit and limit."""
    return (2 * torch.rand(count, generator=random) - 1) * limit
