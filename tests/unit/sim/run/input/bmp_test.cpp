#include "sim/run/input/formats.h"
#include "sim/run/input/read.h"
#include "tests/unit/sim/run/input/made_images.h"

namespace systole::input::tests {
namespace {

/// A BMP file with an information header of 40 bytes.
struct Bmp {
    std::uint32_t width = 1;
    std::int32_t height = 1;
    std::uint32_t bits = 24;
    Bytes palette = {};  ///< blue, green, red and a byte for each colour
    Bytes rows = {};
    std::uint32_t compression = 0;
    std::uint32_t colors = 0;
};

Bytes bmp_file(const Bmp& bmp) {
    Bytes file;
    add(file, "BM");
    const std::size_t first_row = 14 + 40 + bmp.palette.size();
    add_little_endian(file, first_row + bmp.rows.size(), 4);
    add_little_endian(file, 0, 4);
    add_little_endian(file, first_row, 4);
    add_little_endian(file, 40, 4);
    add_little_endian(file, bmp.width, 4);
    add_little_endian(file, static_cast<std::uint32_t>(bmp.height), 4);
    add_little_endian(file, 1, 2);
    add_little_endian(file, bmp.bits, 2);
    add_little_endian(file, bmp.compression, 4);
    for (int i = 0; i < 3; ++i) add_little_endian(file, 0, 4);
    add_little_endian(file, bmp.colors, 4);
    add_little_endian(file, 0, 4);
    file.insert(file.end(), bmp.palette.begin(), bmp.palette.end());
    file.insert(file.end(), bmp.rows.begin(), bmp.rows.end());
    return file;
}

Images read_bmp_file(const Bytes& file) {
    return parse_images(file, "a.bmp");
}

TEST_CASE("BMP files of 24 bits: blue first, lowest row first, rows padded to 4 bytes", "[input][bmp]") {
    const Bytes low{1, 2, 3, 4, 5, 6, 99, 99};
    const Bytes high{7, 8, 9, 10, 11, 12, 99, 99};
    Bmp bmp{.width = 2, .height = 2, .rows = low};
    bmp.rows.insert(bmp.rows.end(), high.begin(), high.end());
    const Images image = read_bmp_file(bmp_file(bmp));
    CHECK(std::vector{image.count, image.height, image.width, image.channels} ==
          std::vector<std::uint32_t>{1, 2, 2, 3});
    CHECK(*image.pixels() == Bytes{9, 8, 7, 12, 11, 10, 3, 2, 1, 6, 5, 4});
    bmp.height = -2;  // the highest row first
    CHECK(*read_bmp_file(bmp_file(bmp)).pixels() == Bytes{3, 2, 1, 6, 5, 4, 9, 8, 7, 12, 11, 10});
}

TEST_CASE("BMP files with a palette are looked up; gray ones have one channel", "[input][bmp]") {
    const Bytes colors{1, 2, 3, 0, 4, 5, 6, 0};
    const Images bits =
        read_bmp_file(bmp_file({.width = 3, .bits = 1, .palette = colors, .rows = {0b01000000, 0, 0, 0}}));
    CHECK(bits.channels == 3);
    CHECK(*bits.pixels() == Bytes{3, 2, 1, 6, 5, 4, 3, 2, 1});
    const Bytes grays{10, 10, 10, 0, 20, 20, 20, 0, 30, 30, 30, 0};
    const Images nibbles = read_bmp_file(
        bmp_file({.width = 3, .bits = 4, .palette = grays, .rows = {0x20, 0x10, 0, 0}, .colors = 3}));
    CHECK(nibbles.channels == 1);
    CHECK(*nibbles.pixels() == Bytes{30, 10, 20});
    const Images whole =
        read_bmp_file(bmp_file({.width = 2, .bits = 8, .palette = grays, .rows = {2, 1, 0, 0}, .colors = 3}));
    CHECK(*whole.pixels() == Bytes{30, 20});
    CHECK(error_of([&] {
              read_bmp_file(
                  bmp_file({.width = 1, .bits = 8, .palette = grays, .rows = {3, 0, 0, 0}, .colors = 3}));
          }) == "a.bmp: a pixel has colour 3; its palette has 3");
    CHECK(error_of([&] {
              read_bmp_file(bmp_file({.bits = 1, .palette = grays, .rows = {0, 0, 0, 0}, .colors = 3}));
          }) == "a.bmp: its palette has 3 colours; at most 2");
}

// Written by Pillow 13.0, and read by it.
TEST_CASE("BMP files of another program", "[input][bmp]") {
    CHECK(crc_of(read_bmp_file(seed("bmp/rgb24.bmp"))) == 0x0dd880f1);
    CHECK(crc_of(read_bmp_file(seed("bmp/rgba32.bmp"))) == 0x0dd880f1);
    CHECK(crc_of(read_bmp_file(seed("bmp/palette8.bmp"))) == 0x02884524);
    CHECK(crc_of(read_bmp_file(seed("bmp/gray8.bmp"))) == 0xe407a759);
    CHECK(crc_of(read_bmp_file(seed("bmp/bits1.bmp"))) == 0x8cf2d0b2);
}

TEST_CASE("A BMP file that is cut off anywhere is rejected", "[input][bmp]") {
    for (const std::string name : {"rgb24.bmp", "gray8.bmp", "rgba32.bmp", "bits1.bmp"}) {
        const Bytes file = seed("bmp/" + name);
        for (std::size_t size = 2; size < file.size(); ++size) {
            INFO(name << ": first " << size << " bytes");
            CHECK(error_of([&] {
                      read_bmp_file({file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size)});
                  }).starts_with("a.bmp: "));
        }
    }
}

TEST_CASE("BMP files of other kinds, and wrong sizes, are rejected with the rule", "[input][bmp]") {
    CHECK(error_of([] {
              read_bmp_file(bmp_file({.bits = 16, .rows = {0, 0, 0, 0}}));
          }) == "a.bmp: it has 16 bits a pixel; 1, 4, 8, 24 and 32 are read");
    CHECK(error_of([] { read_bmp_file(bmp_file({.bits = 8, .compression = 1})); }) ==
          "a.bmp: its compression is 1; only files that are not compressed are read");
    CHECK(error_of([] {
              read_bmp_file(bmp_file({.width = 4000000, .height = 4000000}));
          }).find("that is the limit") != std::string::npos);
    CHECK(error_of([] { read_bmp_file(bmp_file({.width = 20000, .height = 20000})); }) ==
          "a.bmp: its 54 bytes cannot hold 20000x20000 pixels of 24 bits");
    CHECK(error_of([] { read_bmp_file(bmp_file({.width = 0xffffffff})); }) ==
          "a.bmp: its width is 4294967295; at most 67108864");
    CHECK(error_of([] {
              read_bmp_file(bmp_file({.width = 0, .rows = {0, 0, 0, 0}}));
          }) == "a.bmp: width is 0; it must be at least 1");
    CHECK(error_of([] {
              read_bmp_file(bmp_file({.height = std::numeric_limits<std::int32_t>::min()}));
          }).starts_with("a.bmp: "));
    Bytes other = bmp_file({});
    other[14] = 13;
    CHECK(error_of([&] { read_bmp_file(other); }) ==
          "a.bmp: its header has 13 bytes; headers of 12, and of 40 to 124, are read");
}

}  // namespace
}  // namespace systole::input::tests
