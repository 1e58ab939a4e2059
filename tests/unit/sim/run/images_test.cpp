#include "sim/run/images.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "base/conversion.h"
#include "sim/run/input/images.h"
#include "tests/support/files.h"
#include "tests/system/input_files.h"

using namespace systole;

namespace {

input::Images pixels(std::uint32_t count, std::uint32_t height, std::uint32_t width,
                     std::vector<std::uint8_t> values) {
    return {.count = count, .height = height, .width = width, .channels = 1, .values = std::move(values)};
}

input::Images floats(std::vector<float> values) {
    const auto width = static_cast<std::uint32_t>(values.size());
    return {.count = 1, .height = 1, .width = width, .channels = 1, .values = std::move(values)};
}

std::vector<std::uint8_t> stored(const input::Images& images, double scale, const Storage& storage) {
    std::vector<std::uint8_t> bytes(images.size() * bytes_of(storage.type));
    run::store(images, {.scale = scale}, storage, bytes);
    return bytes;
}

}  // namespace

TEST_CASE("Images must have the network's shape, or its number of values if it takes a vector", "[run]") {
    const run::NamedImages images{.name = "i.idx", .images = pixels(1, 2, 3, std::vector<std::uint8_t>(6))};
    CHECK_NOTHROW(run::check_shape(images, {2, 3, 1}, "net"));
    CHECK_NOTHROW(run::check_shape(images, {1, 1, 6}, "net"));
    CHECK_THROWS_WITH(run::check_shape(images, {3, 2, 1}, "net"),
                      "i.idx: the images are 2x3x1; net takes 3x2x1; --resize 3x2 scales them");
    CHECK_THROWS_AS(run::check_shape(images, {1, 1, 7}, "net"), input::InputError);
}

TEST_CASE("Vectors and images of as many values fit each other", "[run]") {
    const run::NamedImages vectors{.name = "v.npy", .images = pixels(2, 1, 6, std::vector<std::uint8_t>(12))};
    CHECK_NOTHROW(run::check_shape(vectors, {2, 3, 1}, "net"));
    CHECK_NOTHROW(run::check_shape(vectors, {1, 1, 6}, "net"));
    CHECK_NOTHROW(run::check_shape(vectors, {6, 1, 1}, "net"));
    CHECK_THROWS_WITH(run::check_shape(vectors, {2, 4, 1}, "net"),
                      "v.npy: the images are 1x6x1; net takes 2x4x1");
    const run::NamedImages series{.name = "s.npy", .images = pixels(1, 2, 3, std::vector<std::uint8_t>(6))};
    CHECK_NOTHROW(run::check_shape(series, {1, 2, 3}, "net"));
    CHECK_THROWS_WITH(run::check_shape(series, {1, 3, 2}, "net"),
                      "s.npy: the images are 2x3x1; net takes 1x3x2");
}

TEST_CASE("Values of another scale than the network expects give a warning", "[run]") {
    const auto of_floats = [](std::vector<float> values, double highest) {
        return run::scale_warning({.name = "f", .images = floats(std::move(values))}, 1 / 255.0, highest);
    };
    const auto of_pixels = [](std::vector<std::uint8_t> values, double scale, double highest) {
        const auto width = static_cast<std::uint32_t>(values.size());
        return run::scale_warning({.name = "p", .images = pixels(1, 1, width, std::move(values))}, scale,
                                  highest);
    };
    CHECK(of_floats({0, 255}, 1.0) ==
          "f: the largest value is 255; the network expects pixels up to 1, and floats are taken as they are "
          "(--input-scale is for 8-bit pixels)");
    CHECK(of_floats({0, 17}, 1.0));
    CHECK_FALSE(of_floats({0, 16}, 1.0));    // perhaps standardized
    CHECK_FALSE(of_floats({-1, 255}, 1.0));  // no pixels
    CHECK_FALSE(of_floats({0, 256}, 1.0));
    CHECK_FALSE(of_floats({0, 0}, 255.0));
    CHECK(of_floats({0, 1}, 255.0));
    CHECK_FALSE(of_floats({0, 2}, 255.0));
    CHECK(of_pixels({0, 1}, 1 / 255.0, 1.0) ==
          "p: the largest 8-bit pixel is 1, which stands for 0.003922; the network expects up to 1 "
          "(--input-scale is 0.003922)");
    CHECK_FALSE(of_pixels({0, 2}, 1 / 255.0, 1.0));
    CHECK_FALSE(of_pixels({0, 0}, 1 / 255.0, 1.0));
    CHECK_FALSE(of_pixels({255}, 1 / 255.0, 1.0));
    CHECK(of_pixels({255}, 1.0, 1.0));
    CHECK(of_pixels({255}, 1 / 255.0, 255.0));
}

