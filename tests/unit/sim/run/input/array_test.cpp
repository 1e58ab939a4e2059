// The way from an array to the network's inferences: shapes, orders of axes, types.
#include "sim/run/input/axes.h"
#include "sim/run/input/read.h"
#include "tests/system/input_files.h"
#include "tests/unit/sim/run/input/made_files.h"

namespace systole::input::tests {
namespace {

namespace files = systole::tests;

Bytes array_file(const std::string& shape, std::size_t size, const std::string& type = "|u1") {
    std::string values;
    for (std::size_t i = 0; i < size; ++i) values += static_cast<char>(i);
    const std::string file = files::npy(type, shape, values);
    return {file.begin(), file.end()};
}

struct ReadArray {
    std::vector<std::uint32_t> count_height_width_channels;
    Bytes pixels;
};

ReadArray read_array(const Bytes& file, const ReadOptions& options) {
    const Images images = parse_images(file, "a.npy", options);
    return {{images.count, images.height, images.width, images.channels}, *images.pixels()};
}

using Extents = std::vector<std::uint32_t>;

TEST_CASE("Axes are permuted as numpy.transpose does", "[input][array]") {
    const Extents extents{2, 3, 4};
    std::vector<int> values(48);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i);
    const Extents axes{2, 0, 1};
    CHECK(permuted(extents, axes) == Extents{4, 2, 3});
    CHECK(inverse(axes) == Extents{1, 2, 0});
    const std::vector<int> result = permuted(values, 2, extents, axes);
    for (std::uint32_t n = 0; n < 2; ++n) {
        for (std::uint32_t a = 0; a < 4; ++a) {
            for (std::uint32_t b = 0; b < 2; ++b) {
                for (std::uint32_t c = 0; c < 3; ++c) {
                    CHECK(result[((n * 4 + a) * 2 + b) * 3 + c] == values[((n * 2 + b) * 3 + c) * 4 + a]);
                }
            }
        }
    }
    CHECK(permuted(result, 2, permuted(extents, axes), inverse(axes)) == values);
    CHECK(permuted(values, 2, extents, {}) == values);
    CHECK(permuted(values, 2, extents, Extents{0, 1, 2}) == values);
    CHECK_THROWS_AS(permuted(values, 3, extents, axes), std::logic_error);
    CHECK_THROWS_AS(permuted(extents, Extents{0, 1}), std::logic_error);
    CHECK(axes_of_inference(Extents{0, 3, 1, 2}) == Extents{2, 0, 1});
    CHECK(axes_of_inference({}).empty());
    CHECK_THROWS_AS(axes_of_inference(Extents{1, 0}), std::logic_error);
}

TEST_CASE("An array of the network's own shape is one inference, or as many as come before it",
          "[input][array]") {
    const ReadOptions image{.shape = {2, 3, 4}};
    CHECK(read_array(array_file("(2, 3, 4)", 24), image).count_height_width_channels == Extents{1, 2, 3, 4});
    CHECK(read_array(array_file("(2, 2, 3, 4)", 48), image).count_height_width_channels ==
          Extents{2, 2, 3, 4});
    const ReadOptions vector{.shape = {6}};
    CHECK(read_array(array_file("(6,)", 6), vector).count_height_width_channels == Extents{1, 1, 1, 6});
    CHECK(read_array(array_file("(3, 6)", 18), vector).count_height_width_channels == Extents{3, 1, 1, 6});
    const ReadOptions series{.shape = {2, 6}};
    CHECK(read_array(array_file("(5, 2, 6)", 60), series).count_height_width_channels == Extents{5, 1, 2, 6});
    const ReadOptions other{.shape = {2, 1, 3, 2}};  // no image
    CHECK(read_array(array_file("(2, 2, 1, 3, 2)", 24), other).count_height_width_channels ==
          Extents{2, 1, 1, 12});
    CHECK(
        error_of([&] { read_array(array_file("(2, 6)", 12), other); }) ==
        "a.npy: the array's shape is (2, 6); the network's input is (2, 1, 3, 2) with or without a number of "
        "inferences before it (--layout declares images of another order)");
    CHECK(error_of([&] { read_array(array_file("(0, 6)", 0), vector); }) ==
          "a.npy: image count is 0; it must be at least 1");
}

TEST_CASE("An array has the order of the network's file", "[input][array]") {
    const ReadOptions channels_first{.shape = {2, 3, 4}, .file_axes = {2, 0, 1}};
    const ReadArray one = read_array(array_file("(4, 2, 3)", 24), channels_first);
    CHECK(one.count_height_width_channels == Extents{1, 2, 3, 4});
    CHECK(Bytes(one.pixels.begin(), one.pixels.begin() + 8) == Bytes{0, 6, 12, 18, 1, 7, 13, 19});
    CHECK(read_array(array_file("(2, 4, 2, 3)", 48), channels_first).pixels[24] == 24);
    // The order of the graph is not silently taken for that of the file.
    CHECK(error_of([&] {
              read_array(array_file("(1, 2, 3, 4)", 24), channels_first);
          }).starts_with("a.npy: the array's shape is (1, 2, 3, 4); the network's input is (4, 2, 3)"));
}

TEST_CASE("A layout declares the order of an array of images", "[input][array]") {
    ReadOptions options{.shape = {2, 3, 4}, .file_axes = {2, 0, 1}, .layout = run::Layout::Hwc};
    CHECK(read_array(array_file("(2, 3, 4)", 24), options).pixels[1] == 1);
    options.layout = run::Layout::Chw;
    const ReadArray chw = read_array(array_file("(4, 2, 3)", 24), options);
    CHECK(chw.count_height_width_channels == Extents{1, 2, 3, 4});
    CHECK(chw.pixels[1] == 6);
    CHECK(read_array(array_file("(2, 4, 2, 3)", 48), options).count_height_width_channels ==
          Extents{2, 2, 3, 4});
    CHECK(error_of([&] { read_array(array_file("(4, 6)", 24), options); }) ==
          "a.npy: shape is (4, 6); layout chw means (C, H, W) dimensions, or a number of images before them");
}

TEST_CASE("Integers of a network keep their type", "[input][array]") {
    const Images bytes = parse_images(array_file("(1, 4)", 4, "|i1"), "a.npy", {.shape = {4}});
    CHECK(type_of(bytes.values) == DataType::Int8);
    CHECK(bytes.pixels() == nullptr);
    CHECK(bytes.floats() == nullptr);
    const auto one = [](const char* type, auto number) {
        const std::string file = files::npy(type, "(1, 1)", files::repeated(number, 1));
        return parse_images(Bytes(file.begin(), file.end()), "a.npy", {.shape = {1}}).values;
    };
    CHECK(one("<u2", std::uint16_t{65535}) == Values(std::vector<std::uint16_t>{65535}));
    CHECK(one("<i2", std::int16_t{-32768}) == Values(std::vector<std::int16_t>{-32768}));
    CHECK(one("<u4", std::uint32_t{2147483647}) == Values(std::vector<std::int32_t>{2147483647}));
    CHECK(one("<u8", std::uint64_t{2147483647}) == Values(std::vector<std::int32_t>{2147483647}));
    CHECK(error_of([&] { one("<u4", std::uint32_t{2147483648}); }) ==
          "a.npy: value 0 is 2147483648; it must fit in 32 bits");
    const std::string longs = files::npy("<i8", "(2,)", files::repeated(std::int64_t{1} << 31U, 2));
    CHECK(error_of([&] { parse_images(Bytes(longs.begin(), longs.end()), "a.npy"); }) ==
          "a.npy: value 0 is 2147483648; it must fit in 32 bits");
    const std::string half = files::npy("<f2", "(1, 1)", files::repeated(std::uint16_t{0x7c00}, 1));
    CHECK(error_of([&] { parse_images(Bytes(half.begin(), half.end()), "a.npy"); }) ==
          "a.npy: value 0 is inf; it must be finite as a 32-bit float");
}

}  // namespace
}  // namespace systole::input::tests
