#include "hw/math/window.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

namespace {

using namespace systole;
using namespace systole::math;

constexpr std::uint8_t not_gathered = 0xA5;

/// A tensor whose memory ends with its last pixel, and what to gather from it.
struct WindowExample {
    WindowGeometry geometry;
    std::size_t images = 1;
    std::size_t element_bytes = 1;
    WindowRange range;
    std::uint16_t pad_value = 0x4321;
    std::size_t gap_bytes = 0;  ///< between rows of `out`
    std::vector<std::uint8_t> tensor;

    std::size_t image_bytes() const {
        return std::size_t{geometry.input_height} * geometry.input_width * geometry.channels * element_bytes;
    }

    void allocate(std::mt19937& random) {
        tensor.resize((images - 1) * geometry.image_stride_bytes + image_bytes());
        for (auto& byte : tensor) byte = static_cast<std::uint8_t>(random());
    }

    std::size_t row_bytes() const { return range.count * element_bytes; }
    std::size_t rows() const { return range.lines * geometry.output_width; }

    std::uint8_t byte_of(std::size_t line, std::size_t window, std::size_t element, std::size_t byte) const {
        const std::size_t channel = element % geometry.channels;
        const std::size_t kernel_x = element / geometry.channels % geometry.kernel_width;
        const std::size_t kernel_y = element / geometry.channels / geometry.kernel_width;
        // Unsigned: what lies above or left of the image wraps around to beyond it.
        const std::size_t y = line % geometry.output_height * geometry.stride_y + kernel_y - geometry.pad_top;
        const std::size_t x = window * geometry.stride_x + kernel_x - geometry.pad_left;
        if (y >= geometry.input_height || x >= geometry.input_width) {
            return static_cast<std::uint8_t>(pad_value >> (8 * byte));
        }
        const std::size_t pixel = y * geometry.input_width + x;
        return tensor.at(line / geometry.output_height * geometry.image_stride_bytes +
                         (pixel * geometry.channels + channel) * element_bytes + byte);
    }

    std::vector<std::uint8_t> expected() const {
        std::vector<std::uint8_t> out;
        for (std::size_t row = 0; row < rows(); ++row) {
            const std::size_t line = range.first_line + row / geometry.output_width;
            if (row > 0) out.insert(out.end(), gap_bytes, not_gathered);
            for (std::size_t i = 0; i < range.count; ++i) {
                for (std::size_t byte = 0; byte < element_bytes; ++byte) {
                    out.push_back(byte_of(line, row % geometry.output_width, range.begin + i, byte));
                }
            }
        }
        return out;
    }

    std::vector<std::uint8_t> gathered() const {
        const std::size_t stride = row_bytes() + gap_bytes;
        std::vector<std::uint8_t> out((rows() - 1) * stride + row_bytes(), not_gathered);
        gather_windows(tensor.data(), geometry, range, pad_value, element_bytes, out.data(), stride);
        return out;
    }