TEST_CASE("Floats that their storage does not hold give a warning", "[run]") {
    // From -1 to 1.55 in steps of 0.01.
    const Storage storage{.scale = 0.01, .zero_point = 100, .type = DataType::Uint8};
    const auto warning = [&](std::vector<float> values) {
        return run::storage_warning({.name = "f", .images = floats(std::move(values))}, storage);
    };
    CHECK_FALSE(warning({-1.0F, 0.0F, 1.55F}));
    CHECK_FALSE(run::storage_warning({.name = "p", .images = pixels(1, 1, 2, {0, 255})}, storage));

    // Half of those besides 0 may become 0, no more.
    CHECK_FALSE(warning({0.0F, 0.004F, 1.0F}));
    CHECK(warning({0.0F, 0.004F, -0.004F, 1.0F}) ==
          "f: 2 of the 3 numbers besides 0 become 0, for the input is stored in steps of 0.01, from -1 to "
          "1.55");
    CHECK(warning({0.006F, 0.006F, 1.0F}) == std::nullopt);

    // One in a hundred may be outside of the range, if it is not far.
    std::vector<float> values(200, 1.0F);
    values[0] = 1.6F;
    values[1] = -1.1F;
    CHECK_FALSE(warning(values));
    values[2] = -1.2F;
    CHECK(warning(values) ==
          "f: 3 of 200 numbers are outside of -1 to 1.55, in which the input is stored, and become an end of "
          "that; the farthest is -1.2");
    values[1] = values[2] = 1.554F;  // rounds to the end
    CHECK_FALSE(warning(values));
    values[0] = 4.0F;  // 2.45 from a range of 2.55
    CHECK_FALSE(warning(values));
    values[0] = 4.2F;
    CHECK(warning(values) ==
          "f: 1 of 200 numbers are outside of -1 to 1.55, in which the input is stored, and become an end of "
          "that; the farthest is 4.2");
}

TEST_CASE("Pixels are stored unchanged if the tensor has their scale and zero point", "[run]") {
    const input::Images images = pixels(2, 1, 2, {0, 1, 128, 255});
    const Storage same{.scale = 1 / 255.0};
    CHECK(run::stored_unchanged(images, {.scale = 1 / 255.0}, same));
    CHECK(run::stored_unchanged(images, {.scale = 0.00392156863}, same));  // as people write it
    CHECK_FALSE(run::stored_unchanged(images, {.scale = 1.0}, same));
    CHECK_FALSE(run::stored_unchanged(images, {.scale = 1 / 255.0}, {.scale = 1 / 255.0, .zero_point = 1}));
    CHECK_FALSE(
        run::stored_unchanged(images, {.scale = 1 / 255.0}, {.scale = 1 / 255.0, .type = DataType::Int8}));
    CHECK_FALSE(run::stored_unchanged(floats({1}), {.scale = 1 / 255.0}, same));
    CHECK(stored(images, 1 / 255.0, same) == *images.pixels());
}

TEST_CASE("Other inputs are rounded to the nearest byte, and clamped", "[run]") {
    const Storage storage{.scale = 0.5, .zero_point = 10};
    CHECK(stored(floats({0, 0.2F, 0.3F, -5, -6, 122.5F, 500}), 1, storage) ==
          std::vector<std::uint8_t>{10, 10, 11, 0, 0, 255, 255});
    CHECK(stored(pixels(1, 1, 2, {0, 100}), 0.25, storage) == std::vector<std::uint8_t>{10, 60});
    const Storage is_signed{.scale = 1, .zero_point = -128, .type = DataType::Int8};
    CHECK(stored(floats({0, 255, 300}), 1, is_signed) == std::vector<std::uint8_t>{0x80, 0x7f, 0x7f});
}

TEST_CASE("Inputs are stored by the rule of the network's file, where it has one", "[run]") {
    const auto of = [](Conversion conversion) {
        return Storage{.scale = 0.5, .zero_point = 10, .conversion = conversion};
    };
    const input::Images reals = floats({0.25F, 0.75F, 1.25F, -0.25F, std::nextafter(0.25F, 1.0F)});
    CHECK(stored(reals, 1, of(Conversion::HalfToEven)) == std::vector<std::uint8_t>{10, 12, 12, 10, 11});
    CHECK(stored(reals, 1, of(Conversion::HalfAway)) == std::vector<std::uint8_t>{11, 12, 13, 9, 11});
    CHECK(stored(reals, 1, of(Conversion::Nearest)) == std::vector<std::uint8_t>{11, 12, 13, 9, 11});
    // Of pixels, 0.25 to 1.25 in steps of 0.5.
    const input::Images bytes = pixels(1, 1, 3, {1, 3, 5});
    CHECK(stored(bytes, 0.25, of(Conversion::HalfToEven)) == std::vector<std::uint8_t>{10, 12, 12});
    CHECK(stored(bytes, 0.25, of(Conversion::HalfAway)) == std::vector<std::uint8_t>{11, 12, 13});
}

