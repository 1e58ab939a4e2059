#pragma once

#include <catch2/catch.hpp>
#include <cstddef>
#include <filesystem>
#include <ostream>
#include <string>

#include "tests/support/files.h"

namespace systole::tests {

/// Type, shape and values of a file that NumPy reads.
struct WrittenArray {
    std::string descr;
    std::string shape;
    std::string values;

    bool operator==(const WrittenArray&) const = default;
};

inline std::ostream& operator<<(std::ostream& out, const WrittenArray& file) {
    out << file.descr << ' ' << file.shape;
    for (const char each : file.values) out << ' ' << int{static_cast<unsigned char>(each)};
    return out;
}

inline WrittenArray written_array(const std::filesystem::path& path) {
    constexpr std::size_t before_header = 10;
    const std::string file = text_in(path);
    INFO(path.string());
    REQUIRE(file.size() > before_header);
    const auto byte = [&](std::size_t at) { return std::size_t{static_cast<unsigned char>(file[at])}; };
    const std::size_t end = before_header + byte(8) + 256 * byte(9);
    REQUIRE(file.size() >= end);
    const std::string header = file.substr(before_header, end - before_header);
    const auto between = [&](const std::string& begin, const std::string& close) {
        const std::size_t first = header.find(begin) + begin.size();
        return header.substr(first, header.find(close, first) - first);
    };
    return {between("'descr': '", "'"), between("'shape': (", ")"), file.substr(end)};
}

}  // namespace systole::tests
