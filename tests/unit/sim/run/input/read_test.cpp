#include "sim/run/input/read.h"

#include <array>
#include <numeric>

#include "tests/support/source_dir.h"
#include "tests/unit/sim/run/input/made_images.h"
#include "tests/unit/sim/run/input/made_png.h"

namespace systole::input::tests {
namespace {

namespace fs = std::filesystem;

Images read(const std::vector<fs::path>& paths) {
    return read_images(paths);
}

Bytes gray_pixel(std::uint8_t value) {
    return bytes_of({.rows = {0, value}});
}

TEST_CASE("A directory of PNG files is a batch in the order of their names", "[input][read]") {
    const TemporaryDirectory directory;
    directory.write("b.png", gray_pixel(2));
    directory.write("c", gray_pixel(3));
    directory.write("a.png", gray_pixel(1));
    directory.write(".hidden", {1, 2, 3});
    const Images images = read({directory.path()});
    CHECK(images.count == 3);
    CHECK(*images.pixels() == Bytes{1, 2, 3});
}

TEST_CASE("A directory may hold PNG, JPEG and BMP files of several sizes, if they are resized",
          "[input][read]") {
    const TemporaryDirectory directory;
    directory.write("a", seed("bmp/rgb24.bmp"));
    directory.write("b", seed("jpeg/rgb420.jpg"));
    directory.write("c", bytes_of({.width = 1, .color = Color::Rgb, .rows = {0, 9, 8, 7}}));
    const std::vector<fs::path> paths{directory.path()};
    const Images images = read_images(paths, {.resize = run::ImageSize{4, 5}, .reverse_channels = true});
    CHECK(std::vector{images.count, images.height, images.width, images.channels} ==
          std::vector<std::uint32_t>{3, 4, 5, 3});
    const Bytes& pixels = *images.pixels();
    CHECK(Bytes(pixels.end() - 3, pixels.end()) == Bytes{7, 8, 9});
    CHECK(error_of([&] { read(paths); }).find("those before it are 3x5x3") != std::string::npos);
}

TEST_CASE("Names of classes are lines of text", "[input][read]") {
    const TemporaryDirectory directory;
    const auto names = [&](std::string_view text) {
        Bytes bytes;
        add(bytes, text);
        return read_label_names(directory.write("names.txt", bytes));
    };
    CHECK(names("cat\n  a dog, big \r\n\nfish\n\n\n") ==
          std::vector<std::string>{"cat", "a dog, big", "", "fish"});
    CHECK(names("one") == std::vector<std::string>{"one"});
    CHECK(names("\xEF\xBB\xBFone\ntwo") == std::vector<std::string>{"one", "two"});
    const std::string path = (directory.path() / "names.txt").string();
    CHECK(error_of([&] { names("\n\n"); }) == path + ": it holds no names");
    CHECK(error_of([&] { names("a\nb\x01\n"); }) ==
          path + ":2: \"b\\x01\" is no name; a file of names is text, a line for each class");
    CHECK(error_of([&] { names(std::string_view("\xFF\xFEo\0", 4)); }) ==
          path + ": it is UTF-16; a file of names is read as UTF-8");
}

TEST_CASE("A list of files is a batch in the order of the list", "[input][read]") {
    const TemporaryDirectory directory;
    const fs::path one = directory.write("z.png", gray_pixel(1));
    const fs::path two = directory.write("a.png", gray_pixel(2));
    const fs::path more = directory.write("more", gzip(idx({2, 1, 1}, {3, 4})));
    const Images images = read({one, two, more, one});
    CHECK(images.count == 5);
    CHECK(*images.pixels() == Bytes{1, 2, 3, 4, 1});
}

TEST_CASE("Images of different sizes or kinds are rejected", "[input][read]") {
    const TemporaryDirectory directory;
    const fs::path pixel = directory.write("pixel.png", gray_pixel(1));
    const fs::path wide = directory.write("wide.png", bytes_of({.width = 2, .rows = {0, 1, 2}}));
    CHECK(error_of([&] {
              read({pixel, wide});
          }) == wide.string() + ": images are 1x2x1; those before it are 1x1x1");
    Bytes npy{0x93};
    add(npy, std::string_view("NUMPY\1\0\x3a\0", 9));
    add(npy, "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1)} ");
    add_little_endian(npy, 0x3f800000, 4);
    const fs::path floats = directory.write("floats.npy", npy);
    CHECK(error_of([&] {
              read({pixel, floats});
          }) == floats.string() + ": values are float; those of the files before it are 8-bit");
    CHECK(*read({floats, floats}).floats() == std::vector{1.0F, 1.0F});
}

TEST_CASE("A file without images is rejected by name", "[input][read]") {
    const TemporaryDirectory directory;
    CHECK(error_of([] { read({}); }) == "no file of images is given; at least one is needed");
    const fs::path absent = directory.path() / "absent.idx";
    CHECK(error_of([&] { read({absent}); }) == absent.string() + ": there is no such file");
    CHECK(error_of([&] { read_labels(absent); }) == absent.string() + ": there is no such file");
    CHECK(error_of([&] { read({directory.path()}); }) ==
          directory.path().string() + ": the directory is empty; it must hold PNG, JPEG or BMP files");
    CHECK(error_of([&] { read_labels(directory.path()); }) ==
          directory.path().string() + ": is a directory; it must be a regular file");
    const fs::path empty = directory.write("empty", {});
    CHECK(error_of([&] { read({empty}); }) ==
          empty.string() + ": is empty; it must be an IDX, NPY, NPZ, PNG, JPEG or BMP file");
    CHECK(error_of([&] { read({directory.path()}); }) ==
          empty.string() + ": is not a PNG, JPEG or BMP file; a directory of images holds nothing else");
}

TEST_CASE("The MNIST test set can be read", "[input][read][data]") {
    const fs::path mnist = fs::path(systole::tests::source_dir()) / "../shared/data/mnist";
    const fs::path images_file = mnist / "t10k-images-idx3-ubyte.gz";
    const fs::path labels_file = mnist / "t10k-labels-idx1-ubyte.gz";
    if (!fs::exists(images_file) || !fs::exists(labels_file)) {
        WARN("SKIPPED: the MNIST files are not there");
        return;
    }
    const Images images = read({images_file});
    CHECK(images.count == 10000);
    CHECK(images.height == 28);
    CHECK(images.width == 28);
    CHECK(images.channels == 1);
    REQUIRE(images.pixels() != nullptr);
    REQUIRE(images.pixels()->size() == 7840000);
    CHECK(images.pixels()->front() == 0);
    // Row 7 of the first image crosses the head of its seven: the first ink of the set.
    const std::uint64_t row = std::uint64_t{7} * 28;
    CHECK(Bytes(images.pixels()->begin() + row + 6, images.pixels()->begin() + row + 10) ==
          Bytes{84, 185, 159, 151});

    const std::vector<std::uint32_t> labels = read_labels(labels_file);
    REQUIRE(labels.size() == 10000);
    CHECK(std::vector(labels.begin(), labels.begin() + 8) ==
          std::vector<std::uint32_t>{7, 2, 1, 0, 4, 1, 4, 9});
    std::array<int, 10> of_class{};
    for (const std::uint32_t label : labels) ++of_class.at(label);
    // The published numbers of examples of each digit in the test set.
    CHECK(of_class == std::array{980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009});
}

}  // namespace
}  // namespace systole::input::tests