TEST_CASE("16-bit inputs are stored little endian", "[run]") {
    const Storage storage{.scale = 0.5, .type = DataType::Int16};
    CHECK(stored(floats({1, -1, 128.1F, 20000, -20000}), 1, storage) ==
          std::vector<std::uint8_t>{2, 0, 0xfe, 0xff, 0, 1, 0xff, 0x7f, 0, 0x80});
    const Storage as_pixels{.scale = 1, .type = DataType::Int16};
    CHECK_FALSE(run::stored_unchanged(pixels(1, 1, 1, {7}), {.scale = 1}, as_pixels));
    CHECK(stored(pixels(1, 1, 2, {7, 255}), 1, as_pixels) == std::vector<std::uint8_t>{7, 0, 255, 0});
}

TEST_CASE("A buffer of another size is a logic_error", "[run]") {
    std::vector<std::uint8_t> bytes(3);
    CHECK_THROWS_AS(run::store(pixels(1, 1, 2, {0, 1}), {}, {}, bytes), std::logic_error);
}

TEST_CASE("Parts of the images become floats", "[run]") {
    const input::Images images = pixels(3, 1, 2, {0, 1, 2, 3, 4, 5});
    CHECK(run::to_floats(images, 1, 2, {.scale = 0.5}) == std::vector<float>{1, 1.5F, 2, 2.5F});
    CHECK(run::to_floats(floats({0.5F, 7}), 0, 1, {.scale = 0.5}) == std::vector<float>{0.5F, 7});
    const run::Normalization of_bytes{.scale = 0.5, .as_stored = true};
    CHECK(run::to_floats(images, 1, 2, of_bytes) == std::vector<float>{2, 3, 4, 5});
    const run::Normalization of_int8{.scale = 0.5, .as_stored = true, .lowest = -128};
    CHECK(run::to_floats(images, 2, 1, of_int8) == std::vector<float>{-124, -123});
}

TEST_CASE("A limit keeps the first images", "[run]") {
    input::Images images = pixels(3, 1, 2, {0, 1, 2, 3, 4, 5});
    run::keep_first(images, 5);
    CHECK(images.count == 3);
    run::keep_first(images, 2);
    CHECK(images.count == 2);
    CHECK(*images.pixels() == std::vector<std::uint8_t>{0, 1, 2, 3});
}

TEST_CASE("A normalization takes a mean from each channel, and divides by a deviation", "[run]") {
    input::Images images{.count = 2, .height = 1, .width = 1, .channels = 3, .values = {}};
    images.values = std::vector<std::uint8_t>{0, 51, 255, 255, 0, 102};
    const run::Normalization torch{
        .scale = 1 / 255.0, .mean = {0.485, 0.456, 0.406}, .deviation = {0.229, 0.224, 0.225}};
    const std::vector<float> floats = run::to_floats(images, 0, 2, torch);
    CHECK(floats[0] == Approx(-0.485 / 0.229));
    CHECK(floats[1] == Approx((0.2 - 0.456) / 0.224));
    CHECK(floats[2] == Approx((1 - 0.406) / 0.225));
    CHECK(floats[5] == Approx((0.4 - 0.406) / 0.225));
    CHECK(run::to_floats(images, 1, 1, torch) == std::vector<float>(floats.begin() + 3, floats.end()));
    const Storage storage{.scale = 0.02, .zero_point = 114};
    std::vector<std::uint8_t> bytes(6);
    run::store(images, torch, storage, bytes);
    for (std::size_t i = 0; i < bytes.size(); ++i) CHECK(bytes[i] == std::lround(floats[i] / 0.02) + 114);
    const run::NamedImages named{.name = "i.png", .images = images};
    CHECK_NOTHROW(run::check_normalization(named, torch));
    CHECK_THROWS_WITH(run::check_normalization(named, {.mean = {1, 2}}),
                      "i.png: mean has 2 numbers; the images have 3 channels");
    CHECK_THROWS_WITH(run::check_normalization(named, {.deviation = {1, 2, 3, 4}}),
                      "i.png: std has 4 numbers; the images have 3 channels");
    CHECK_THROWS_WITH(
        run::check_normalization({.name = "f.npy", .images = ::floats({1})}, torch),
        "f.npy: values are float32, which are taken as they are; mean, std and preset are for 8-bit pixels");
}

