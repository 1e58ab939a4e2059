#include "sim/run/images.h"

#include <catch2/catch.hpp>

#include "sim/run/input/images.h"

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

std::vector<std::uint8_t> stored(const input::Images& images, double scale, const run::Storage& storage) {
    std::vector<std::uint8_t> bytes(images.size() * bytes_of(storage.type));
    run::store(images, scale, storage, bytes);
    return bytes;
}

}  // namespace

TEST_CASE("Images must have the network's shape, or its number of values if it takes a vector", "[run]") {
    const run::NamedImages images{.name = "i.idx", .images = pixels(1, 2, 3, std::vector<std::uint8_t>(6))};
    CHECK_NOTHROW(run::check_shape(images, {2, 3, 1}, "net"));
    CHECK_NOTHROW(run::check_shape(images, {1, 1, 6}, "net"));
    CHECK_THROWS_WITH(run::check_shape(images, {3, 2, 1}, "net"),
                      "i.idx: the images are 2x3x1; net takes 3x2x1");
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

TEST_CASE("Pixels are stored unchanged if the tensor has their scale and zero point", "[run]") {
    const input::Images images = pixels(2, 1, 2, {0, 1, 128, 255});
    const run::Storage same{.scale = 1 / 255.0};
    CHECK(run::stored_unchanged(images, 1 / 255.0, same));
    CHECK(run::stored_unchanged(images, 0.00392156863, same));  // as people write it
    CHECK_FALSE(run::stored_unchanged(images, 1.0, same));
    CHECK_FALSE(run::stored_unchanged(images, 1 / 255.0, {.scale = 1 / 255.0, .zero_point = 1}));
    CHECK_FALSE(run::stored_unchanged(images, 1 / 255.0, {.scale = 1 / 255.0, .type = DataType::Int8}));
    CHECK_FALSE(run::stored_unchanged(floats({1}), 1 / 255.0, same));
    CHECK(stored(images, 1 / 255.0, same) == *images.pixels());
}

TEST_CASE("Other inputs are rounded to the nearest byte, and clamped", "[run]") {
    const run::Storage storage{.scale = 0.5, .zero_point = 10};
    CHECK(stored(floats({0, 0.2F, 0.3F, -5, -6, 122.5F, 500}), 1, storage) ==
          std::vector<std::uint8_t>{10, 10, 11, 0, 0, 255, 255});
    CHECK(stored(pixels(1, 1, 2, {0, 100}), 0.25, storage) == std::vector<std::uint8_t>{10, 60});
    const run::Storage is_signed{.scale = 1, .zero_point = -128, .type = DataType::Int8};
    CHECK(stored(floats({0, 255, 300}), 1, is_signed) == std::vector<std::uint8_t>{0x80, 0x7f, 0x7f});
}

TEST_CASE("16-bit inputs are stored little endian", "[run]") {
    const run::Storage storage{.scale = 0.5, .type = DataType::Int16};
    CHECK(stored(floats({1, -1, 128.1F, 20000, -20000}), 1, storage) ==
          std::vector<std::uint8_t>{2, 0, 0xfe, 0xff, 0, 1, 0xff, 0x7f, 0, 0x80});
    const run::Storage as_pixels{.scale = 1, .type = DataType::Int16};
    CHECK_FALSE(run::stored_unchanged(pixels(1, 1, 1, {7}), 1, as_pixels));
    CHECK(stored(pixels(1, 1, 2, {7, 255}), 1, as_pixels) == std::vector<std::uint8_t>{7, 0, 255, 0});
}

TEST_CASE("A buffer of another size is a logic_error", "[run]") {
    std::vector<std::uint8_t> bytes(3);
    CHECK_THROWS_AS(run::store(pixels(1, 1, 2, {0, 1}), 1, {}, bytes), std::logic_error);
}

TEST_CASE("Parts of the images become floats", "[run]") {
    const input::Images images = pixels(3, 1, 2, {0, 1, 2, 3, 4, 5});
    CHECK(run::to_floats(images, 1, 2, 0.5) == std::vector<float>{1, 1.5F, 2, 2.5F});
    CHECK(run::to_floats(floats({0.5F, 7}), 0, 1, 0.5) == std::vector<float>{0.5F, 7});
}

TEST_CASE("A limit keeps the first images", "[run]") {
    input::Images images = pixels(3, 1, 2, {0, 1, 2, 3, 4, 5});
    run::keep_first(images, 5);
    CHECK(images.count == 3);
    run::keep_first(images, 2);
    CHECK(images.count == 2);
    CHECK(*images.pixels() == std::vector<std::uint8_t>{0, 1, 2, 3});
}
