#pragma once

#include <string_view>

#include "sim/run/input/images.h"
#include "sim/run/record/spec.h"

/// The size of images, as Pillow and torchvision change it.
namespace systole::input {

/// The images of 8-bit pixels in another size, by bilinear interpolation as Pillow 11.3's Image.resize
/// computes it, bit by bit: half-pixel centres; where an image shrinks, the filter is as wide as the step
/// (antialiasing); rows get their new length first, then columns, and both results are rounded to 8 bits.
/// (Pillow 13.0 chooses by the sizes which of the two goes first, which changes some pixels by 1.) A size
/// without width is that of the shorter side; the other one keeps the proportion, rounded down, as
/// torchvision's Resize. Throws InputError, beginning with `file`, if the images are no pixels or too large
/// then.
Images resized(const Images& images, const run::ImageSize& size, std::string_view file);

/// The middle of the images of 8-bit pixels, as torchvision's CenterCrop takes it: with an odd number of
/// pixels to leave out, the side whose half is even gets the smaller part (Python's round). A size without
/// width is a square. Throws InputError if the images are no pixels or smaller.
Images cropped(const Images& images, const run::ImageSize& size, std::string_view file);

/// Red, green, blue becomes blue, green, red, and the reverse. Throws InputError for images without 3
/// channels.
void reverse_channels(Images& images, std::string_view file);

}  // namespace systole::input
