#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <utility>

#include "compiler/ir/model_error.h"
#include "tests/support/file_nodes.h"

using namespace systole;
using namespace systole::tests::nodes;

namespace {

using Floats = std::vector<float>;

/// A Resize of a row of ONNX to an extent.
Floats row_resized(nlohmann::json keys, const Floats& row, std::int32_t extent) {
    const auto count = static_cast<std::uint32_t>(row.size());
    return compute(onnx("Resize", std::move(keys)), {reals({count}, row), absent(), absent(), list({extent})})
        .reals();
}

}  // namespace

TEST_CASE("Resize takes the nearest element by each rule", "[compiler][operators]") {
    const auto nearest = [](const char* coordinates, const char* rule, std::int32_t extent) {
        return row_resized({{"coordinate_transformation_mode", coordinates}, {"nearest_mode", rule}},
                           {1, 2, 3, 4}, extent);
    };
    // Places -0.25, 0.25, 0.75, ...
    CHECK(nearest("half_pixel", "round_prefer_floor", 8) == Floats{1, 1, 2, 2, 3, 3, 4, 4});
    // Places 0.5 and 2.5.
    CHECK(nearest("half_pixel", "round_prefer_floor", 2) == Floats{1, 3});
    CHECK(nearest("half_pixel", "round_prefer_ceil", 2) == Floats{2, 4});
    CHECK(nearest("half_pixel", "floor", 2) == Floats{1, 3});
    CHECK(nearest("half_pixel", "ceil", 2) == Floats{2, 4});
    CHECK(nearest("asymmetric", "floor", 8) == Floats{1, 1, 2, 2, 3, 3, 4, 4});
    CHECK(nearest("align_corners", "round_prefer_floor", 3) == Floats{1, 2, 4});
    CHECK(nearest("align_corners", "round_prefer_ceil", 3) == Floats{1, 3, 4});
    CHECK(nearest("tf_half_pixel_for_nn", "floor", 3) == Floats{1, 3, 4});
}

TEST_CASE("Resize finds every place between two elements exactly", "[compiler][operators]") {
    // Places are n / d here, by the standard's formulas in integers.
    constexpr std::int64_t most = 24;
    const std::vector<std::string> rules{"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"};
    const auto nearest = [](std::int64_t n, std::int64_t d, const std::string& rule) {
        const std::int64_t below = (n - (n % d + d) % d) / d;
        const std::int64_t twice = 2 * (n - below * d);
        if (rule == "floor") return below;
        if (rule == "ceil") return below + (twice > 0 ? 1 : 0);
        if (rule == "round_prefer_floor") return below + (twice > d ? 1 : 0);
        return below + (twice >= d ? 1 : 0);
    };
    const auto place = [](const std::string& way, std::int64_t x, std::int64_t in, std::int64_t out) {
        if (way == "asymmetric") return std::pair(x * in, out);
        if (way == "align_corners") {
            return out == 1 ? std::pair(std::int64_t{0}, std::int64_t{1}) : std::pair(x * (in - 1), out - 1);
        }
        if (way == "tf_half_pixel_for_nn") return std::pair((2 * x + 1) * in, 2 * out);
        if (way == "pytorch_half_pixel" && out == 1) return std::pair(std::int64_t{0}, std::int64_t{1});
        return std::pair((2 * x + 1) * in - out, 2 * out);
    };
    for (const std::string& way :
         std::vector<std::string>{"half_pixel", "pytorch_half_pixel", "half_pixel_symmetric",
                                  "tf_half_pixel_for_nn", "asymmetric", "align_corners"}) {
        for (const std::string& rule : rules) {
            for (std::int64_t in = 1; in <= most; ++in) {
                Floats row;
                for (std::int64_t i = 0; i < in; ++i) row.push_back(static_cast<float>(i));
                for (std::int64_t out = 1; out <= most; ++out) {
                    // An axis whose extent stays is not resized. By the formula, all would move by a half.
                    if (way == "tf_half_pixel_for_nn" && in == out) continue;
                    Floats expected;
                    for (std::int64_t x = 0; x < out; ++x) {
                        const auto [n, d] = place(way, x, in, out);
                        expected.push_back(
                            static_cast<float>(std::clamp<std::int64_t>(nearest(n, d, rule), 0, in - 1)));
                    }
                    CAPTURE(way, rule, in, out);
                    REQUIRE(row_resized({{"coordinate_transformation_mode", way}, {"nearest_mode", rule}},
                                        row, static_cast<std::int32_t>(out)) == expected);
                }
            }
        }
    }
}

