#include <catch2/catch.hpp>

#include "compiler/ir/model_error.h"
#include "tests/support/file_nodes.h"

using namespace systole;
using namespace systole::tests::nodes;

namespace {

using Floats = std::vector<float>;

}  // namespace

TEST_CASE("Concatenation is along any axis, of any type, with constants", "[compiler][operators]") {
    const Tensor a = integers({1, 2, 2}, {1, 2, 3, 4});
    const Tensor b = integers({1, 1, 2}, {5, 6});
    const Tensor along = compute(onnx("Concat", {{"axis", 1}}), {a, constant(b)});
    CHECK(along == integers({1, 3, 2}, {1, 2, 3, 4, 5, 6}));
    CHECK(compute(onnx("Concat", {{"axis", -2}}), {constant(b), a}) ==
          integers({1, 3, 2}, {5, 6, 1, 2, 3, 4}));
    const Tensor behind = compute(onnx("Concat", {{"axis", 2}}), {a, integers({1, 2, 1}, {7, 8})});
    CHECK(behind == integers({1, 2, 3}, {1, 2, 7, 3, 4, 8}));
    CHECK_THROWS_WITH(read_node(onnx("Concat", {{"axis", 1}}), {a, integers({1, 1, 3}, {1, 2, 3})}),
                      Catch::Contains("it concatenates 1x2x2 and 1x1x3 along axis 1"));
    CHECK(compute(tflite("PACK", {{"axis", 1}, {"values_count", 2}}, {{DataType::Int32, {}}}),
                  {integers({2}, {1, 2}), integers({2}, {3, 4})}) == integers({2, 2}, {1, 3, 2, 4}));
}

TEST_CASE("Tensors are concatenated only if all their other axes are the same", "[compiler][operators]") {
    const ir::Shape first{2, 3, 4};
    const auto zeros = [](const ir::Shape& shape) {
        return reals(shape, std::vector<float>(shape.elements(), 0.0F));
    };
    for (std::size_t axis = 0; axis < first.rank(); ++axis) {
        for (std::size_t other = 0; other < first.rank(); ++other) {
            CAPTURE(axis, other);
            std::vector<std::uint32_t> extents(first.extents().begin(), first.extents().end());
            extents[other] += 1;
            const std::vector<Tensor> tensors{zeros(first), zeros(ir::Shape(extents))};
            const FileNode node = onnx("Concat", {{"axis", axis}});
            if (axis == other) {
                CHECK(compute(node, tensors).shape.elements() ==
                      2 * first.elements() + first.elements() / first[axis]);
            } else {
                CHECK_THROWS_WITH(read_node(node, tensors), Catch::Contains("the others must be the same"));
            }
        }
        for (const ir::Shape& shape : {ir::Shape{2, 3}, ir::Shape{2, 3, 4, 1}, ir::Shape{1, 2, 3, 4}}) {
            CHECK_THROWS_WITH(read_node(onnx("Concat", {{"axis", axis}}), {zeros(first), zeros(shape)}),
                              Catch::Contains("the others must be the same"));
        }
    }
}

TEST_CASE("Zeros of a tensor's shape are zeros of its type", "[compiler][operators]") {
    CHECK(compute(tflite("ZEROS_LIKE"), {counted_reals({2, 2}, 1.0F)}) == reals({2, 2}, {0, 0, 0, 0}));
    CHECK(compute(tflite("ZEROS_LIKE", {}, {{DataType::Int32, {}}}), {integers({3}, {4, 5, 6})}) ==
          integers({3}, {0, 0, 0}));
}

TEST_CASE("Scales along an axis of a constant move with the axis", "[compiler][operators]") {
    // Real numbers that were integers, with a scale for each row.
    Tensor weights = constant(counted_reals({2, 3}));
    weights.quantization = ir::Quantization{{0.5, 0.25}, {0, 0}, 0};
    const auto quantization_of = [&](const FileNode& node, const std::vector<Tensor>& inputs) {
        const ir::Graph graph = read_node(node, inputs);
        const ir::Value& value = graph.values[graph.outputs.front()];
        CHECK(value.constant.has_value());
        return value.quantization;
    };
    const auto along = [](std::uint32_t axis) { return ir::Quantization{{0.5, 0.25}, {0, 0}, axis}; };
    CHECK(quantization_of(onnx("Transpose", {{"perm", {1, 0}}}), {weights}) == along(1));
    CHECK(quantization_of(onnx("Reshape"), {weights, list({1, 1, 2, 3})}) == along(2));
    CHECK(quantization_of(onnx("Unsqueeze"), {weights, list({0, 3})}) == along(1));
    CHECK(quantization_of(onnx("Reshape"), {weights, list({3, 2})}) == std::nullopt);
    CHECK(quantization_of(onnx("Slice"), {weights, list({0}), list({1}), list({0})}) == std::nullopt);
}

