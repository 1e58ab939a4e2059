#pragma once

#include <zlib.h>

#include <utility>

#include "tests/support/source_dir.h"
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

/// EXIF data with an orientation: a TIFF file of one entry.
inline Bytes made_exif(std::uint8_t orientation, bool is_big_endian) {
    const auto put = is_big_endian ? add_big_endian : add_little_endian;
    Bytes exif;
    add(exif, is_big_endian ? "MM" : "II");
    put(exif, 42, 2);
    put(exif, 8, 4);  // where the directory begins
    put(exif, 1, 2);  // entry
    put(exif, 0x0112, 2);
    put(exif, 3, 2);  // 16-bit numbers, of which it has
    put(exif, 1, 4);
    put(exif, orientation, 2);
    put(exif, 0, 2);
    return exif;
}

/// A file that the fuzz programs begin with.
inline Bytes seed(const std::string& name) {
    return file_bytes(std::filesystem::path(systole::tests::source_dir()) / "tests/fuzz/seeds" / name);
}

}  // namespace systole::input::tests
