#include "sim/run/input/formats.h"
#include "sim/run/input/read.h"
#include "tests/unit/sim/run/input/made_images.h"
#include "tests/unit/sim/run/input/made_png.h"

namespace systole::input::tests {
namespace {

Images read_png(const Png& png) {
    return parse_images(bytes_of(png), "a.png");
}

TEST_CASE("PNG: gray of 8 bits is read unchanged", "[input][png]") {
    const Images image = read_png({.width = 2, .height = 3, .rows = {0, 1, 2, 0, 3, 255, 0, 0, 6}});
    CHECK(image.count == 1);
    CHECK(image.height == 3);
    CHECK(image.width == 2);
    CHECK(image.channels == 1);
    CHECK(*image.pixels() == Bytes{1, 2, 3, 255, 0, 6});
}

TEST_CASE("PNG: gray of fewer bits is scaled to the full range", "[input][png]") {
    CHECK(*read_png({.width = 9, .depth = 1, .rows = {0, 0b10100000, 0b10000000}}).pixels() ==
          Bytes{255, 0, 255, 0, 0, 0, 0, 0, 255});
    CHECK(*read_png({.width = 4, .depth = 2, .rows = {0, 0b00011011}}).pixels() == Bytes{0, 85, 170, 255});
    CHECK(*read_png({.width = 2, .depth = 4, .rows = {0, 0x1f}}).pixels() == Bytes{17, 255});
}

TEST_CASE("PNG: 16 bits are rounded to 8", "[input][png]") {
    // 255 of 65535 is 257 steps: each half step is 128.5. Cutting would give 128, 255, 255, 0, 0.
    const Bytes row{0, 0x80, 0x80, 0xff, 0x7e, 0xff, 0x7f, 0x00, 0x80, 0x00, 0x81};
    CHECK(*read_png({.width = 5, .depth = 16, .rows = row}).pixels() == Bytes{128, 254, 255, 0, 1});
}

TEST_CASE("PNG: RGB and palettes give three channels", "[input][png]") {
    const Images rgb = read_png({.width = 2, .color = Color::Rgb, .rows = {0, 1, 2, 3, 4, 5, 6}});
    CHECK(rgb.channels == 3);
    CHECK(*rgb.pixels() == Bytes{1, 2, 3, 4, 5, 6});
    const Images palette = read_png({.width = 3,
                                     .depth = 1,
                                     .color = Color::Palette,
                                     .rows = {0, 0b01000000},
                                     .palette = {10, 20, 30, 40, 50, 60}});
    CHECK(palette.channels == 3);
    CHECK(*palette.pixels() == Bytes{10, 20, 30, 40, 50, 60, 10, 20, 30});
}

TEST_CASE("PNG: interlaced rows are put in order", "[input][png]") {
    // Adam7 of 3x2: pass 1 has pixel (0,0), pass 4 (0,2), pass 6 (0,1), pass 7 the second row.
    const Images image =
        read_png({.width = 3, .height = 2, .rows = {0, 1, 0, 3, 0, 2, 0, 4, 5, 6}, .interlaced = true});
    CHECK(*image.pixels() == Bytes{1, 2, 3, 4, 5, 6});
}

TEST_CASE("PNG: alpha is dropped if all pixels are opaque, and rejected otherwise", "[input][png]") {
    const Images rgba = read_png({.width = 2, .color = Color::Rgba, .rows = {0, 1, 2, 3, 255, 4, 5, 6, 255}});
    CHECK(rgba.channels == 3);
    CHECK(*rgba.pixels() == Bytes{1, 2, 3, 4, 5, 6});
    const Images gray = read_png({.width = 2, .color = Color::GrayAlpha, .rows = {0, 1, 255, 2, 255}});
    CHECK(gray.channels == 1);
    CHECK(*gray.pixels() == Bytes{1, 2});
    CHECK(error_of([] {
              read_png({.height = 2, .color = Color::Rgba, .rows = {0, 1, 2, 3, 255, 0, 4, 5, 6, 254}});
          }) == "a.png: pixel at row 1, column 0 has alpha 254; it must be opaque (255)");
    CHECK(error_of([] {
              read_png({.width = 2,
                        .color = Color::Palette,
                        .rows = {0, 0, 1},
                        .palette = {1, 2, 3, 4, 5, 6},
                        .transparency = {255, 0}});
          }) == "a.png: pixel at row 0, column 1 has alpha 0; it must be opaque (255)");
}

TEST_CASE("PNG: a file truncated anywhere is rejected", "[input][png]") {
    const Bytes file = bytes_of({.width = 3, .height = 2, .rows = {0, 1, 2, 3, 0, 4, 5, 6}});
    for (std::size_t size = 0; size < file.size(); ++size) {
        INFO("first " << size << " bytes");
        CHECK(error_of([&] { parse_images(std::span(file).first(size), "a.png"); }).starts_with("a.png: "));
    }
    CHECK_NOTHROW(parse_images(file, "a.png"));
}

TEST_CASE("PNG: a damaged file is rejected with libpng's message", "[input][png]") {
    Bytes file = bytes_of({.width = 3, .height = 2, .rows = {0, 1, 2, 3, 0, 4, 5, 6}});
    constexpr std::size_t in_header = 20;  // the width's last byte but one; its checksum no longer fits
    file[in_header] ^= 1U;
    CHECK(error_of([&] { parse_images(file, "a.png"); }) == "a.png: PNG header: IHDR: CRC error");
    CHECK(error_of([] {
              read_png({.width = 3, .height = 2, .rows = {0, 1, 2, 3}});
          }) == "a.png: PNG image data: Not enough image data");
    CHECK(error_of([] { read_png({.width = 0, .rows = {0}}); }).starts_with("a.png: PNG header: "));
}

TEST_CASE("PNG: a header with wrong sizes allocates no memory", "[input][png]") {
    CHECK(error_of([] {
              read_png({.width = 60000, .height = 60000, .rows = {0, 1}});
          }).find("cannot hold them") != std::string::npos);
    CHECK(error_of([] {
              read_png({.width = 1000000, .height = 1000000, .rows = {0, 1}});
          }).find("that is the limit") != std::string::npos);
    CHECK(error_of([] {
              read_png({.width = 0x7FFFFFFF, .height = 0x7FFFFFFF, .rows = {0}});
          }).starts_with("a.png: PNG header: "));
}

TEST_CASE("PNG: an EXIF orientation is noted", "[input][png]") {
    for (const bool is_big_endian : {false, true}) {
        CHECK(read_png({.rows = {0, 1}, .exif = made_exif(1, is_big_endian)}).turned == 0);
        CHECK(read_png({.rows = {0, 1}, .exif = made_exif(8, is_big_endian)}).turned == 1);
    }
}

TEST_CASE("PNG: an image with deflate's highest compression is read", "[input][png]") {
    constexpr std::uint32_t side = 4000;
    const Images image = read_png({.width = side, .height = side, .rows = Bytes(side * (side + 1))});
    CHECK(image.size() == std::uint64_t{side} * side);
}

}  // namespace
}  // namespace systole::input::tests