TEST_CASE("Bytes of another scale are converted where tensors are concatenated", "[compiler][operators]") {
    Tensor a = tensor_of<std::uint8_t>({1, 2}, DataType::Uint8, {10, 255});
    a.quantization = ir::Quantization{{0.5}, {0}, {}};
    Tensor b = tensor_of<std::uint8_t>({1, 2}, DataType::Uint8, {100, 3});
    b.quantization = ir::Quantization{{0.25}, {2}, {}};
    const ir::ResultType type{DataType::Uint8, ir::Quantization{{0.25}, {2}, {}}};
    const Tensor result = compute(tflite("CONCATENATION", {{"axis", -1}}, {type}), {a, b});
    // 10 * 0.5 = 5 = 0.25 * (22 - 2); 127.5 is above the range.
    CHECK(result.bytes == std::vector<std::uint8_t>{22, 255, 100, 3});
    // No other type is converted, neither from nor to, nor to another scale.
    const Tensor bytes = quantized({1, 2}, 0.5, 0, {1, 2});
    const auto fault = [](const Tensor& first, const Tensor& second, const ir::ResultType& to) {
        const auto found =
            ir::find_fault(read_node(tflite("CONCATENATION", {{"axis", -1}}, {to}), {first, second}));
        return found.value_or("none");
    };
    const std::string rule = "its inputs and its result must be of one type, scale and zero point";
    CHECK(fault(a, b, type) == "none");
    CHECK(fault(bytes, bytes, int8_type(0.5, 0)) == "none");
    CHECK_THAT(fault(bytes, bytes, type), Catch::Contains(rule));
    CHECK_THAT(fault(a, bytes, type), Catch::Contains(rule));
    CHECK_THAT(fault(a, b, int8_type(0.5, 0)), Catch::Contains(rule));
    CHECK_THAT(fault(bytes, bytes, int8_type(0.25, 0)), Catch::Contains(rule));
}

TEST_CASE("ONNX's concatenation leaves bytes as they are, and refuses two scales", "[compiler][operators]") {
    const auto bytes = [](std::vector<std::uint8_t> numbers, std::optional<double> scale) {
        Tensor tensor = tensor_of<std::uint8_t>({1, 2}, DataType::Uint8, numbers);
        if (scale) tensor.quantization = ir::Quantization{{*scale}, {0}, {}};
        return tensor;
    };
    const FileNode node = onnx("Concat", {{"axis", 1}});
    const std::vector<std::uint8_t> joined{2, 4, 4, 8};
    const Tensor first = bytes({2, 4}, 0.5);
    const std::vector<Tensor> others{bytes({4, 8}, 0.5), bytes({4, 8}, {}), constant(bytes({4, 8}, {})),
                                     constant(bytes({4, 8}, 0.25))};
    for (const Tensor& other : others) {
        const ir::Graph graph = read_node(node, {first, other});
        CHECK(ir::find_fault(graph).value_or("none") == "none");
        CHECK(compute(node, {first, other}).bytes == joined);
        CHECK(graph.values[graph.outputs.front()].quantization == first.quantization);
    }
    CHECK_THROWS_WITH(
        read_node(node, {first, bytes({4, 8}, 0.25)}),
        Catch::Contains("with a scale of 0.5 and a zero point of 0; where it is made they are 0.25 and 0"));
}

