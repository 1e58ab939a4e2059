#include "sim/run/input/formats.h"
#include "sim/run/input/read.h"
#include "tests/unit/sim/run/input/made_images.h"
#include "tests/unit/sim/run/input/made_png.h"

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

/// The picture with an EXIF segment of this orientation behind its first marker.
Bytes with_orientation(const Bytes& file, std::uint8_t orientation, bool is_big_endian) {
    Bytes exif;
    add(exif, std::string_view("Exif\0\0", 6));
    const Bytes tiff = made_exif(orientation, is_big_endian);
    exif.insert(exif.end(), tiff.begin(), tiff.end());
    Bytes segment{0xff, 0xe1};
    add_big_endian(segment, exif.size() + 2, 2);
    segment.insert(segment.end(), exif.begin(), exif.end());
    Bytes changed = file;
    changed.insert(changed.begin() + 2, segment.begin(), segment.end());
    return changed;
}

TEST_CASE("An EXIF orientation of a JPEG file is noted, and its pixels are as they are stored",
          "[input][jpeg]") {
    const Bytes file = seed("jpeg/rgb420.jpg");
    const Images plain = parse_images(file, "a.jpg");
    CHECK(plain.turned == 0);
    for (const bool is_big_endian : {false, true}) {
        for (std::uint8_t orientation = 0; orientation <= 9; ++orientation) {
            INFO(int{orientation});
            const Images image = parse_images(with_orientation(file, orientation, is_big_endian), "a.jpg");
            CHECK(image.turned == (orientation >= 2 && orientation <= 8 ? 1 : 0));
            CHECK(*image.pixels() == *plain.pixels());
        }
    }
}

TEST_CASE("EXIF data that are cut off or point outside of themselves say nothing", "[input][jpeg]") {
    const Bytes exif = made_exif(6, false);
    CHECK(is_turned(exif));
    for (std::size_t size = 0; size < exif.size(); ++size) {
        INFO(size);
        CHECK_FALSE(is_turned(std::span(exif).first(size)));
    }
    Bytes far = exif;
    std::fill_n(far.begin() + 4, 4, std::uint8_t{0xff});
    CHECK_FALSE(is_turned(far));
}

TEST_CASE("A picture of a wrong size is refused before its pixels are read", "[input][jpeg][png][bmp]") {
    // Each file is damaged behind its header.
    Bytes jpeg = seed("jpeg/rgb420.jpg");
    jpeg.resize(jpeg.size() - 60);
    Bytes png = bytes_of(Png{.width = 30000, .height = 30000, .color = Color::Rgb});
    png.resize(3'000'000);
    Bytes idx_file = idx({1, 500, 400}, {1});
    const ReadOptions options{.check_size = [](const Images& image, std::string_view file) {
        CHECK(image.pixels()->empty());
        throw InputError(fmt::format("{}: {}x{}x{}", file, image.height, image.width, image.channels));
    }};
    const auto answer = [&](const Bytes& file) {
        return error_of([&] { parse_images(file, "a", options); });
    };
    CHECK(answer(jpeg) == "a: 21x19x3");
    CHECK(answer(png) == "a: 30000x30000x3");
    CHECK(answer(idx_file) == "a: 500x400x1");
    CHECK(answer(bytes_of(Png{.color = Color::Rgba, .rows = {0, 1, 2, 3, 4}})) == "a: 1x1x3");  // not opaque
    ReadOptions resized = options;
    resized.resize = run::ImageSize{.height = 8, .width = 8};
    CHECK(parse_images(seed("jpeg/rgb420.jpg"), "a", resized).width == 8);
}

}  // namespace
}  // namespace systole::input::tests
