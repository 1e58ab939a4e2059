#include "sim/run/input/formats.h"
#include "sim/run/input/read.h"
#include "tests/unit/sim/run/input/made_files.h"

namespace systole::input::tests {
namespace {

TEST_CASE("IDX images of three dimensions have one channel", "[input][idx]") {
    const Bytes pixels = counted(2 * 3 * 4);
    const bool compressed = GENERATE(false, true);
    const Bytes file = idx({2, 3, 4}, pixels);
    const Images images = parse_images(compressed ? gzip(file) : file, "a.idx");
    CHECK(images.count == 2);
    CHECK(images.height == 3);
    CHECK(images.width == 4);
    CHECK(images.channels == 1);
    REQUIRE(images.pixels() != nullptr);
    CHECK(*images.pixels() == pixels);
    CHECK(images.floats() == nullptr);
}

TEST_CASE("IDX images of four dimensions have channels last", "[input][idx]") {
    const Images images = parse_images(idx({1, 2, 1, 3}, {1, 2, 3, 4, 5, 6}), "a.idx");
    CHECK(images.height == 2);
    CHECK(images.width == 1);
    CHECK(images.channels == 3);
    CHECK(*images.pixels() == Bytes{1, 2, 3, 4, 5, 6});
}

TEST_CASE("IDX labels are read unchanged", "[input][idx]") {
    const Bytes file = idx({4}, {7, 0, 255, 1});
    CHECK(parse_labels(file, "l.idx") == std::vector<std::uint32_t>{7, 0, 255, 1});
    CHECK(parse_labels(gzip(file), "l.idx.gz") == std::vector<std::uint32_t>{7, 0, 255, 1});
}

TEST_CASE("An IDX file truncated anywhere is rejected", "[input][idx]") {
    const Bytes file = idx({2, 3, 4}, counted(24));
    for (std::size_t size = 0; size < file.size(); ++size) {
        INFO("first " << size << " bytes");
        CHECK(error_of([&] { parse_images(std::span(file).first(size), "a.idx"); }).starts_with("a.idx: "));
    }
    CHECK_NOTHROW(parse_images(file, "a.idx"));
    CHECK(error_of([&] { parse_images(std::span(file).first(file.size() - 1), "a.idx"); }) ==
          "a.idx: the IDX image data has 23 bytes; its header says 24");
}

TEST_CASE("A gzip file truncated anywhere is rejected", "[input][idx]") {
    const Bytes file = gzip(idx({2, 3, 4}, counted(24)));
    for (std::size_t size = 0; size < file.size(); ++size) {
        INFO("first " << size << " bytes");
        CHECK(error_of([&] { parse_images(std::span(file).first(size), "a.gz"); }).starts_with("a.gz: "));
    }
    CHECK_NOTHROW(parse_images(file, "a.gz"));
    CHECK(error_of([&] { parse_images(std::span(file).first(file.size() - 1), "a.gz"); }) ==
          "a.gz: gzip data ends early; the file is cut off");
}

TEST_CASE("A gzip file with a false checksum is refused", "[input][idx]") {
    Bytes file = gzip(idx({2, 3, 4}, counted(24)));
    file[file.size() - 8] ^= 1U;
    CHECK(error_of([&] { parse_images(file, "a.gz"); }) ==
          "a.gz: gzip data is damaged (incorrect data check)");
}

TEST_CASE("Several gzip members are read as one file", "[input][idx]") {
    const Bytes whole = idx({2, 3, 4}, counted(24));
    const auto cut = static_cast<std::ptrdiff_t>(GENERATE(1U, 3U, 17U, 39U));
    Bytes file = gzip({whole.begin(), whole.begin() + cut});
    const Bytes second = gzip({whole.begin() + cut, whole.end()});
    file.insert(file.end(), second.begin(), second.end());
    CHECK(*parse_images(file, "a.gz").pixels() == counted(24));
}

TEST_CASE("Bytes after the last image or label are refused", "[input][idx]") {
    Bytes file = idx({2, 3, 4}, counted(25));
    CHECK(error_of([&] { parse_images(file, "a.idx"); }) ==
          "a.idx: bytes follow the last image; the file must end there");
    CHECK(error_of([&] { parse_images(gzip(file), "a.gz"); }) ==
          "a.gz: bytes follow the last image; the file must end there");
    CHECK(error_of([&] { parse_labels(idx({4}, counted(5)), "l"); }) ==
          "l: bytes follow the last label; the file must end there");

    Bytes compressed = gzip(idx({2, 3, 4}, counted(24)));
    add(compressed, "tail");
    CHECK(error_of([&] { parse_images(compressed, "a.gz"); }) ==
          "a.gz: 4 bytes follow the gzip data; the file must end there");
}

TEST_CASE("An IDX header with wrong sizes allocates no memory, and the error names the rule",
          "[input][idx]") {
    constexpr std::uint32_t most = 0xFFFFFFFF;
    CHECK(
        error_of([] {
            parse_images(idx({most, most, most}, {}), "a");
        }) ==
        "a: 4294967295 images of 4294967295x4294967295x1 take more than 4294967296 bytes; that is the limit");
    CHECK(error_of([] {
              parse_images(idx({most, most, most, most}, {}), "a");
          }).find("that is the limit") != std::string::npos);
    CHECK(error_of([] {
              parse_images(idx({65536, 256, 256}, counted(9)), "a");
          }) == "a: the IDX image data has 9 bytes; its header says 4294967296");
    CHECK(error_of([] {
              parse_images(gzip(idx({65536, 256, 256}, counted(9))), "a");
          }) == "a: the IDX image data has 9 bytes; its header says 4294967296");
    CHECK(error_of([] {
              parse_images(idx({65537, 256, 256}, counted(9)), "a");
          }).find("that is the limit") != std::string::npos);
    CHECK(error_of([] {
              parse_labels(idx({most}, {1, 2}), "l");
          }) == "l: the IDX label data has 2 bytes; its header says 4294967295");
}

TEST_CASE("A gzip bomb is decompressed only up to the size in its header", "[input][idx]") {
    const Bytes bomb = gzip(idx({1, 2, 2}, Bytes(std::size_t{64} << 20U)));
    REQUIRE(bomb.size() < 100'000);
    CHECK(error_of([&] { parse_images(bomb, "b.gz"); }) ==
          "b.gz: bytes follow the last image; the file must end there");
}

TEST_CASE("IDX dimensions of zero are refused by name", "[input][idx]") {
    CHECK(error_of([] {
              parse_images(idx({0, 3, 4}, {}), "a");
          }) == "a: image count is 0; it must be at least 1");
    CHECK(error_of([] { parse_images(idx({2, 0, 4}, {}), "a"); }) == "a: height is 0; it must be at least 1");
    CHECK(error_of([] { parse_images(idx({2, 3, 0}, {}), "a"); }) == "a: width is 0; it must be at least 1");
    CHECK(error_of([] {
              parse_images(idx({2, 3, 4, 0}, {}), "a");
          }) == "a: channel count is 0; it must be at least 1");
    CHECK(error_of([] { parse_labels(idx({0}, {}), "l"); }) == "l: label count is 0; it must be at least 1");
}

TEST_CASE("IDX files of another type or rank are rejected, and the error names it", "[input][idx]") {
    Bytes floats = idx({1, 1, 1}, {1});
    floats[2] = 0x0D;
    CHECK(error_of([&] { parse_images(floats, "a"); }) ==
          "a: IDX element type is 0x0d; only 0x08 (unsigned byte) is read");
    CHECK(error_of([] { parse_images(idx({4}, counted(4)), "labels"); }) ==
          "labels: IDX data has 1 dimensions; images have 3 (N, H, W) or 4 (N, H, W, C)");
    CHECK(error_of([] {
              parse_images(idx({1, 1, 1, 1, 1}, {1}), "a");
          }).find("has 5 dimensions") != std::string::npos);
    CHECK(error_of([] {
              parse_labels(idx({1, 2, 2}, counted(4)), "images");
          }) == "images: IDX data has 3 dimensions; labels have 1");
    const Bytes text{'P', '5', ' ', '1', ' ', '1', ' ', '2', '5', '5'};
    CHECK(error_of([&] { parse_images(text, "a.pgm"); }) ==
          "a.pgm: the first bytes are not those of an IDX, NPY, NPZ, PNG, JPEG or BMP file");
    CHECK(error_of([&] { parse_labels({}, "empty"); }) == "empty: is empty; it must be an IDX or NPY file");
}

}  // namespace
}  // namespace systole::input::tests
