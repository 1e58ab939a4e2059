#include <catch2/catch.hpp>
#include <cmath>

#include "compiler/ir/model_error.h"
#include "tests/support/file_nodes.h"

using namespace systole;
using namespace systole::tests::nodes;

namespace {

using Floats = std::vector<float>;
using Signed = std::vector<std::int8_t>;

}  // namespace

TEST_CASE("Reductions combine the elements along axes", "[compiler][operators]") {
    const Tensor x = counted_reals({2, 3, 2});
    CHECK(compute(onnx("ReduceMean", {{"axes", {1}}}), {x}) == reals({2, 1, 2}, {2, 3, 8, 9}));
    CHECK(compute(onnx("ReduceSum", {{"keepdims", 0}}), {x, list({0, -1})}) == reals({3}, {14, 22, 30}));
    CHECK(compute(onnx("ReduceSum", {{"keepdims", 0}}), {x}) == reals({}, {66}));
    CHECK(compute(onnx("ReduceSum", {{"noop_with_empty_axes", 1}}), {x}) == x);
    CHECK(compute(onnx("ReduceMax", {{"axes", {-2}}, {"keepdims", 0}}), {x}) ==
          reals({2, 2}, {4, 5, 10, 11}));
    CHECK(compute(onnx("ReduceMin", {{"axes", {0}}}), {x}) == reals({1, 3, 2}, {0, 1, 2, 3, 4, 5}));
    CHECK(compute(onnx("ReduceProd", {{"axes", {2}}, {"keepdims", 0}}), {x}) ==
          reals({2, 3}, {0, 6, 20, 42, 72, 110}));
    CHECK(compute(tflite("MEAN", {{"keep_dims", true}}), {x, list({1})}) == reals({2, 1, 2}, {2, 3, 8, 9}));
    CHECK(compute(tflite("SUM"), {x, constant(integers({}, {2}))}) == reals({2, 3}, {1, 5, 9, 13, 17, 21}));
    CHECK(compute(onnx("ReduceSum", {{"axes", {0}}, {"keepdims", 0}}), {integers({2, 2}, {1, 2, 3, 4})}) ==
          integers({2}, {4, 6}));
    CHECK(compute(onnx("ReduceMean", {{"axes", {0}}, {"keepdims", 0}}), {integers({2}, {-3, -4})}) ==
          integers({}, {-3}));
    CHECK_THROWS_WITH(read_node(onnx("ReduceMean", {{"axes", {3}}}), {x}), Catch::Contains("its axis is 3"));
}

TEST_CASE("Norms and logarithms of sums", "[compiler][operators]") {
    const Tensor x = reals({2, 2}, {3, -4, 1, 2});
    const nlohmann::json rows{{"axes", {1}}, {"keepdims", 0}};
    CHECK(compute(onnx("ReduceL1", rows), {x}).reals() == Floats{7, 3});
    CHECK(are_close(compute(onnx("ReduceL2", rows), {x}).reals(), {5, std::sqrt(5.0F)}));
    CHECK(compute(onnx("ReduceSumSquare", rows), {x}).reals() == Floats{25, 5});
    CHECK(are_close(compute(onnx("ReduceLogSum", {{"axes", {0}}}), {reals({2, 1}, {1, 3})}).reals(),
                    {std::log(4.0F)}));
    const Tensor logarithms = compute(onnx("ReduceLogSumExp", rows), {reals({1, 2}, {1000, 1000})});
    CHECK(logarithms.shape == ir::Shape{1});
    CHECK(are_close(logarithms.reals(), {1000.0F + std::log(2.0F)}));
}