TEST_CASE("Padding adds numbers or mirrors elements", "[compiler][operators]") {
    const Tensor row = reals({3}, {1, 2, 3});
    const auto padded = [&](const char* mode) {
        return compute(onnx("Pad", {{"mode", mode}}), {row, list({2, 3})}).reals();
    };
    CHECK(padded("constant") == Floats{0, 0, 1, 2, 3, 0, 0, 0});
    CHECK(padded("reflect") == Floats{3, 2, 1, 2, 3, 2, 1, 2});
    CHECK(padded("edge") == Floats{1, 1, 1, 2, 3, 3, 3, 3});
    CHECK(padded("wrap") == Floats{2, 3, 1, 2, 3, 1, 2, 3});
    CHECK(compute(tflite("MIRROR_PAD", {{"mode", "SYMMETRIC"}}), {row, constant(integers({1, 2}, {2, 3}))})
              .reals() == Floats{2, 1, 1, 2, 3, 3, 2, 1});
    const Tensor matrix = reals({2, 2}, {1, 2, 3, 4});
    CHECK(compute(onnx("Pad", {{"pads", {0, 1, 1, 0}}, {"value", 9.0}}), {matrix}) ==
          reals({3, 3}, {9, 1, 2, 9, 3, 4, 9, 9, 9}));
    // Negative numbers cut elements off.
    CHECK(compute(onnx("Pad"), {matrix, list({0, -1, 1, 0})}) == reals({3, 1}, {2, 4, 0}));
    CHECK_THROWS_WITH(read_node(onnx("Pad", {{"mode", "mean"}}), {matrix, list({0, 0, 0, 0})}),
                      Catch::Contains("it must be constant, reflect, edge or wrap"));
}

TEST_CASE("Quantized padding adds the zero point; zeros around images are a zero_padding",
          "[compiler][operators]") {
    const Tensor image = quantized({1, 1, 2, 1}, 0.5, 7, {1, 2});
    const Tensor sides = constant(integers({4, 2}, {0, 0, 0, 1, 1, 0, 0, 0}));
    const FileNode pad = tflite("PAD", {}, {int8_type(0.5, 7)});
    CHECK(compute(pad, {image, sides}).numbers<std::int8_t>() == std::vector<std::int8_t>{7, 1, 2, 7, 7, 7});
    CHECK(read_node(pad, {image, sides}).nodes.at(0).is("zero_padding"));
    const Tensor channels = constant(integers({4, 2}, {0, 0, 0, 0, 0, 0, 1, 0}));
    CHECK(read_node(pad, {image, channels}).nodes.at(0).is("pad"));
    CHECK(compute(pad, {image, channels}).numbers<std::int8_t>() == std::vector<std::int8_t>{7, 1, 7, 2});
}

TEST_CASE("ONNX slices count from the end, limit ends and go backwards", "[compiler][operators]") {
    const Tensor x = counted_reals({2, 5});
    CHECK(compute(onnx("Slice"), {x, list({1}), list({1000}), list({1}), list({2})}) ==
          reals({2, 2}, {1, 3, 6, 8}));
    CHECK(compute(onnx("Slice"), {x, list({-1, 3}), list({-1000, 0}), list({0, 1}), list({-1, -2})}) ==
          reals({2, 2}, {8, 6, 3, 1}));
    CHECK(compute(onnx("Slice", {{"starts", {0, -2}}, {"ends", {1, 2147483647}}}), {x}) ==
          reals({1, 2}, {3, 4}));
    CHECK(compute(onnx("Slice"), {x, list({0}), list({2})}) == x);
    CHECK_THROWS_WITH(read_node(onnx("Slice"), {x, list({2}), list({1})}),
                      Catch::Contains("its result is 0x5; each extent must be at least 1"));
    CHECK_THROWS_WITH(read_node(onnx("Slice"), {x, list({0}), list({1}), list({2})}),
                      Catch::Contains("its axis is 2; it must be from -2 to 1"));
    // A part of a vector is read in place.
    CHECK(read_node(onnx("Slice"), {counted_reals({1, 5}), list({1}), list({3}), list({1})})
              .nodes.at(0)
              .is("slice"));
}

