#pragma once

#include "tests/unit/sim/run/input/made_files.h"

namespace systole::input::tests {

/// PNG files written byte by byte (W3C PNG specification), so that a test says exactly what is in them.
enum class Color : std::uint8_t { Gray = 0, Rgb = 2, Palette = 3, GrayAlpha = 4, Rgba = 6 };

struct Png {
    std::uint32_t width = 1;
    std::uint32_t height = 1;
    std::uint8_t depth = 8;  ///< bits a sample
    Color color = Color::Gray;
    Bytes rows = {};          ///< each row: a filter byte (0: none) and the packed samples
    Bytes palette = {};       ///< RGB triples
    Bytes transparency = {};  ///< the tRNS chunk
    bool interlaced = false;  ///< Adam7
    Bytes exif = {};          ///< the eXIf chunk
};

inline void add_chunk(Bytes& file, std::string_view type, const Bytes& data) {
    add_big_endian(file, data.size(), 4);
    const std::size_t begin = file.size();
    add(file, type);
    file.insert(file.end(), data.begin(), data.end());
    add_big_endian(file, crc32(0, file.data() + begin, static_cast<uInt>(file.size() - begin)), 4);
}

inline Bytes bytes_of(const Png& png) {
    Bytes file{0x89};
    add(file, "PNG\r\n\x1a\n");
    Bytes header;
    add_big_endian(header, png.width, 4);
    add_big_endian(header, png.height, 4);
    constexpr std::uint8_t deflate = 0;
    constexpr std::uint8_t adaptive_filter = 0;
    for (const std::uint8_t byte : {png.depth, static_cast<std::uint8_t>(png.color), deflate, adaptive_filter,
                                    static_cast<std::uint8_t>(png.interlaced)}) {
        header.push_back(byte);
    }
    add_chunk(file, "IHDR", header);
    if (!png.palette.empty()) add_chunk(file, "PLTE", png.palette);
    if (!png.transparency.empty()) add_chunk(file, "tRNS", png.transparency);
    if (!png.exif.empty()) add_chunk(file, "eXIf", png.exif);
    uLongf size = compressBound(png.rows.size());
    Bytes data(size);
    REQUIRE(compress(data.data(), &size, png.rows.data(), png.rows.size()) == Z_OK);
    data.resize(size);
    add_chunk(file, "IDAT", data);
    add_chunk(file, "IEND", {});
    return file;
}

}  // namespace systole::input::tests