TEST_CASE("Quantized means are those of TFLite", "[compiler][operators]") {
    // Real numbers 1, 2, 3, 7: mean 3.25, sum 13.
    const Tensor x = quantized({1, 2, 2, 1}, 0.5, -10, {-8, -6, -4, 4});
    const FileNode mean = tflite("MEAN", {}, {int8_type(0.25, 3)});
    CHECK(compute(mean, {x, list({1, 2})}).numbers<std::int8_t>() == Signed{16});
    const FileNode sum = tflite("SUM", {}, {int8_type(0.125, 3)});
    CHECK(compute(sum, {x, list({1, 2})}).numbers<std::int8_t>() == Signed{107});
    const FileNode narrow_sum = tflite("SUM", {}, {int8_type(0.0625, 3)});
    CHECK(compute(narrow_sum, {x, list({1, 2})}).numbers<std::int8_t>() == Signed{127});
    const FileNode largest = tflite("REDUCE_MAX", {}, {int8_type(0.5, -10)});
    CHECK(compute(largest, {x, list({1, 2, 3})}).numbers<std::int8_t>() == Signed{4});
    const FileNode product = tflite("REDUCE_PROD", {}, {int8_type(0.5, -10)});
    const ir::Graph graph = read_node(product, {x, list({1})});
    CHECK_THAT(ir::find_fault(graph).value(),
               Catch::Contains("reduce_product of int8 with these scales is not supported"));
}

TEST_CASE("The index of an extreme element is that of the first or the last of equals",
          "[compiler][operators]") {
    const Tensor x = reals({2, 3}, {1, 5, 5, 7, 0, 7});
    CHECK(compute(onnx("ArgMax", {{"axis", 1}}), {x}) == integers({2, 1}, {1, 0}));
    CHECK(compute(onnx("ArgMax", {{"axis", -1}, {"keepdims", 0}, {"select_last_index", 1}}), {x}) ==
          integers({2}, {2, 2}));
    CHECK(compute(onnx("ArgMin", {{"keepdims", 0}}), {x}) == integers({3}, {0, 1, 0}));
    CHECK(compute(tflite("ARG_MAX", {}, {{DataType::Int32, {}}}),
                  {quantized({1, 3}, 0.5, 0, {-3, 9, 2}), list({1})}) == integers({1}, {1}));
}

TEST_CASE("Softmax and its logarithm are along any axis", "[compiler][operators]") {
    const float log2 = std::log(2.0F);
    const float log3 = std::log(3.0F);
    const Tensor x = reals({2, 2}, {0, 0, log3, log2});
    CHECK(
        are_close(compute(onnx("Softmax", {{"axis", 0}}), {x}).reals(), {0.25F, 1.0F / 3, 0.75F, 2.0F / 3}));
    CHECK(are_close(compute(onnx("Softmax"), {x}).reals(), {0.5F, 0.5F, 0.6F, 0.4F}));
    CHECK(are_close(compute(onnx("LogSoftmax", {{"axis", 1}}), {x}).reals(),
                    {-log2, -log2, std::log(0.6F), std::log(0.4F)}));
    CHECK(are_close(compute(keras("Softmax", {{"axis", 1}}), {reals({1, 2, 1}, {0, log3})}).reals(),
                    {0.25F, 0.75F}));
    CHECK(compute(onnx("LogSoftmax"), {reals({1, 2}, {1000, 0})}).reals() == Floats{0, -1000});
    // Before operator set 13, all axes from the given one on are one line.
    const Tensor cube = reals({1, 2, 2}, {0, 0, 0, log3});
    const nlohmann::json old{{"axis", 1}, {"opset", 12}};
    const Tensor result = compute(onnx("Softmax", old), {cube});
    CHECK(result.shape == cube.shape);
    CHECK(are_close(result.reals(), {1.0F / 6, 1.0F / 6, 1.0F / 6, 0.5F}));
}

TEST_CASE("Elements along axes get mean 0 and deviation 1", "[compiler][operators]") {
    const float a = std::sqrt(1.5F);
    CHECK(are_close(
        compute(onnx("MeanVarianceNormalization", {{"axes", {1}}}), {reals({2, 3}, {1, 2, 3, 14, 12, 10})})
            .reals(),
        {-a, 0, a, a, 0, -a}));
    CHECK(are_close(
        compute(onnx("MeanVarianceNormalization", {{"axes", {0, -1}}}), {reals({2, 2, 1}, {3, 10, 5, 30})})
            .reals(),
        {-1, -1, 1, 1}));
    // By default batch, height and width; equal elements become 0.
    CHECK(are_close(
        compute(onnx("MeanVarianceNormalization"), {reals({2, 2, 1, 2}, {1, 1, 7, 7, 3, 3, 7, 7})}).reals(),
        {-1, -1, 0, 0, 1, 1, 0, 0}));
    CHECK_THROWS_WITH(read_node(onnx("MeanVarianceNormalization"), {reals({2, 2}, {1, 2, 3, 4})}),
                      Catch::Contains("its axis is 2"));
}

