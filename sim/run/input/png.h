#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "sim/run/input/images.h"

namespace systole::input {

bool is_png(std::span<const std::uint8_t> bytes);

/// A PNG file as one image of 1 channel (gray) or 3 (RGB; a palette is looked up).
///
/// Values are those in the file: gray of 1, 2 or 4 bits is scaled to 0..255, 16 bits are rounded to 8, and
/// no gamma or colour profile is applied. An alpha channel is dropped if every pixel is opaque. An image
/// with a pixel that is not opaque, and so has no definite colour, throws an InputError, and so does any file
/// that libpng rejects. Bytes after the image's end chunk are ignored.
Images read_png(std::span<const std::uint8_t> bytes, std::string_view file);

}  // namespace systole::input
