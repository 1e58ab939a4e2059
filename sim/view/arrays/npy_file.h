#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/data_type.h"

namespace systole::arrays {

/// The beginning of a NumPy file (version 1.0) of this type and shape in C order, up to the values. Throws
/// std::logic_error for a type that NumPy has not (bfloat16).
std::string npy_header(DataType type, std::span<const std::uint64_t> shape);

/// An array with its values, little endian.
struct NamedArray {
    std::string name;
    DataType type = DataType::Float32;
    std::vector<std::uint64_t> shape;  ///< empty for a single number
    std::vector<std::uint8_t> values;
};

/// Writes an .npz file, as numpy.savez does. Throws OutputError, and ZipError for two arrays of one name.
void write_npz(const std::filesystem::path& path, std::span<const NamedArray> arrays);

/// Writes a NumPy file of values, little endian. Throws OutputError.
void write_npy(const std::filesystem::path& path, DataType type, std::span<const std::uint64_t> shape,
               std::span<const std::uint8_t> values);

}  // namespace systole::arrays