TEST_CASE("TFLite strided slices follow their masks", "[compiler][operators]") {
    const Tensor x = counted_reals({2, 3, 2});
    const auto slice = [&](nlohmann::json masks, const std::vector<std::int32_t>& begin,
                           const std::vector<std::int32_t>& end, const std::vector<std::int32_t>& step) {
        return compute(tflite("STRIDED_SLICE", std::move(masks)), {x, list(begin), list(end), list(step)});
    };
    CHECK(slice({}, {0, 1, 0}, {1, 3, 2}, {1, 1, 1}) == reals({1, 2, 2}, {2, 3, 4, 5}));
    CHECK(slice({{"shrink_axis_mask", 1}}, {-1, 0, 0}, {0, 3, 2}, {1, 2, 1}) ==
          reals({2, 2}, {6, 7, 10, 11}));
    CHECK(slice({{"begin_mask", 1}, {"end_mask", 1}}, {1, 0, 0}, {1, 1, 1}, {-1, 1, 1}) ==
          reals({2, 1, 1}, {6, 0}));
    CHECK(slice({{"ellipsis_mask", 1}, {"shrink_axis_mask", 2}}, {0, 1}, {0, 2}, {1, 1}) ==
          reals({2, 3}, {1, 3, 5, 7, 9, 11}));
    CHECK(slice({{"new_axis_mask", 1}, {"shrink_axis_mask", 6}}, {0, 1, 2}, {0, 2, 3}, {1, 1, 1}) ==
          reals({1, 2}, {10, 11}));
    CHECK(compute(tflite("SLICE"), {x, list({1, 0, 1}), list({1, -1, 1})}) == reals({1, 3, 1}, {7, 9, 11}));
    CHECK_THROWS_WITH(read_node(tflite("SLICE"), {x, list({1, 0, 1}), list({2, -1, 1})}),
                      Catch::Contains("it takes 2 elements of axis 0 from element 1 on; there are 2"));
    CHECK(compute(tflite("REVERSE_V2"), {x, list({1})}) ==
          reals({2, 3, 2}, {4, 5, 2, 3, 0, 1, 10, 11, 8, 9, 6, 7}));
}

TEST_CASE("Splits are equal parts or parts of given sizes", "[compiler][operators]") {
    const Tensor x = counted_reals({2, 4});
    const std::vector<ir::ResultType> two(2);
    const auto halves = compute_all(tflite("SPLIT", {{"num_splits", 2}}, two), {list({1}), x});
    REQUIRE(halves.size() == 2);
    CHECK(halves[0] == reals({2, 2}, {0, 1, 4, 5}));
    CHECK(halves[1] == reals({2, 2}, {2, 3, 6, 7}));
    const auto parts =
        compute_all(tflite("SPLIT_V", {{"num_splits", 2}}, two), {x, list({-1, 1}), list({1})});
    CHECK(parts.at(0) == reals({2, 3}, {0, 1, 2, 4, 5, 6}));
    CHECK(parts.at(1) == reals({2, 1}, {3, 7}));
    const auto sized = compute_all(onnx("Split", {{"axis", 1}}), {x, list({1, 3})});
    CHECK(sized.at(1) == reals({2, 3}, {1, 2, 3, 5, 6, 7}));
    FileNode uneven = onnx("Split", {{"axis", 1}, {"num_outputs", 3}});
    uneven.declared.resize(3);
    CHECK(compute_all(uneven, {counted_reals({1, 5})}).at(2) == reals({1, 1}, {4}));
    CHECK_THROWS_WITH(read_node(onnx("Split", {{"axis", 1}}), {x, list({1, 2})}),
                      Catch::Contains("the parts of its split are 3 together; axis 1 has 4"));
    const auto rows = compute_all(tflite("UNPACK", {{"axis", 0}, {"num", 2}}, two), {x});
    CHECK(rows.at(1) == reals({4}, {4, 5, 6, 7}));
}

TEST_CASE("Gather takes slices at indices, negative ones from the end", "[compiler][operators]") {
    const Tensor x = counted_reals({2, 3});
    CHECK(compute(onnx("Gather", {{"axis", 1}}), {x, list({2, 0, -1})}) == reals({2, 3}, {2, 0, 2, 5, 3, 5}));
    CHECK(compute(onnx("Gather"), {x, constant(integers({}, {1}))}) == reals({3}, {3, 4, 5}));
    CHECK(compute(tflite("GATHER", {{"axis", 0}}), {x, integers({2}, {1, 0})}) ==
          reals({2, 3}, {3, 4, 5, 0, 1, 2}));
    const char* const message = "layer \"node\": an index along axis 0 of 2x3 is 2; it must be from -2 to 1";
    CHECK_THROWS_WITH(read_node(onnx("Gather"), {x, list({2})}), message);
    const Tensor beyond = integers({1}, {2});
    const ir::Graph graph = read_node(onnx("Gather"), {x, beyond});
    CHECK_THROWS_WITH(results_of(graph, {x.bytes, beyond.bytes}, 1), message);
}

