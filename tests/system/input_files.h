#pragma once

#include <cstddef>
#include <string>

// The bytes of image files.
namespace systole::tests {

/// An IDX file of `count` images of height x width, all 0.
inline std::string idx_images(unsigned char count, unsigned char height, unsigned char width) {
    std::string file{'\0', '\0', '\x08', '\x03'};
    for (const unsigned char extent : {count, height, width}) {
        file += std::string(3, '\0') + static_cast<char>(extent);
    }
    return file + std::string(std::size_t{count} * height * width, '\0');
}

/// A NumPy file with this header and these bytes of values.
inline std::string npy(const std::string& type, const std::string& shape, const std::string& values,
                       const std::string& order = "False") {
    std::string header = "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': " + shape + "}";
    header += std::string(117 - header.size(), ' ') + '\n';
    return std::string("\x93NUMPY\x01\0\x76\0", 10) + header + values;
}

/// A value in the bytes of this computer, `count` times.
template <class Value>
std::string repeated(Value value, std::size_t count) {
    std::string bytes;
    for (std::size_t i = 0; i < count; ++i) bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    return bytes;
}

}  // namespace systole::tests
