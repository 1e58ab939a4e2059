#pragma once

#include <cstdint>
#include <vector>

#include "sim/run/input/byte_stream.h"
#include "sim/run/input/images.h"
#include "sim/run/input/npy_header.h"

namespace systole::input {

/// A NumPy file of images: shape (H, W), (N, H, W) or (N, H, W, C) in C order; |u1 gives pixels, <f4 and
/// <f8 give floats. Throws InputError for values that are not finite as 32-bit floats.
Images read_npy_images(ByteStream& stream);

/// A NumPy file of labels: shape (N,); |u1, <i4 or <i8, from 0 to 2^32 - 1.
std::vector<std::uint32_t> read_npy_labels(ByteStream& stream);

}  // namespace systole::input