TEST_CASE("Reshapes infer one extent and copy others", "[compiler][operators]") {
    const Tensor x = counted_reals({2, 3, 4});
    const auto shape = [&](const FileNode& node, std::vector<Tensor> others) {
        others.insert(others.begin(), x);
        const Tensor result = compute(node, others);
        CHECK(result.bytes == x.bytes);
        return result.shape;
    };
    CHECK(shape(onnx("Reshape"), {list({0, -1})}) == ir::Shape{2, 12});
    CHECK(shape(onnx("Reshape", {{"shape", {4, 0, -1}}}), {}) == ir::Shape{4, 3, 2});
    CHECK(shape(onnx("Flatten", {{"axis", 2}}), {}) == ir::Shape{6, 4});
    CHECK(shape(onnx("Flatten", {{"axis", 0}}), {}) == ir::Shape{1, 24});
    CHECK(shape(onnx("Unsqueeze"), {list({0, -1})}) == ir::Shape{1, 2, 3, 4, 1});
    CHECK(shape(tflite("EXPAND_DIMS"), {list({-2})}) == ir::Shape{2, 3, 1, 4});
    CHECK(shape(tflite("RESHAPE", {{"new_shape", {-1, 8}}}), {}) == ir::Shape{3, 8});
    CHECK(compute(onnx("Squeeze"), {counted_reals({1, 2, 1})}).shape == ir::Shape{2});
    CHECK(compute(onnx("Squeeze", {{"axes", {-1}}}), {counted_reals({1, 2, 1})}).shape == ir::Shape{1, 2});
    CHECK(compute(tflite("SQUEEZE", {{"squeeze_dims", {0}}}), {counted_reals({1, 2, 1})}).shape ==
          ir::Shape{2, 1});
    CHECK_THROWS_WITH(read_node(onnx("Squeeze"), {x, list({0})}),
                      Catch::Contains("it removes axis 0 of 2x3x4; its extent must be 1"));
    CHECK_THROWS_WITH(read_node(onnx("Reshape"), {x, list({5, -1})}),
                      Catch::Contains("the number of elements must stay the same"));
    CHECK_THROWS_AS(read_node(onnx("Reshape"), {x, list({-1, -1})}), ModelError);
}

TEST_CASE("Elements are repeated along axes, or as a whole", "[compiler][operators]") {
    const Tensor x = reals({2, 1}, {1, 2});
    CHECK(compute(onnx("Expand"), {x, list({1, 3})}) == reals({2, 3}, {1, 1, 1, 2, 2, 2}));
    CHECK(compute(tflite("BROADCAST_TO"), {x, list({2, 2, 2})}) ==
          reals({2, 2, 2}, {1, 1, 2, 2, 1, 1, 2, 2}));
    CHECK(compute(onnx("Tile"), {reals({2, 2}, {1, 2, 3, 4}), list({2, 2})}) ==
          reals({4, 4}, {1, 2, 1, 2, 3, 4, 3, 4, 1, 2, 1, 2, 3, 4, 3, 4}));
    CHECK(compute(keras("RepeatVector", {{"n", 2U}}), {reals({1, 2}, {1, 2})}) ==
          reals({1, 2, 2}, {1, 2, 1, 2}));
    CHECK_THROWS_WITH(read_node(tflite("BROADCAST_TO"), {x, list({3, 2})}),
                      Catch::Contains("it repeats 2x1 to 3x2"));
}

