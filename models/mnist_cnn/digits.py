#!/usr/bin/env python3
"""Draws digits the way MNIST shows them, from fonts that Debian packages.

Each digit is a glyph of a (mostly handwritten) font, drawn large with a pen
of random width, wobbled, slanted and turned, then scaled into a box of 20x20
pixels and laid into 28x28 by its centre of mass: white ink on black.
"""

import argparse
import math
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

from idx import write_idx

IMAGE_SIDE = 28
BOX_SIDE = 20
CLASSES = 10

GLYPH_HEIGHT = 100
CANVAS_SIDE = 280
WOBBLE_CELLS = 4

FONT_ROOT = Path("/usr/share/fonts")


@dataclass(frozen=True)
class Face:
    """A font file, its Debian package, and the least and most to widen its strokes by."""

    package: str
    file: str
    strokes: tuple[int, int]


FACES = (
    Face("fonts-bwht", "opentype/bwht/BecauseWeBuild-Regular.otf", strokes=(0, 2)),
    Face("fonts-bwht", "opentype/bwht/BecauseWeConnect-Regular.otf", strokes=(0, 2)),
    Face("fonts-bwht", "opentype/bwht/BecauseWeCreate-Regular.otf", strokes=(1, 3)),
    Face("fonts-bwht", "opentype/bwht/BecauseWeLearn-Regular.otf", strokes=(0, 1)),
    Face("fonts-bwht", "opentype/bwht/BecauseWeMentor-Regular.otf", strokes=(0, 1)),
    Face("fonts-bwht", "opentype/bwht/BecauseWeOrganize-Regular.otf", strokes=(0, 1)),
    Face("fonts-comic-neue", "opentype/comic-neue/ComicNeue-Regular.otf", strokes=(2, 4)),
    Face("fonts-dancingscript", "opentype/dancingscript/DancingScript-Regular.otf", strokes=(2, 4)),
    Face("fonts-dejavu-core", "truetype/dejavu/DejaVuSans.ttf", strokes=(0, 2)),
    Face("fonts-dkg-handwriting", "truetype/fifthhorseman/dkg.ttf", strokes=(1, 3)),
    Face("fonts-dkg-handwriting", "truetype/fifthhorseman/dkgBd.ttf", strokes=(0, 1)),
    Face("fonts-havana", "opentype/havana/Havana-Regular.otf", strokes=(0, 2)),
    Face("fonts-humor-sans", "truetype/humor-sans/Humor-Sans.ttf", strokes=(0, 0)),
    Face("fonts-kaushanscript", "opentype/kaushanscript/KaushanScript-Regular.otf", strokes=(0, 1)),
    Face("fonts-kiloji", "truetype/kiloji/kiloji.ttf", strokes=(2, 4)),
    Face("fonts-kiloji", "truetype/kiloji/kiloji_b.ttf", strokes=(0, 2)),
    Face("fonts-klee", "truetype/klee/KleeOne-Regular.ttf", strokes=(2, 4)),
    Face("fonts-leckerli-one", "truetype/leckerli-one/LeckerliOne-Regular.ttf", strokes=(0, 0)),
    Face("fonts-liberation", "truetype/liberation/LiberationSans-Regular.ttf", strokes=(0, 2)),
    Face("fonts-rufscript", "truetype/rufscript/Rufscript010.ttf", strokes=(0, 1)),
    Face("fonts-sjfonts", "truetype/sjfonts/SteveHand.ttf", strokes=(2, 4)),
    Face("fonts-tlwg-purisa-otf", "opentype/tlwg/Purisa.otf", strokes=(1, 3)),
    Face("fonts-tomsontalks", "truetype/tomsontalks/TomsonTalks.ttf", strokes=(0, 2)),
    Face("fonts-yusei-magic", "truetype/yusei-magic/YuseiMagic-Regular.ttf", strokes=(0, 1)),
)


