#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/run/input/byte_stream.h"

namespace systole::input {

/// The header of a NumPy file.
struct NpyHeader {
    std::string descr;                 ///< element type as NumPy writes it: "|u1", "<f4", ...
    std::vector<std::uint32_t> shape;  ///< empty for a scalar
};

bool is_npy(ByteStream& stream);

/// Reads magic number, version (1.0 or 2.0) and header of a .npy file, and leaves the stream at the first
/// value. Throws InputError for anything else, for Fortran order, and for extents of 2^32 or more.
NpyHeader read_npy_header(ByteStream& stream);

}  // namespace systole::input