TEST_CASE("Blocks of pixels become channels and back", "[compiler][operators]") {
    // Channels 0 to 3 of one pixel in ONNX' order.
    const Tensor channels = counted_reals({1, 8, 1, 1});
    CHECK(compute(onnx("DepthToSpace", {{"blocksize", 2}}), {channels}) ==
          reals({1, 2, 2, 2}, {0, 2, 4, 6, 1, 3, 5, 7}));
    CHECK(compute(onnx("DepthToSpace", {{"blocksize", 2}, {"mode", "CRD"}}), {channels}) ==
          reals({1, 2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7}));
    const Tensor image = counted_reals({1, 2, 4, 1});
    const Tensor blocks = compute(tflite("SPACE_TO_DEPTH", {{"block_size", 2}}), {image});
    CHECK(blocks == reals({1, 1, 2, 4}, {0, 1, 4, 5, 2, 3, 6, 7}));
    CHECK(compute(tflite("DEPTH_TO_SPACE", {{"block_size", 2}}), {blocks}) == image);
    CHECK(compute(onnx("SpaceToDepth", {{"blocksize", 2}}), {counted_reals({1, 1, 2, 4})}) ==
          reals({1, 4, 1, 2}, {0, 2, 1, 3, 4, 6, 5, 7}));
    CHECK_THROWS_WITH(read_node(tflite("SPACE_TO_DEPTH", {{"block_size", 3}}), {image}),
                      Catch::Contains("it takes blocks of 3x3 pixels from 2x4"));
}

TEST_CASE("Transpositions of each format", "[compiler][operators]") {
    const Tensor x = counted_reals({1, 2, 3});
    CHECK(compute(onnx("Transpose"), {x}) == reals({3, 2, 1}, {0, 3, 1, 4, 2, 5}));
    CHECK(compute(onnx("Transpose", {{"perm", {0, 2, 1}}}), {x}) == reals({1, 3, 2}, {0, 3, 1, 4, 2, 5}));
    CHECK(compute(tflite("TRANSPOSE"), {x, list({2, 0, 1})}) == reals({3, 1, 2}, {0, 3, 1, 4, 2, 5}));
}

TEST_CASE("Cropping cuts elements off", "[compiler][operators]") {
    const Tensor image = counted_reals({1, 3, 4, 1});
    CHECK(compute(keras("Cropping2D", {{"cropping", {{1, 0}, {1, 2}}}}), {image}) ==
          reals({1, 2, 1, 1}, {5, 9}));
    CHECK(compute(keras("Cropping1D", {{"cropping", {1, 1}}}), {counted_reals({1, 4, 1})}) ==
          reals({1, 2, 1}, {1, 2}));
    CHECK_THROWS_AS(read_node(keras("Cropping2D", {{"cropping", 2}}), {image}), ModelError);
}

TEST_CASE("Shapes and ranges are constants", "[compiler][operators]") {
    const Tensor x = counted_reals({2, 3, 4});
    CHECK(compute(onnx("Shape"), {x}) == integers({3}, {2, 3, 4}));
    CHECK(compute(onnx("Shape", {{"start", -2}, {"end", -1}}), {x}) == integers({1}, {3}));
    CHECK(compute(onnx("Size"), {x}) == integers({}, {24}));
    CHECK(compute(tflite("RANK"), {x}) == integers({}, {3}));
    CHECK(compute(onnx("ConstantOfShape", {{"value", {7}}, {"value_type", "int32"}}), {list({2, 1})}) ==
          integers({2, 1}, {7, 7}));
    CHECK(compute(onnx("ConstantOfShape", {{"value", {1}}, {"value_type", "uint8"}}), {list({2})}) ==
          tensor_of<std::uint8_t>({2}, DataType::Uint8, {1, 1}));
    CHECK(compute(onnx("ConstantOfShape", {{"value", {1.5}}, {"value_type", "float32"}}), {list({1})}) ==
          reals({1}, {1.5F}));
    CHECK(compute(onnx("ConstantOfShape"), {list({2})}) == reals({2}, {0, 0}));
    CHECK(compute(tflite("FILL"), {list({2}), constant(reals({}, {1.5F}))}) == reals({2}, {1.5F, 1.5F}));
    CHECK(compute(onnx("Range"), {constant(integers({}, {5})), constant(integers({}, {0})),
                                  constant(integers({}, {-2}))}) == integers({3}, {5, 3, 1}));
    CHECK_THROWS_WITH(read_node(onnx("ConstantOfShape"), {integers({1}, {2})}),
                      Catch::Contains("its input 0 is computed by the network; it must be a constant"));
    CHECK_THROWS_WITH(read_node(onnx("ConstantOfShape"), {list({100000, 100000})}),
                      Catch::Contains("such a constant has at most 67108864 elements"));
}

