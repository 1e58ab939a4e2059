#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/run/input/byte_stream.h"
#include "sim/run/input/images.h"

/// The readers of the file formats; `read.h` chooses between them.
namespace systole::input {

/// IDX, the format of MNIST: big-endian magic number 0x00, 0x00, element type, number of dimensions;
/// one big-endian 32-bit extent a dimension; the elements. Only unsigned bytes (type 0x08) are read.
bool is_idx(ByteStream& stream);

/// An IDX file of images: 3 dimensions (N, H, W: one channel) or 4 (N, H, W, C).
Images read_idx_images(ByteStream& stream);

/// An IDX file of labels: 1 dimension, one byte a label.
std::vector<std::uint32_t> read_idx_labels(ByteStream& stream);

/// A NumPy file of images: shape (H, W), (N, H, W) or (N, H, W, C) in C order; |u1 gives pixels, <f4 and
/// <f8 give floats. Shape (N, values) gives N vectors, if the network takes so many `values` and does not
/// take N * values. Throws InputError for values that are not finite as 32-bit floats.
Images read_npy_images(ByteStream& stream, std::optional<std::uint64_t> values = std::nullopt);

/// A NumPy file of labels: shape (N,); |u1, <i4 or <i8, from 0 to 2^32 - 1.
std::vector<std::uint32_t> read_npy_labels(ByteStream& stream);

/// The header of a NumPy file.
struct NpyHeader {
    std::string descr;                 ///< element type as NumPy writes it: "|u1", "<f4", ...
    std::vector<std::uint32_t> shape;  ///< empty for a scalar
};

bool is_npy(ByteStream& stream);

/// Reads magic number, version (1.0 or 2.0) and header of a .npy file, and leaves the stream at the first
/// value. Throws InputError for anything else, for Fortran order, and for extents of 2^32 or more.
NpyHeader read_npy_header(ByteStream& stream);

bool is_png(std::span<const std::uint8_t> bytes);

/// A PNG file as one image of 1 channel (gray) or 3 (RGB; a palette is looked up).
///
/// Values are those in the file: gray of 1, 2 or 4 bits is scaled to 0..255, 16 bits are rounded to 8, and
/// no gamma or colour profile is applied. An alpha channel is dropped if every pixel is opaque. An image
/// with a pixel that is not opaque, and so has no definite colour, throws an InputError, and so does any file
/// that libpng rejects. Bytes after the image's end chunk are ignored.
Images read_png(std::span<const std::uint8_t> bytes, std::string_view file);

}  // namespace systole::input