TEST_CASE("A scale is taken as the float32 that it is", "[compiler][operators]") {
    const auto resized = [](const char* way, const char* rule, const Floats& row, float scale) {
        return compute(onnx("Resize", {{"coordinate_transformation_mode", way}, {"nearest_mode", rule}}),
                       {reals({static_cast<std::uint32_t>(row.size())}, row), absent(),
                        constant(reals({1}, {scale}))})
            .reals();
    };
    // 1 / 3 as float32 is a little more, so that 1 / (1 / 3) lies before the element 3.
    CHECK(resized("asymmetric", "floor", {0, 1, 2, 3, 4, 5}, 1.0F / 3) == Floats{0, 2});
    CHECK(resized("asymmetric", "ceil", {0, 1, 2, 3, 4, 5}, 1.0F / 3) == Floats{0, 3});
    // 2.4 elements: x * 3 / 1.4.
    CHECK(resized("align_corners", "floor", {0, 1, 2, 3}, 0.6F) == Floats{0, 2});
    CHECK(resized("half_pixel", "round_prefer_ceil", {0, 1, 2, 3}, 0.5F) == Floats{1, 3});
    CHECK(resized("half_pixel", "round_prefer_floor", {0, 1, 2, 3}, 0.5F) == Floats{0, 2});
}

TEST_CASE("TFLite's resizing is that of its kernels in float32", "[compiler][operators]") {
    constexpr std::int32_t most = 70;
    for (const std::string& corners : std::vector<std::string>{"", "align_corners", "half_pixel_centers"}) {
        const bool is_aligned = corners == "align_corners";
        const bool is_half = corners == "half_pixel_centers";
        const nlohmann::json keys =
            corners.empty() ? nlohmann::json::object() : nlohmann::json{{corners, true}};
        for (std::int32_t in = 1; in <= most; ++in) {
            Floats row;
            for (std::int32_t i = 0; i < in; ++i) row.push_back(0.37F * static_cast<float>(i * i % 11));
            const Tensor image = reals({1, 1, static_cast<std::uint32_t>(in), 1}, row);
            for (std::int32_t out = 1; out <= most; out += 3) {
                const float step = is_aligned && out > 1
                                       ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                                       : static_cast<float>(in) / static_cast<float>(out);
                Floats nearest;
                Floats linear;
                for (std::int32_t x = 0; x < out; ++x) {
                    const auto at = [&](std::int32_t i) { return row[static_cast<std::size_t>(i)]; };
                    const float place = (static_cast<float>(x) + (is_half ? 0.5F : 0.0F)) * step;
                    const auto element =
                        static_cast<std::int32_t>(is_aligned ? std::round(place) : std::floor(place));
                    nearest.push_back(at(std::min(element, in - 1)));
                    const float between = is_half ? place - 0.5F : place;
                    const auto left = std::max(static_cast<std::int32_t>(std::floor(between)), 0);
                    const auto right = std::min(static_cast<std::int32_t>(std::ceil(between)), in - 1);
                    const float part = between - static_cast<float>(left);
                    linear.push_back(at(left) * (1 - part) + at(right) * part);
                }
                CAPTURE(corners, in, out);
                REQUIRE(compute(tflite("RESIZE_NEAREST_NEIGHBOR", keys), {image, list({1, out})}).reals() ==
                        nearest);
                // The kernel adds the products with 0 of another line, which changes no bits.
                REQUIRE(compute(tflite("RESIZE_BILINEAR", keys), {image, list({1, out})}).reals() == linear);
            }
        }
    }
}

TEST_CASE("Resize interpolates linearly in each kind of coordinates", "[compiler][operators]") {
    const auto linear = [](const char* coordinates, std::int32_t extent) {
        return row_resized({{"mode", "linear"}, {"coordinate_transformation_mode", coordinates}},
                           {1, 2, 3, 4}, extent);
    };
    CHECK(are_close(linear("half_pixel", 8), {1, 1.25F, 1.75F, 2.25F, 2.75F, 3.25F, 3.75F, 4}));
    CHECK(are_close(linear("asymmetric", 8), {1, 1.5F, 2, 2.5F, 3, 3.5F, 4, 4}));
    CHECK(are_close(linear("align_corners", 7), {1, 1.5F, 2, 2.5F, 3, 3.5F, 4}));
    CHECK(are_close(linear("pytorch_half_pixel", 1), {1}));
    CHECK(are_close(linear("half_pixel", 1), {2.5F}));
    CHECK(are_close(linear("half_pixel_symmetric", 2), {1.5F, 3.5F}));
    CHECK_THROWS_WITH(linear("tf_crop_and_resize", 2), Catch::Contains("this mode is not supported"));
}

