#include "sim/view/arrays/npy_file.h"

#include <fmt/format.h>

#include <bit>
#include <stdexcept>
#include <string_view>

#include "base/whole_file.h"
#include "base/zip/zip_file.h"

namespace systole::arrays {
namespace {

std::string_view descr_of(DataType type) {
    switch (type) {
        case DataType::Uint8:
            return "|u1";
        case DataType::Int8:
            return "|i1";
        case DataType::Int16:
            return "<i2";
        case DataType::Uint16:
            return "<u2";
        case DataType::Int32:
            return "<i4";
        case DataType::Float32:
            return "<f4";
        case DataType::Uint32:
            return "<u4";
        case DataType::Float16:
            return "<f2";
        case DataType::Bool:
            return "|b1";
        case DataType::Bfloat16:
            break;
    }
    throw std::logic_error("NumPy has no bfloat16");
}

}  // namespace

std::string npy_header(DataType type, std::span<const std::uint64_t> shape) {
    std::string extents;
    for (const std::uint64_t extent : shape)
        extents += fmt::format("{}{}", extents.empty() ? "" : ", ", extent);
    if (shape.size() == 1) extents += ',';  // as Python writes a tuple of one
    std::string dictionary =
        fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr_of(type), extents);
    const std::string_view magic("\x93NUMPY\x01\x00", 8);
    constexpr std::size_t size_bytes = 2;
    constexpr std::size_t alignment = 64;  // of the values, so that a file can be mapped into memory
    const std::size_t before = magic.size() + size_bytes + dictionary.size() + 1;
    dictionary.append((alignment - before % alignment) % alignment, ' ');
    dictionary += '\n';
    std::string header(magic);
    header += static_cast<char>(dictionary.size() & 0xffU);
    header += static_cast<char>(dictionary.size() >> 8U);
    return header + dictionary;
}

void write_npy(const std::filesystem::path& path, DataType type, std::span<const std::uint64_t> shape,
               std::span<const std::uint8_t> values) {
    static_assert(std::endian::native == std::endian::little, "values are written without swapping bytes");
    WholeFile file(path);
    file.write(npy_header(type, shape));
    file.write({reinterpret_cast<const char*>(values.data()), values.size()});
    file.commit();
}

void write_npz(const std::filesystem::path& path, std::span<const NamedArray> arrays) {
    std::vector<ZipEntry> entries;
    for (const NamedArray& array : arrays) {
        ZipEntry& entry = entries.emplace_back(
            ZipEntry{.name = array.name + ".npy", .bytes = npy_header(array.type, array.shape)});
        entry.bytes.append(array.values.begin(), array.values.end());
    }
    write_file(path, zip_bytes(entries));
}

}  // namespace systole::arrays