TEST_CASE("Casts cut fractions off and limit numbers", "[compiler][operators]") {
    const Tensor x = reals({1, 4}, {-1.75F, 0.0F, 300.5F, 2.0F});
    CHECK(compute(onnx("Cast", {{"to", 7}}), {x}) == integers({1, 4}, {-1, 0, 300, 2}));
    CHECK(compute(onnx("Cast", {{"to", 2}}), {x}).bytes == std::vector<std::uint8_t>{0, 0, 255, 2});
    CHECK(compute(onnx("Cast", {{"to", 9}}), {x}).bytes == std::vector<std::uint8_t>{1, 0, 1, 1});
    CHECK(compute(onnx("Cast", {{"to", 1}}), {integers({2}, {-3, 4})}) == reals({2}, {-3, 4}));
    CHECK(compute(onnx("Cast", {{"to", 1}}), {x}) == x);
    CHECK_THROWS_AS(read_node(onnx("Cast", {{"to", 8}}), {x}), ModelError);
}

TEST_CASE("Where chooses between two tensors", "[compiler][operators]") {
    const Tensor condition = tensor_of<std::uint8_t>({2, 1}, DataType::Uint8, {1, 0});
    CHECK(compute(onnx("Where"), {condition, reals({1, 2}, {1, 2}), constant(reals({}, {9}))}) ==
          reals({2, 2}, {1, 2, 9, 9}));
    const Tensor rows = tensor_of<std::uint8_t>({2}, DataType::Uint8, {0, 1});
    CHECK(compute(tflite("SELECT"), {rows, reals({2, 2}, {1, 2, 3, 4}), reals({2, 2}, {5, 6, 7, 8})}) ==
          reals({2, 2}, {5, 6, 3, 4}));
}

TEST_CASE("Masks, counts and empty tensors that make no sense are refused", "[compiler][operators]") {
    const Tensor x = counted_reals({2, 3});
    const auto slice = [&](nlohmann::json masks, std::size_t entries) {
        const std::vector<std::int32_t> ones(entries, 1);
        return read_node(tflite("STRIDED_SLICE", std::move(masks)), {x, list(ones), list(ones), list(ones)});
    };
    CHECK_THROWS_WITH(slice({{"ellipsis_mask", 3}}, 2), Catch::Contains("it must have at most one bit"));
    CHECK_THROWS_WITH(slice({}, 3), Catch::Contains("its begin has more numbers than its input has axes"));
    CHECK_THROWS_WITH(slice({}, 13), Catch::Contains("its begin has 13 numbers; it may have 12"));
    CHECK_THROWS_WITH(read_node(tflite("UNPACK", {{"axis", 1}}), {x}),
                      Catch::Contains("it has 1 results; axis 1 of its input has 3 elements"));
    const Tensor empty = constant(reals({0}, {}));
    CHECK_THROWS_WITH(read_node(onnx("Pad", {{"mode", "wrap"}}), {empty, list({1, 1})}),
                      Catch::Contains("there are none"));
    CHECK(compute(onnx("Pad"), {empty, list({1, 1})}) == reals({2}, {0, 0}));
    CHECK_THROWS_AS(read_node(onnx("Softmax"), {empty}), ModelError);
    CHECK_THROWS_AS(read_node(onnx("Resize"), {empty, absent(), absent(), list({4})}), ModelError);
    CHECK_THROWS_AS(read_node(tflite("MEAN", {}, {int8_type(1.0, 0)}), {x, list({7})}), ModelError);
    // Shape arithmetic may join parts of which some are empty.
    CHECK(compute(onnx("Concat", {{"axis", 0}}), {list({}), list({4, 5})}) == integers({2}, {4, 5}));
}

TEST_CASE("Functions of constants are folded", "[compiler][operators]") {
    const ir::Graph graph = read_node(onnx("Sqrt"), {constant(reals({2}, {4, 9}))});
    CHECK(graph.nodes.empty());
    CHECK(compute(onnx("Sqrt"), {constant(reals({2}, {4, 9}))}) == reals({2}, {2, 3}));
    CHECK(compute(onnx("Softmax"), {constant(reals({2}, {1, 1}))}) == reals({2}, {0.5F, 0.5F}));
}
