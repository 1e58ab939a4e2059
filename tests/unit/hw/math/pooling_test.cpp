#include "hw/math/pooling.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/limits.h"

namespace {

using namespace systole;
using namespace systole::math;

constexpr std::uint8_t not_pooled = 0xA5;

struct PoolExample {
    WindowGeometry geometry;
    PoolingRules rules;
    std::size_t images = 1;
    std::size_t first_line = 0;
    std::size_t lines = 0;
    std::size_t out_image_stride = 0;
    std::size_t gap = 0;  ///< bytes between the channels of a pixel and those of the next
    std::vector<std::uint8_t> tensor;

    std::size_t out_pixel_stride() const { return geometry.channels + gap; }
    std::size_t out_image_bytes() const {
        return std::size_t{geometry.output_height} * geometry.output_width * out_pixel_stride();
    }

    int value(std::uint8_t bits) const {
        return is_signed(rules.elements) ? static_cast<std::int8_t>(bits) : static_cast<int>(bits);
    }

    /// The values of a window that count.
    std::vector<int> window(std::size_t image, std::size_t top, std::size_t left, std::size_t channel) const {
        std::vector<int> values;
        for (std::size_t ky = 0; ky < geometry.kernel_height; ++ky) {
            for (std::size_t kx = 0; kx < geometry.kernel_width; ++kx) {
                const std::size_t y = top + ky;  // above the image: wrapped around to beyond it
                const std::size_t x = left + kx;
                if (y < geometry.input_height && x < geometry.input_width) {
                    values.push_back(
                        value(tensor.at(image * geometry.image_stride_bytes +
                                        (y * geometry.input_width + x) * geometry.channels + channel)));
                } else if (rules.count_padding) {
                    values.push_back(value(rules.pad_value));
                }
            }
        }
        return values;
    }

    int pooled(const std::vector<int>& values) const {
        if (values.empty()) return value(rules.pad_value);
        if (rules.operation == Pooling::Max) return *std::max_element(values.begin(), values.end());
        double sum = 0;
        for (const int v : values) sum += v;
        return static_cast<int>(std::round(sum / static_cast<double>(values.size())));
    }

    std::vector<std::uint8_t> expected() const {
        std::vector<std::uint8_t> out((images - 1) * out_image_stride + out_image_bytes(), not_pooled);
        for (std::size_t line = first_line; line < first_line + lines; ++line) {
            const std::size_t image = line / geometry.output_height;
            const std::size_t y = line % geometry.output_height;
            for (std::size_t x = 0; x < geometry.output_width; ++x) {
                for (std::size_t c = 0; c < geometry.channels; ++c) {
                    out.at(image * out_image_stride + (y * geometry.output_width + x) * out_pixel_stride() +
                           c) =
                        static_cast<std::uint8_t>(
                            pooled(window(image, y * geometry.stride_y - geometry.pad_top,
                                          x * geometry.stride_x - geometry.pad_left, c)));
                }
            }
        }
        return out;
    }

    std::vector<std::uint8_t> computed() const {
        std::vector<std::uint8_t> out((images - 1) * out_image_stride + out_image_bytes(), not_pooled);
        pool(tensor.data(), geometry, rules, first_line, lines,
             {.first = out.data(), .image_stride = out_image_stride, .pixel_stride = out_pixel_stride()});
        return out;
    }
};

/// One window over a line of pixels.
PoolExample one_window(std::vector<std::uint8_t> pixels) {
    PoolExample example;
    example.geometry.input_width = example.geometry.kernel_width = static_cast<std::uint32_t>(pixels.size());
    example.lines = 1;
    example.tensor = std::move(pixels);
    return example;
}

}  // namespace

