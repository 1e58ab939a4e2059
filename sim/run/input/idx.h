#pragma once

#include <cstdint>
#include <vector>

#include "sim/run/input/byte_stream.h"
#include "sim/run/input/images.h"

namespace systole::input {

/// IDX, the format of MNIST: big-endian magic number 0x00, 0x00, element type, number of dimensions;
/// one big-endian 32-bit extent a dimension; the elements. Only unsigned bytes (type 0x08) are read.
bool is_idx(ByteStream& stream);

/// An IDX file of images: 3 dimensions (N, H, W: one channel) or 4 (N, H, W, C).
Images read_idx_images(ByteStream& stream);

/// An IDX file of labels: 1 dimension, one byte a label.
std::vector<std::uint32_t> read_idx_labels(ByteStream& stream);

}  // namespace systole::input
