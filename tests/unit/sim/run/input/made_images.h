#pragma once

#include <zlib.h>

#include <utility>

#include "tests/unit/sim/run/input/made_files.h"

namespace systole::input::tests {

/// An image whose pixels follow from their index and its height.
inline Images made_image(std::uint32_t height, std::uint32_t width, std::uint32_t channels) {
    Bytes pixels(std::size_t{height} * width * channels);
    for (std::uint64_t i = 0; i < pixels.size(); ++i) {
        pixels[i] = static_cast<std::uint8_t>((i * i * 7 + i * 31 + height * std::uint64_t{17}) >> 3U);
    }
    return {.count = 1, .height = height, .width = width, .channels = channels, .values = std::move(pixels)};
}

inline std::uint32_t crc_of(const Images& images) {
    const Bytes& pixels = *images.pixels();
    return static_cast<std::uint32_t>(crc32(0, pixels.data(), static_cast<uInt>(pixels.size())));
}

inline Bytes file_bytes(const std::filesystem::path& path) {
    const std::string text = systole::tests::text_in(path);
    REQUIRE_FALSE(text.empty());
    return {text.begin(), text.end()};
}

/// A file that the fuzz programs begin with.
inline Bytes seed(const std::string& name) {
    return file_bytes(std::filesystem::path(SYSTOLE_SOURCE_DIR) / "tests/fuzz/seeds" / name);
}

}  // namespace systole::input::tests