class DigitPainter:
    """Draws any number of digits; the seed settles all of them."""

    def __init__(self, seed: int, fonts: Path = FONT_ROOT) -> None:
        require_fonts(fonts)
        self._random = np.random.default_rng(seed)
        self._fonts = [ImageFont.truetype(str(fonts / face.file), GLYPH_HEIGHT) for face in FACES]

    def draw_set(self, per_class: int) -> tuple[np.ndarray, np.ndarray]:
        """Returns shuffled images (count, 28, 28) and their labels, equally many of each digit."""
        labels = np.repeat(np.arange(CLASSES, dtype=np.uint8), per_class)
        self._random.shuffle(labels)
        images = np.stack([self.draw(int(label)) for label in labels])
        return images, labels

    def draw(self, digit: int) -> np.ndarray:
        """Returns one image of 28x28 unsigned bytes."""
        canvas = self._turn_and_slant(self._wobble(self._glyph(digit)))
        ink = self._scale_into_box(canvas)
        return self._add_noise(self._lay_by_centre_of_mass(ink))

    def _glyph(self, digit: int) -> Image.Image:
        """The digit in a random font and stroke width, in the middle of a large canvas."""
        choice = self._random.integers(len(FACES))
        least, most = FACES[choice].strokes
        stroke = int(self._random.integers(least, most + 1))
        canvas = Image.new("L", (CANVAS_SIDE, CANVAS_SIDE))
        middle = (CANVAS_SIDE / 2, CANVAS_SIDE / 2)
        ImageDraw.Draw(canvas).text(
            middle, str(digit), fill=255, font=self._fonts[choice], anchor="mm", stroke_width=stroke
        )
        return canvas

    def _wobble(self, canvas: Image.Image) -> Image.Image:
        """Moves the knots of a coarse grid over the ink a little, and the picture with them."""
        left, top, right, bottom = canvas.getbbox()
        reach = 0.035 * max(right - left, bottom - top)
        margin = round(2 * reach)
        left, top, right, bottom = left - margin, top - margin, right + margin, bottom + margin
        columns = np.linspace(left, right, WOBBLE_CELLS + 1).round().astype(int)
        rows = np.linspace(top, bottom, WOBBLE_CELLS + 1).round().astype(int)
        knots = np.stack(np.meshgrid(columns, rows, indexing="ij"), axis=-1)
        moved = knots + self._random.normal(0, reach, knots.shape)
        mesh = []
        for i in range(WOBBLE_CELLS):
            for j in range(WOBBLE_CELLS):
                target = (columns[i], rows[j], columns[i + 1], rows[j + 1])
                corners = (moved[i, j], moved[i, j + 1], moved[i + 1, j + 1], moved[i + 1, j])
                mesh.append((target, tuple(np.concatenate(corners))))
        return canvas.transform(canvas.size, Image.Transform.MESH, mesh, Image.Resampling.BICUBIC)

    def _turn_and_slant(self, canvas: Image.Image) -> Image.Image:
        """Rotates by up to 10 degrees, shears, and makes the digit narrower or wider."""
        angle = math.radians(self._random.uniform(-10, 10))
        slant = self._random.uniform(-0.2, 0.2)
        width = self._random.uniform(0.85, 1.2)
        cos, sin = math.cos(angle), math.sin(angle)
        rotation = np.array([[cos, -sin], [sin, cos]])
        stretch = np.array([[width, slant], [0, 1]])
        backward = np.linalg.inv(rotation @ stretch)
        middle = np.full(2, CANVAS_SIDE / 2)
        offset = middle - backward @ middle
        coefficients = (*backward[0], offset[0], *backward[1], offset[1])
        return canvas.transform(
            canvas.size, Image.Transform.AFFINE, coefficients, Image.Resampling.BICUBIC
        )

    def _scale_into_box(self, canvas: Image.Image) -> np.ndarray:
        """Cuts the ink out and scales its longer side to (almost) the box, softly drawn."""
        cut = canvas.crop(canvas.getbbox())
        scale = self._random.uniform(0.9, 1) * BOX_SIDE / max(cut.size)
        size = tuple(max(1, round(side * scale)) for side in cut.size)
        softness = self._random.uniform(0, 0.35) / scale
        cut = cut.filter(ImageFilter.GaussianBlur(softness)).resize(size, Image.Resampling.BICUBIC)
        ink = np.asarray(cut, dtype=np.float64)
        return ink * self._random.uniform(220, 255) / ink.max()

    def _lay_by_centre_of_mass(self, ink: np.ndarray) -> np.ndarray:
        """Lays the ink into 28x28 with its centre of mass in the middle, give or take a pixel."""
        picture = np.zeros((IMAGE_SIDE, IMAGE_SIDE))
        starts = []
        for axis, length in enumerate(ink.shape):
            profile = ink.sum(axis=1 - axis)
            centre = (profile * np.arange(length)).sum() / profile.sum()
            shift = self._random.uniform(-1, 1)
            start = round((IMAGE_SIDE - 1) / 2 - centre + shift)
            starts.append(min(max(start, 0), IMAGE_SIDE - length))
        row, column = starts
        picture[row : row + ink.shape[0], column : column + ink.shape[1]] = ink
        return picture

    def _add_noise(self, picture: np.ndarray) -> np.ndarray:
        """Adds a little grain to the whole picture and rounds to bytes."""
        grain = self._random.normal(0, self._random.uniform(0, 8), picture.shape)
        return (picture + grain).round().clip(0, 255).astype(np.uint8)


def require_fonts(fonts: Path) -> None:
    """Raises FileNotFoundError naming the Debian packages of the fonts that are not there."""
    missing = sorted({face.package for face in FACES if not (fonts / face.file).is_file()})
    if missing:
        raise FileNotFoundError(f"fonts are missing; run: apt-get install {' '.join(missing)}")


def contact_sheet(images: np.ndarray, columns: int = 25, zoom: int = 2) -> Image.Image:
    """All images side by side, enlarged, for a human to look at."""
    rows = math.ceil(len(images) / columns)
    sheet = np.zeros((rows * columns, IMAGE_SIDE, IMAGE_SIDE), dtype=np.uint8)
    sheet[: len(images)] = images
    lines = sheet.reshape(rows, columns, IMAGE_SIDE, IMAGE_SIDE).transpose(0, 2, 1, 3)
    picture = Image.fromarray(lines.reshape(rows * IMAGE_SIDE, columns * IMAGE_SIDE))
    return picture.resize((picture.width * zoom, picture.height * zoom), Image.Resampling.NEAREST)


def main() -> None:
    parser = argparse.ArgumentParser(description="Draw a set of digits and write it as IDX files.")
    parser.add_argument("--per-class", type=int, default=50, help="digits of each class (50)")
    parser.add_argument("--seed", type=int, default=2020, help="settles every pixel (2020)")
    parser.add_argument("--images", type=Path, required=True, help="IDX file to write, maybe .gz")
    parser.add_argument("--labels", type=Path, required=True, help="IDX file to write, maybe .gz")
    parser.add_argument("--fonts", type=Path, default=FONT_ROOT, help=f"folder ({FONT_ROOT})")
    parser.add_argument("--sheet", type=Path, help="PNG file showing all of them")
    arguments = parser.parse_args()

    images, labels = DigitPainter(arguments.seed, arguments.fonts).draw_set(arguments.per_class)
    write_idx(arguments.images, images)
    write_idx(arguments.labels, labels)
    if arguments.sheet:
        contact_sheet(images).save(arguments.sheet)


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError) as error:
        sys.exit(f"digits.py: {error}")
