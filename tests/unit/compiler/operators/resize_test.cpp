#include <catch2/catch.hpp>

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