TEST_CASE("Cubic interpolation has the values of its definition", "[compiler][operators]") {
    // The places are -0.25, 0.25 and so on; weights by Keys with a = -0.75.
    const Floats result = row_resized({{"mode", "cubic"}}, {0, 0, 1, 0, 0}, 10);
    CHECK(are_close(result, {0, -0.03515625F, -0.10546875F, 0.26171875F, 0.87890625F, 0.87890625F,
                             0.26171875F, -0.10546875F, -0.03515625F, 0}));
    const Floats excluded = row_resized({{"mode", "cubic"}, {"exclude_outside", 1}}, {1, 1, 1, 1}, 8);
    CHECK(are_close(excluded, Floats(8, 1.0F)));
}

TEST_CASE("Scales that do not fit the extents keep their own coordinates", "[compiler][operators]") {
    const Tensor row = reals({4}, {1, 2, 3, 4});
    const Tensor scale = constant(reals({1}, {0.6F}));
    const Tensor result = compute(onnx("Resize", {{"mode", "linear"}}), {row, absent(), scale});
    CHECK(result.shape == ir::Shape{2});
    // (x + 0.5) / 0.6 - 0.5.
    CHECK(are_close(result.reals(), {1 + 1.0F / 3, 3}));
    const Tensor image = reals({1, 1, 2, 2}, {1, 2, 3, 4});
    const Tensor scales = constant(reals({4}, {1, 1, 2, 3}));
    const Tensor upsampled = compute(onnx("Upsample"), {image, scales});
    CHECK(upsampled ==
          reals({1, 1, 4, 6}, {1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 3, 3, 3, 4, 4, 4}));
    CHECK(compute(onnx("Resize"), {image, scales}) == upsampled);
    // Only the axis that becomes shorter takes the element behind: 1 / 0.7 = 1.43.
    const Tensor wide = reals({1, 1, 2, 3}, {1, 2, 3, 4, 5, 6});
    CHECK(compute(onnx("Resize"), {wide, constant(reals({4}, {1, 1, 1.5F, 0.7F}))}) ==
          reals({1, 1, 3, 2}, {1, 3, 1, 3, 4, 6}));
}

TEST_CASE("Keras upsamples and resizes images with the channels last", "[compiler][operators]") {
    const Tensor image = reals({1, 1, 2, 2}, {1, 2, 3, 4});
    CHECK(compute(keras("UpSampling2D", {{"size", {2U, 2U}}}), {image}) ==
          reals({1, 2, 4, 2}, {1, 2, 1, 2, 3, 4, 3, 4, 1, 2, 1, 2, 3, 4, 3, 4}));
    CHECK(compute(keras("UpSampling1D", {{"size", 3U}}), {reals({1, 2, 1}, {1, 2})}) ==
          reals({1, 6, 1}, {1, 1, 1, 2, 2, 2}));
    const Tensor smooth =
        compute(keras("UpSampling2D", {{"interpolation", "bilinear"}}), {reals({1, 1, 2, 1}, {0, 4})});
    CHECK(are_close(smooth.reals(), {0, 1, 3, 4, 0, 1, 3, 4}));
    CHECK(compute(keras("Resizing", {{"height", 1U}, {"width", 1U}, {"interpolation", "nearest"}}),
                  {image}) == reals({1, 1, 1, 2}, {3, 4}));
}

TEST_CASE("TFLite resizes integers with 10 fractional bits, and uint8 in float", "[compiler][operators]") {
    const Tensor size = list({1, 4});
    const Tensor row = quantized({1, 1, 2, 1}, 0.5, 0, {-7, 100});
    const auto resized = [&](nlohmann::json keys) {
        return compute(tflite("RESIZE_BILINEAR", std::move(keys), {int8_type(0.5, 0)}), {row, size})
            .numbers<std::int8_t>();
    };
    using Signed = std::vector<std::int8_t>;
    CHECK(resized({}) == Signed{-7, 47, 100, 100});  // 46.5 is rounded away from 0
    CHECK(resized({{"half_pixel_centers", true}}) == Signed{-7, 20, 73, 100});
    CHECK(resized({{"align_corners", true}}) == Signed{-7, 29, 64, 100});
    Tensor bytes = tensor_of<std::uint8_t>({1, 1, 2, 1}, DataType::Uint8, {3, 10});
    bytes.quantization = ir::Quantization{{0.5}, {0}, {}};
    const ir::ResultType type{DataType::Uint8, bytes.quantization};
    CHECK(compute(tflite("RESIZE_BILINEAR", {}, {type}), {bytes, size}).bytes ==
          std::vector<std::uint8_t>{3, 7, 10, 10});
    CHECK(compute(tflite("RESIZE_NEAREST_NEIGHBOR", {}, {type}), {bytes, size}).bytes ==
          std::vector<std::uint8_t>{3, 3, 10, 10});
    CHECK(compute(tflite("RESIZE_NEAREST_NEIGHBOR", {{"align_corners", true}}, {type}), {bytes, list({1, 3})})
              .bytes == std::vector<std::uint8_t>{3, 10, 10});
}