    /// The rows of the view, which must lie inside the tensor.
    std::vector<std::uint8_t> viewed(const StridedView& view) const {
        std::vector<std::uint8_t> out;
        const auto offset = static_cast<std::size_t>(view.data - tensor.data());
        REQUIRE(offset + (rows() - 1) * view.row_bytes + row_bytes() <= tensor.size());
        for (std::size_t row = 0; row < rows(); ++row) {
            const std::uint8_t* const from = view.data + row * view.row_bytes;
            if (row > 0) out.insert(out.end(), gap_bytes, not_gathered);
            out.insert(out.end(), from, from + row_bytes());
        }
        return out;
    }
};

std::uint32_t between(std::uint32_t low, std::uint32_t high, std::mt19937& random) {
    return std::uniform_int_distribution<std::uint32_t>(low, high)(random);
}

std::size_t between(std::size_t low, std::size_t high, std::mt19937& random) {
    return std::uniform_int_distribution<std::size_t>(low, high)(random);
}

/// Draws windows, including kernels larger than the image, strides larger than kernels, and windows outside
/// the image.
WindowExample random_example(std::mt19937& random) {
    WindowExample example;
    WindowGeometry& geometry = example.geometry;
    constexpr std::uint32_t channels[] = {1, 1, 2, 3, 4, 5, 8, 11, 12, 24, 33, 70};
    geometry.channels = channels[between(0U, static_cast<std::uint32_t>(std::size(channels)) - 1, random)];
    geometry.input_height = between(1U, 9U, random);
    geometry.input_width = between(1U, 9U, random);
    geometry.kernel_height = between(1U, 7U, random);
    geometry.kernel_width = between(1U, 7U, random);
    geometry.stride_y = between(1U, 4U, random);
    geometry.stride_x = between(1U, 4U, random);
    geometry.pad_top = between(0U, 1U, random) * between(0U, 9U, random);
    geometry.pad_left = between(0U, 1U, random) * between(0U, 9U, random);
    geometry.output_height = between(1U, 8U, random);
    geometry.output_width = between(1U, 8U, random);
    example.images = between(std::size_t{1}, 3, random);
    example.element_bytes = between(std::size_t{1}, 2, random);
    geometry.image_stride_bytes = example.image_bytes() + between(0U, 1U, random) * between(0U, 40U, random);
    WindowRange& range = example.range;
    range.begin = between(0, geometry.window_elements() - 1, random);
    range.count = between(1, geometry.window_elements() - range.begin, random);
    if (between(0U, 2U, random) == 0) range = {.begin = 0, .count = geometry.window_elements()};
    const std::size_t lines = example.images * geometry.output_height;
    range.first_line = between(0, lines - 1, random);
    range.lines = between(1, lines - range.first_line, random);
    example.pad_value = static_cast<std::uint16_t>(random());
    example.gap_bytes = between(0U, 1U, random) * between(1U, 9U, random);
    example.allocate(random);
    return example;
}

/// A 1x1 kernel over packed images.
WindowExample pointwise(std::mt19937& random) {
    WindowExample example;
    example.geometry.input_height = example.geometry.output_height = 5;
    example.geometry.input_width = example.geometry.output_width = 4;
    example.geometry.channels = 6;
    example.images = 3;
    example.geometry.image_stride_bytes = example.image_bytes();
    example.range = {.begin = 0, .count = 6, .first_line = 1, .lines = 12};
    example.allocate(random);
    return example;
}

std::optional<StridedView> view_of(const WindowExample& example) {
    return contiguous_windows(example.tensor.data(), example.geometry, example.range, example.element_bytes);
}

}  // namespace

TEST_CASE("Gathered windows are their definition's, for any geometry", "[hw][math][window]") {
    const auto seed = Catch::rngSeed();
    CAPTURE(seed);
    std::mt19937 random(seed);
    std::size_t views = 0;
    for (int i = 0; i < 5000; ++i) {
        const WindowExample example = random_example(random);
        CAPTURE(i);
        const auto expected = example.expected();
        REQUIRE(example.gathered() == expected);
        if (const auto view = view_of(example)) {
            ++views;
            REQUIRE(example.viewed(*view) == expected);
        }
    }
    CHECK(views > 0);
}

TEST_CASE("A small convolution's windows, written out", "[hw][math][window]") {
    WindowExample example;
    example.geometry.input_height = example.geometry.output_height = 2;
    example.geometry.input_width = example.geometry.output_width = 3;
    example.geometry.kernel_height = example.geometry.kernel_width = 3;
    example.geometry.pad_top = example.geometry.pad_left = 1;
    example.range = {.begin = 0, .count = 9, .first_line = 1, .lines = 1};
    example.pad_value = 9;
    example.tensor = {1, 2, 3, 4, 5, 6};
    CHECK(example.gathered() == std::vector<std::uint8_t>{9, 1, 2, 9, 4, 5, 9, 9, 9,  //
                                                          1, 2, 3, 4, 5, 6, 9, 9, 9,  //
                                                          2, 3, 9, 5, 6, 9, 9, 9, 9});
    example.range.begin = 2;
    example.range.count = 3;
    CHECK(example.gathered() == std::vector<std::uint8_t>{2, 9, 4, 3, 4, 5, 9, 5, 6});
}

TEST_CASE("Windows of the shipped network's shapes", "[hw][math][window]") {
    const auto seed = Catch::rngSeed();
    CAPTURE(seed);
    std::mt19937 random(seed);
    struct Shape {
        std::uint32_t size, channels, kernel, stride, pad;
    };
    constexpr Shape shapes[] = {{28, 1, 3, 1, 1}, {28, 12, 6, 2, 2}, {14, 24, 6, 2, 2}, {7, 256, 3, 1, 1}};
    for (const auto& [size, channels, kernel, stride, pad] : shapes) {
        WindowExample example;
        WindowGeometry& geometry = example.geometry;
        geometry.input_height = geometry.input_width = size;
        geometry.channels = channels;
        geometry.kernel_height = geometry.kernel_width = kernel;
        geometry.stride_y = geometry.stride_x = stride;
        geometry.pad_top = geometry.pad_left = pad;
        geometry.output_height = geometry.output_width = size / stride;
        example.images = 2;
        geometry.image_stride_bytes = (example.image_bytes() + 255) / 256 * 256;
        example.allocate(random);
        for (std::size_t begin = 0; begin < geometry.window_elements(); begin += 256) {
            example.range = {.begin = begin,
                             .count = std::min<std::size_t>(256, geometry.window_elements() - begin),
                             .first_line = 3,
                             .lines = geometry.output_height};
            CAPTURE(size, channels, begin);
            REQUIRE(example.gathered() == example.expected());
        }
    }
}