TEST_CASE("Pooling is its definition's, for any geometry", "[hw][math][pooling]") {
    const auto seed = Catch::rngSeed();
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto between = [&random](std::uint32_t low, std::uint32_t high) {
        return std::uniform_int_distribution<std::uint32_t>(low, high)(random);
    };
    for (int i = 0; i < 3000; ++i) {
        PoolExample example;
        WindowGeometry& geometry = example.geometry;
        geometry.channels = between(1, 40);
        geometry.input_height = between(1, 9);
        geometry.input_width = between(1, 9);
        geometry.kernel_height = between(1, 5);
        geometry.kernel_width = between(1, 5);
        geometry.stride_y = between(1, 3);
        geometry.stride_x = between(1, 3);
        geometry.pad_top = between(0, 1) * between(0, 6);
        geometry.pad_left = between(0, 1) * between(0, 6);
        geometry.output_height = between(1, 6);
        geometry.output_width = between(1, 6);
        const std::size_t image_bytes =
            std::size_t{geometry.input_height} * geometry.input_width * geometry.channels;
        geometry.image_stride_bytes = image_bytes + between(0, 20);
        example.images = between(1, 3);
        example.rules = {.operation = between(0, 1) == 0 ? Pooling::Max : Pooling::Average,
                         .elements = between(0, 1) == 1 ? DataType::Int8 : DataType::Uint8,
                         .count_padding = between(0, 1) == 1,
                         .pad_value = static_cast<std::uint8_t>(between(0, 255))};
        example.gap = between(0, 1) * between(0, 30);
        example.out_image_stride = example.out_image_bytes() + between(0, 20);
        const auto all_lines = static_cast<std::uint32_t>(example.images * geometry.output_height);
        example.first_line = between(0, all_lines - 1);
        example.lines = between(1, all_lines - static_cast<std::uint32_t>(example.first_line));
        example.tensor.resize((example.images - 1) * geometry.image_stride_bytes + image_bytes);
        for (auto& byte : example.tensor) byte = static_cast<std::uint8_t>(random());
        CAPTURE(i);
        REQUIRE(example.computed() == example.expected());
    }
}

TEST_CASE("Signs decide which element is largest", "[hw][math][pooling]") {
    PoolExample example = one_window({0x01, 0xFF, 0x7F, 0x80});
    CHECK(example.computed() == std::vector<std::uint8_t>{0xFF});
    example.rules.elements = DataType::Int8;
    CHECK(example.computed() == std::vector<std::uint8_t>{0x7F});
}

TEST_CASE("Averages round halves away from zero", "[hw][math][pooling]") {
    const auto average = [](std::vector<std::uint8_t> pixels, bool is_signed) {
        PoolExample example = one_window(std::move(pixels));
        example.rules.operation = Pooling::Average;
        example.rules.elements = is_signed ? DataType::Int8 : DataType::Uint8;
        return example.computed().at(0);
    };
    CHECK(average({2, 3}, false) == 3);
    CHECK(average({2, 2, 3}, false) == 2);
    CHECK(average({2, 3, 3}, false) == 3);
    CHECK(average({255, 254}, false) == 255);
    CHECK(average({0xFE, 0xFD}, true) == 0xFD);        // -2, -3
    CHECK(average({0xFE, 0xFE, 0xFD}, true) == 0xFE);  // -7/3
    CHECK(average({0xFE, 0xFD, 0xFD}, true) == 0xFD);  // -8/3
    CHECK(average({0xFF, 0x00}, true) == 0xFF);        // -1/2
    CHECK(average({0x80, 0x80}, true) == 0x80);
}

TEST_CASE("Large sums are divided exactly", "[hw][math][pooling]") {
    // Ones and zeros whose mean is as close to a half as can be, from both sides.
    constexpr std::size_t pixels = 100001;
    const auto average = [&](std::size_t zeros) {
        std::vector<std::uint8_t> line(pixels, 1);
        std::fill_n(line.begin(), zeros, std::uint8_t{0});
        PoolExample example = one_window(std::move(line));
        example.rules.operation = Pooling::Average;
        return example.computed().at(0);
    };
    CHECK(average(pixels / 2) == 1);      // 50001 of 100001
    CHECK(average(pixels / 2 + 1) == 0);  // 50000 of 100001
}

TEST_CASE("Padding counts only where asked", "[hw][math][pooling]") {
    PoolExample example = one_window({10, 20});
    example.geometry.kernel_width = 4;
    example.geometry.pad_left = 1;
    example.rules.pad_value = 200;
    CHECK(example.computed() == std::vector<std::uint8_t>{20});
    example.rules.operation = Pooling::Average;
    CHECK(example.computed() == std::vector<std::uint8_t>{15});
    example.rules.count_padding = true;
    CHECK(example.computed() == std::vector<std::uint8_t>{108});  // 430 / 4
    example.rules.operation = Pooling::Max;
    CHECK(example.computed() == std::vector<std::uint8_t>{200});
}

TEST_CASE("The largest window has the largest sums that fit", "[hw][math][pooling]") {
    PoolExample example = one_window({0});
    example.geometry.kernel_height = largest_pooling_window;
    example.rules = {.operation = Pooling::Average, .count_padding = true, .pad_value = 255};
    CHECK(example.computed() == std::vector<std::uint8_t>{255});
    example.rules.elements = DataType::Int8;
    example.rules.pad_value = 0x80;
    CHECK(example.computed() == std::vector<std::uint8_t>{0x80});
    example.geometry.kernel_height += 1;
    CHECK_THROWS_AS(example.computed(), std::logic_error);
}
