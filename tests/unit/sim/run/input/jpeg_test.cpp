#include "sim/run/input/formats.h"
#include "sim/run/input/read.h"
#include "tests/unit/sim/run/input/made_images.h"

namespace systole::input::tests {
namespace {

struct Decoded {
    std::string file;
    std::uint32_t channels;
    Bytes first;
    std::uint32_t crc;
};

// The expected pixels are those of Pillow 13.0, whose decoder is libjpeg-turbo too.
TEST_CASE("JPEG files are decoded to the bits that Pillow gives", "[input][jpeg]") {
    const auto example = GENERATE(Decoded{"rgb420.jpg", 3, {2, 2, 4, 10, 4, 8}, 0x13fd0749},
                                  Decoded{"rgb444_progressive.jpg", 3, {1, 0, 0, 8, 2, 6}, 0x9c57e755},
                                  Decoded{"gray.jpg", 1, {0, 5, 11, 16, 19, 23}, 0xf368e375},
                                  Decoded{"restart.jpg", 3, {3, 1, 2, 8, 4, 5}, 0x72e77e96});
    INFO(example.file);
    const Images image = parse_images(seed("jpeg/" + example.file), "a.jpg");
    CHECK(std::vector{image.count, image.height, image.width, image.channels} ==
          std::vector<std::uint32_t>{1, 21, 19, example.channels});
    const Bytes& pixels = *image.pixels();
    CHECK(Bytes(pixels.begin(), pixels.begin() + 6) == example.first);
    CHECK(crc_of(image) == example.crc);
}

TEST_CASE("A JPEG file that is cut off anywhere is rejected", "[input][jpeg]") {
    const std::string name = GENERATE("rgb420.jpg", "rgb444_progressive.jpg", "gray.jpg");
    const Bytes file = seed("jpeg/" + name);
    for (std::size_t size = 3; size + 2 < file.size(); ++size) {
        INFO(name << ": first " << size << " bytes");
        CHECK(error_of([&] {
                  parse_images(std::span(file).first(size), "a.jpg");
              }).starts_with("a.jpg: JPEG "));
    }
}

TEST_CASE("A JPEG file of another kind, damaged or too large for its bytes is rejected", "[input][jpeg]") {
    CHECK(error_of([] { parse_images(seed("jpeg/cmyk.jpg"), "a.jpg"); }) ==
          "a.jpg: the JPEG has 4 colour components; gray and RGB are read");
    Bytes large = seed("jpeg/gray.jpg");
    const Bytes frame{0xff, 0xc0, 0x00, 0x0b, 0x08};  // then height and width
    const auto at = std::search(large.begin(), large.end(), frame.begin(), frame.end());
    REQUIRE(at != large.end());
    std::fill_n(at + 5, 4, std::uint8_t{0xf0});
    CHECK(error_of([&] { parse_images(large, "a.jpg"); }) ==
          "a.jpg: JPEG header says 61680x61680 pixels; the file's 376 bytes cannot hold them");
    Bytes damaged = seed("jpeg/rgb420.jpg");
    damaged.resize(damaged.size() - 60);
    damaged.insert(damaged.end(), {0xff, 0xd9});
    CHECK(error_of([&] { parse_images(damaged, "a.jpg"); }).starts_with("a.jpg: JPEG image data: "));
}

TEST_CASE("A progressive JPEG file of endless scans is rejected", "[input][jpeg]") {
    const Bytes file = seed("jpeg/rgb444_progressive.jpg");
    // The last scan again and again: from its start-of-scan marker to the end-of-image marker.
    std::size_t last_scan = 0;
    for (std::size_t i = 0; i + 1 < file.size(); ++i) {
        if (file[i] == 0xff && file[i + 1] == 0xda) last_scan = i;
    }
    REQUIRE(last_scan > 0);
    const auto at = [&](std::size_t i) { return file.begin() + static_cast<std::ptrdiff_t>(i); };
    Bytes endless(file.begin(), at(last_scan));
    for (int i = 0; i < 200; ++i) endless.insert(endless.end(), at(last_scan), at(file.size() - 2));
    endless.insert(endless.end(), {0xff, 0xd9});
    const std::string error = error_of([&] { parse_images(endless, "a.jpg"); });
    CHECK(error.starts_with("a.jpg: JPEG image data: "));
}

}  // namespace
}  // namespace systole::input::tests