TEST_CASE("Instances are normalized by channel, wherever the channels are", "[compiler][operators]") {
    const Tensor x = reals({2, 2, 2}, {1, 3, 10, 20, 0, 0, 5, 5});
    const Tensor scale = constant(reals({2}, {1, 2}));
    const Tensor offset = constant(reals({2}, {0, 7}));
    const Tensor result = compute(onnx("InstanceNormalization", {{"epsilon", 0.0}}),
                                  {reals({1, 2, 2}, {1, 3, 10, 20}), scale, offset});
    CHECK(are_close(result.reals(), {-1, 1, 5, 9}));
    const Tensor flat = compute(onnx("InstanceNormalization"), {x, scale, offset});
    const Floats all = flat.reals();
    const Floats last(all.begin() + 4, all.end());
    CHECK(are_close(last, {0, 0, 7, 7}));
}

TEST_CASE("Responses are divided by those of neighbouring channels", "[compiler][operators]") {
    const Tensor x = reals({1, 3, 1}, {1, 2, 3});
    // Size 2: the channel itself and the one behind.
    const nlohmann::json keys{{"size", 2}, {"alpha", 2.0}, {"beta", 1.0}, {"bias", 1.0}};
    CHECK(are_close(compute(onnx("LRN", keys), {x}).reals(), {1.0F / 6, 2.0F / 14, 3.0F / 10}));
    const nlohmann::json radius{{"radius", 1}, {"alpha", 1.0}, {"beta", 0.5}, {"bias", 2.0}};
    CHECK(are_close(
        compute(tflite("LOCAL_RESPONSE_NORMALIZATION", radius), {reals({1, 1, 1, 3}, {1, 2, 3})}).reals(),
        {1 / std::sqrt(3.0F), 2 / std::sqrt(7.0F), 3 / std::sqrt(15.0F)}));
}

TEST_CASE("Lines are divided by their norm", "[compiler][operators]") {
    const Tensor x = reals({1, 2, 2}, {3, 0, 4, 0});
    CHECK(are_close(compute(tflite("L2_NORMALIZATION"), {reals({1, 2}, {3, 4})}).reals(), {0.6F, 0.8F}));
    CHECK(are_close(compute(onnx("LpNormalization", {{"axis", 1}, {"p", 1}}), {x}).reals(),
                    {3.0F / 7, 0, 4.0F / 7, 0}));
}

TEST_CASE("onnxruntime's average over all pixels has the channels second, unless it says last",
          "[compiler][operators]") {
    const Tensor image = tensor_of<std::uint8_t>({1, 2, 1, 3}, DataType::Uint8, {1, 2, 3, 11, 12, 13});
    const Tensor scale = constant(reals({}, {1.0F}));
    const Tensor zero = constant(tensor_of<std::uint8_t>({}, DataType::Uint8, {0}));
    const auto average = [&](const nlohmann::json& keys) {
        return compute(onnx("com.microsoft.QLinearGlobalAveragePool", keys),
                       {image, scale, zero, scale, zero});
    };
    const Tensor by_channel = tensor_of<std::uint8_t>({1, 2, 1, 1}, DataType::Uint8, {2, 12});
    CHECK(average({}) == by_channel);
    CHECK(average({{"channels_last", 0}}) == by_channel);
    CHECK(average({{"channels_last", 1}}) ==
          tensor_of<std::uint8_t>({1, 1, 1, 3}, DataType::Uint8, {6, 7, 8}));
}