TEST_CASE("A normalization whose zero is a pixel keeps pixels as they are", "[run]") {
    const auto shifted = run::storage_of_pixels({.scale = 1 / 128.0, .mean = {1.0}});
    REQUIRE(shifted);
    CHECK(shifted->zero_point == 128);
    CHECK(shifted->scale == 1 / 128.0);
    CHECK(run::storage_of_pixels({.scale = 1, .mean = {10}, .deviation = {4}})->scale == 0.25);
    CHECK_FALSE(run::storage_of_pixels({.scale = 1 / 127.5, .mean = {1.0}}));  // 127.5 is no pixel
    CHECK_FALSE(run::storage_of_pixels({.scale = 1, .mean = {-1}}));
    CHECK_FALSE(run::storage_of_pixels({.scale = 1, .mean = {256}}));
    CHECK_FALSE(run::storage_of_pixels({.scale = 1, .mean = {1, 2, 3}}));
    const input::Images images = pixels(1, 1, 2, {0, 255});
    const run::Normalization normalization{.scale = 1 / 128.0, .mean = {1.0}};
    CHECK(run::stored_unchanged(images, normalization, {.scale = 1 / 128.0, .zero_point = 128}));
    CHECK_FALSE(run::stored_unchanged(images, normalization, {.scale = 1 / 128.0, .zero_point = 127}));
}

TEST_CASE("Pixels of a network on integers are its own numbers, from the lowest of its type", "[run]") {
    const input::Images images = pixels(1, 1, 3, {0, 128, 255});
    const auto bytes_in = [&](DataType type) {
        std::vector<std::uint8_t> bytes(3);
        run::store(images, {.as_stored = true}, {.scale = 0.3, .zero_point = 7, .type = type}, bytes);
        return bytes;
    };
    CHECK(bytes_in(DataType::Uint8) == std::vector<std::uint8_t>{0, 128, 255});
    CHECK(bytes_in(DataType::Int8) == std::vector<std::uint8_t>{0x80, 0, 0x7f});
    CHECK(run::stored_unchanged(images, {.as_stored = true}, {.scale = 0.3, .zero_point = 7}));
    CHECK_FALSE(run::stored_unchanged(images, {.as_stored = true}, {.type = DataType::Int8}));
}

TEST_CASE("Integers of an array are stored as they are", "[run]") {
    input::Images images{.count = 1, .height = 1, .width = 1, .channels = 2, .values = {}};
    images.values = std::vector<std::int8_t>{-128, 5};
    const Storage storage{.scale = 0.1, .zero_point = 3, .type = DataType::Int8};
    CHECK(run::stored_unchanged(images, {}, storage));
    CHECK(stored(images, 1, storage) == std::vector<std::uint8_t>{0x80, 5});
    images.values = std::vector<std::int16_t>{-2, 300};
    CHECK(stored(images, 1, {.type = DataType::Int16}) == std::vector<std::uint8_t>{0xfe, 0xff, 44, 1});
}

TEST_CASE("Each input of a network has its files", "[run]") {
    const tests::Folder folder;
    const auto file = [&](const std::string& name, const std::string& shape, std::size_t size) {
        return run::content_of(folder.file(name, tests::npy("|i1", shape, std::string(size, '\x01'))));
    };
    const run::Content a = file("a.npy", "(2, 3)", 6);
    const run::Content b = file("b.npy", "(2, 4)", 8);
    const std::vector<run::InputTensor> two{{.name = "a", .shape = {3}, .type = DataType::Int8},
                                            {.name = "b", .shape = {4}, .type = DataType::Int8}};
    const std::vector<run::NamedImages> read = run::read_inputs({{"b", b}, {"a", a}}, two, {}, "net");
    REQUIRE(read.size() == 2);
    CHECK(read[0].input == "a");
    CHECK(read[0].images.channels == 3);
    CHECK(read[1].images.channels == 4);
    CHECK(run::read_inputs({{"", a}, {"a", a}}, {two[0]}, {}, "net")[0].images.count == 4);
    CHECK_THROWS_WITH(run::read_inputs({{"a", a}}, two, {}, "net"),
                      "net: input \"b\" has no file; give --input b=FILE");
    CHECK_THROWS_WITH(run::read_inputs({{"c", a}}, two, {}, "net"),
                      "c=" + a.path.text + ": net has no input of that name; there is \"a\", \"b\"");
    CHECK_THROWS_WITH(
        run::read_inputs({{"", a}, {"b", b}}, two, {}, "net"),
        a.path.text + ": the network has several inputs; NAME=" + a.path.text + " says which one it is for");
    const run::Content one = file("one.npy", "(1, 4)", 4);
    CHECK_THROWS_WITH(run::read_inputs({{"a", a}, {"b", one}}, two, {}, "net"),
                      one.path.text + ": there are 1 inferences; " + a.path.text + " has 2");
    CHECK_THROWS_WITH(
        run::read_inputs({{"", a}}, {{.name = "a", .shape = {3}}}, {}, "net"),
        a.path.text + ": values are int8; net takes float32, and 8-bit pixels (uint8) or floats");
}