TEST_CASE("Nothing is written for an empty range", "[hw][math][window]") {
    std::mt19937 random(1);
    WindowExample example = pointwise(random);
    std::vector<std::uint8_t> out(64, not_gathered);
    const WindowRange no_elements{.begin = 3, .count = 0, .first_line = 0, .lines = 1};
    const WindowRange no_lines{.begin = 0, .count = 6, .first_line = 2, .lines = 0};
    for (const WindowRange& range : {no_elements, no_lines}) {
        gather_windows(example.tensor.data(), example.geometry, range, 0, 1, out.data(), 8);
        CHECK(out == std::vector<std::uint8_t>(64, not_gathered));
        CHECK_FALSE(contiguous_windows(example.tensor.data(), example.geometry, range, 1));
    }
}

TEST_CASE("1x1 kernels over packed images need no copy", "[hw][math][window]") {
    std::mt19937 random(1);
    WindowExample example = pointwise(random);
    auto view = view_of(example);
    REQUIRE(view);
    CHECK(view->data == example.tensor.data() + 1 * 4 * 6);
    CHECK(view->row_bytes == 6);
    CHECK(example.viewed(*view) == example.expected());

    SECTION("nor does a part of the channels") {
        example.range.begin = 2;
        example.range.count = 3;
        view = view_of(example);
        REQUIRE(view);
        CHECK(example.viewed(*view) == example.expected());
    }
    SECTION("nor a stride along the only line") {
        example.geometry.stride_x = 2;
        example.geometry.output_width = 2;
        example.range.lines = 1;
        view = view_of(example);
        REQUIRE(view);
        CHECK(view->row_bytes == 12);
        CHECK(example.viewed(*view) == example.expected());
    }
    SECTION("but images that are not packed do") {
        example.geometry.image_stride_bytes += 1;
        example.allocate(random);
        CHECK_FALSE(view_of(example));
        example.range = {.begin = 0, .count = 6, .first_line = 5, .lines = 5};
        CHECK(view_of(example));
    }
    SECTION("and a stride that jumps at line ends") {
        example.geometry.stride_x = 3;
        example.geometry.output_width = 2;
        example.geometry.stride_y = 2;
        example.geometry.output_height = 3;
        example.range = {.begin = 0, .count = 6, .first_line = 0, .lines = 2};
        CHECK_FALSE(view_of(example));
    }
    SECTION("and padding") {
        example.geometry.pad_top = 1;
        CHECK_FALSE(view_of(example));
    }
    SECTION("and windows below or right of the image") {
        example.range = {.begin = 0, .count = 6, .first_line = 0, .lines = 5};
        REQUIRE(view_of(example));
        example.geometry.output_width = 5;
        CHECK_FALSE(view_of(example));
        example.geometry.output_width = 4;
        example.geometry.output_height = 6;
        example.range.lines = 6;
        CHECK_FALSE(view_of(example));
    }
}

TEST_CASE("A window as large as its image is one piece", "[hw][math][window]") {
    std::mt19937 random(1);
    WindowExample example;
    example.geometry.input_height = example.geometry.kernel_height = 7;
    example.geometry.input_width = example.geometry.kernel_width = 7;
    example.geometry.channels = 24;
    example.images = 4;
    example.geometry.image_stride_bytes = 1280;
    example.allocate(random);
    example.range = {.begin = 256, .count = 256, .first_line = 1, .lines = 3};
    const auto view = view_of(example);
    REQUIRE(view);
    CHECK(view->data == example.tensor.data() + 1280 + 256);
    CHECK(view->row_bytes == 1280);
    CHECK(example.viewed(*view) == example.expected());
}

TEST_CASE("Overlapping windows are no view", "[hw][math][window]") {
    std::mt19937 random(1);
    WindowExample example = pointwise(random);
    example.geometry.kernel_width = 2;
    example.geometry.output_width = 3;
    example.range = {.begin = 0, .count = 6, .first_line = 0, .lines = 1};
    CHECK(view_of(example));
    example.range.count = 7;
    CHECK_FALSE(view_of(example));
}
