#include <catch2/catch.hpp>
#include <cmath>

#include "compiler/ir/model_error.h"
#include "tests/support/file_nodes.h"

using namespace systole;
using namespace systole::tests::nodes;

namespace {

using Floats = std::vector<float>;
using Bytes = std::vector<std::uint8_t>;
using Signed = std::vector<std::int8_t>;

}  // namespace

TEST_CASE("Functions of two tensors broadcast by NumPy's rule", "[compiler][operators]") {
    const Tensor x = counted_reals({2, 3}, 1.0F);
    CHECK(compute(onnx("Add"), {x, constant(reals({3}, {10, 20, 30}))}) ==
          reals({2, 3}, {11, 22, 33, 14, 25, 36}));
    CHECK(compute(onnx("Sub"), {reals({2, 1}, {1, 2}), reals({1, 3}, {1, 2, 3})}) ==
          reals({2, 3}, {0, -1, -2, 1, 0, -1}));
    CHECK(compute(onnx("Mul"), {constant(reals({}, {2})), x}) == reals({2, 3}, {2, 4, 6, 8, 10, 12}));
    CHECK(compute(onnx("Div"), {x, reals({2, 1}, {2, 4})}) == reals({2, 3}, {0.5F, 1, 1.5F, 1, 1.25F, 1.5F}));
    CHECK(compute(onnx("Pow"), {x, constant(integers({}, {2}))}) == reals({2, 3}, {1, 4, 9, 16, 25, 36}));
    const Tensor image = counted_reals({1, 2, 1, 2});
    CHECK(compute(onnx("Add"), {image, constant(reals({2, 1, 1}, {10, 20}))}) ==
          reals({1, 2, 1, 2}, {10, 11, 22, 23}));
    CHECK_THROWS_WITH(
        read_node(onnx("Add"), {x, reals({2}, {1, 2})}),
        Catch::Contains("it adds 2x3 and 1x1x2; each axis, counted from the last, must be the same or 1"));
}

TEST_CASE("Functions of two integers wrap around and divide as the files' runtimes do",
          "[compiler][operators]") {
    constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
    const auto of = [](const FileNode& node, std::int32_t a, std::int32_t b) {
        return compute(node, {integers({1}, {a}), integers({1}, {b})}).integers().front();
    };
    const auto tflite_of = [](const char* name) { return tflite(name, {}, {{DataType::Int32, {}}}); };
    CHECK(of(onnx("Add"), most, 1) == -most - 1);
    CHECK(of(onnx("Sub"), -2, most) == most);
    CHECK(of(onnx("Mul"), 65536, 65536) == 0);
    CHECK(of(onnx("Div"), -7, 2) == -3);
    CHECK(of(onnx("Div"), -most - 1, -1) == -most - 1);
    CHECK(of(tflite_of("FLOOR_DIV"), -7, 2) == -4);
    CHECK(of(tflite_of("FLOOR_DIV"), 6, -2) == -3);
    CHECK(of(onnx("Mod"), -7, 3) == 2);
    CHECK(of(onnx("Mod"), 7, -3) == -2);
    CHECK(of(onnx("Mod", {{"fmod", 1}}), -7, 3) == -1);
    CHECK(of(onnx("Pow"), -3, 3) == -27);
    CHECK(of(onnx("Pow"), 2, -1) == 0);
    CHECK_THROWS_WITH(of(onnx("Div"), 1, 0), "layer \"node\": it divides an integer by 0");
    CHECK_THROWS_WITH(compute(onnx("Div"), {list({1}), list({0})}),
                      Catch::Contains("layer \"node\": it divides an integer by 0"));
    const ir::Graph mixed = read_node(onnx("Sub"), {integers({1}, {1}), reals({1}, {1})});
    CHECK_THAT(ir::find_fault(mixed).value(), Catch::Contains("it combines int32 and float32"));
    CHECK(compute(onnx("Mod", {{"fmod", 1}}), {reals({2}, {-5.5F, 5.5F}), reals({2}, {2, -2})}).reals() ==
          Floats{-1.5F, 1.5F});
    CHECK(compute(tflite("FLOOR_MOD"), {reals({2}, {-5.5F, 5.5F}), reals({2}, {2, -2})}).reals() ==
          Floats{0.5F, -0.5F});
}

TEST_CASE("Chains of any number of inputs", "[compiler][operators]") {
    const Tensor a = reals({1, 3}, {1, 5, 2});
    const Tensor b = reals({1, 3}, {4, 0, 2});
    const Tensor c = reals({1, 3}, {-2, 7, 3});
    CHECK(compute(onnx("Max"), {a, b, c}).reals() == Floats{4, 7, 3});
    CHECK(compute(onnx("Min"), {a, b, c}).reals() == Floats{-2, 0, 2});
    CHECK(compute(onnx("Sum"), {a, b, c}).reals() == Floats{3, 12, 7});
    CHECK(compute(onnx("Sum"), {a}).reals() == a.reals());
    CHECK(compute(onnx("Mean"), {a, b}).reals() == Floats{2.5F, 2.5F, 2});
    CHECK(compute(keras("Average"), {a, b}).reals() == Floats{2.5F, 2.5F, 2});
    CHECK(compute(keras("Maximum"), {a, c}).reals() == Floats{1, 7, 3});
    CHECK(compute(keras("Multiply"), {a, b, c}).reals() == Floats{-8, 0, 12});
    CHECK(compute(keras("Subtract"), {a, b}).reals() == Floats{-3, 5, 0});
    CHECK_THROWS_WITH(read_node(keras("Subtract"), {a}),
                      Catch::Contains("it has 1 input; it must have at least 2"));
}

TEST_CASE("Comparisons make truth values", "[compiler][operators]") {
    const Tensor a = reals({4}, {1, 2, 3, NAN});
    const Tensor b = constant(reals({}, {2}));
    const auto of = [&](const FileNode& node) { return compute(node, {a, b}).bytes; };
    const auto truth = [](const char* name) { return tflite(name, {}, {{DataType::Uint8, {}}}); };
    CHECK(of(onnx("Equal")) == Bytes{0, 1, 0, 0});
    CHECK(of(truth("NOT_EQUAL")) == Bytes{1, 0, 1, 1});
    CHECK(of(onnx("Less")) == Bytes{1, 0, 0, 0});
    CHECK(of(onnx("LessOrEqual")) == Bytes{1, 1, 0, 0});
    CHECK(of(onnx("Greater")) == Bytes{0, 0, 1, 0});
    CHECK(of(onnx("GreaterOrEqual")) == Bytes{0, 1, 1, 0});
    const Tensor p = tensor_of<std::uint8_t>({4}, DataType::Uint8, {0, 0, 1, 1});
    const Tensor q = tensor_of<std::uint8_t>({4}, DataType::Uint8, {0, 1, 0, 1});
    CHECK(compute(onnx("And"), {p, q}).bytes == Bytes{0, 0, 0, 1});
    CHECK(compute(onnx("Or"), {p, q}).bytes == Bytes{0, 1, 1, 1});
    CHECK(compute(onnx("Xor"), {p, q}).bytes == Bytes{0, 1, 1, 0});
    CHECK(compute(onnx("Not"), {p}).bytes == Bytes{1, 1, 0, 0});
    // 4 quanta of 0.5 are 2 quanta of 1.
    CHECK(compute(truth("LESS_EQUAL"), {quantized({3}, 0.5, 0, {3, 4, 5}), quantized({3}, 1.0, 1, {3, 3, 3})})
              .bytes == Bytes{1, 1, 0});
}

TEST_CASE("Quantized differences are those of TFLite", "[compiler][operators]") {
    const Tensor a = quantized({1, 4}, 0.5, 10, {12, -128, 127, 10});
    const Tensor b = quantized({1, 4}, 0.25, -3, {1, 127, -128, -2});
    // (12 - 10) / 2 - (1 + 3) / 4 = 0; the others are out of range, but for -0.25.
    const FileNode subtract = tflite("SUB", {}, {int8_type(0.25, 5)});
    CHECK(compute(subtract, {a, b}).numbers<std::int8_t>() == Signed{5, -128, 127, 4});
    const FileNode clamped = tflite("SUB", {{"fused_activation_function", "RELU6"}}, {int8_type(0.25, 5)});
    CHECK(compute(clamped, {a, b}).numbers<std::int8_t>() == Signed{5, 5, 29, 5});
    const FileNode square = tflite("SQUARED_DIFFERENCE", {}, {int8_type(1.0, -128)});
    const Tensor c = quantized({1, 2}, 0.5, 0, {8, 10});
    const Tensor d = quantized({1, 2}, 0.25, 0, {4, 44});
    CHECK(compute(square, {c, d}).numbers<std::int8_t>() == Signed{-119, -92});  // 3 * 3 and 6 * 6
    const FileNode maximum = tflite("MAXIMUM", {}, {int8_type(0.5, 10)});
    CHECK(compute(maximum, {a, constant(quantized({}, 0.5, 10, {11}))}).numbers<std::int8_t>() ==
          Signed{12, 11, 127, 11});
    CHECK_THROWS_WITH(read_node(tflite("DIV", {}, {int8_type(1.0, 0)}), {c, d}),
                      Catch::Contains("divide of quantized int8 is not supported"));
}

TEST_CASE("PReLU has slopes of its own, for quantized numbers too", "[compiler][operators]") {
    const Tensor x = reals({1, 2, 2}, {-1, 2, -3, -4});
    CHECK(compute(onnx("PRelu"), {x, constant(reals({2, 1}, {0.5F, 10}))}).reals() ==
          Floats{-0.5F, 2, -30, -40});
    FileNode layer = keras("PReLU", {{"shared_axes", {1}}});
    layer.weights = {0.5F, 2.0F};
    CHECK(compute(layer, {x}).reals() == Floats{-0.5F, 2, -1.5F, -8});
    const Tensor stored = quantized({1, 4}, 0.5, 1, {3, 1, -1, -127});
    const Tensor slope = constant(quantized({1, 1}, 0.125, 0, {2}));
    // 1, 0, -1 * 0.25 and -64 * 0.25 in quanta of 0.25.
    CHECK(compute(tflite("PRELU", {}, {int8_type(0.25, 0)}), {stored, slope}).numbers<std::int8_t>() ==
          Signed{4, 0, -1, -64});
    CHECK_THROWS_WITH(read_node(onnx("PRelu"), {reals({1}, {1}), constant(reals({2}, {1, 2}))}),
                      Catch::Contains("its slopes must fit into the shape of its input"));
}

TEST_CASE("More functions have their textbook values", "[compiler][operators]") {
    struct Point {
        FileNode node;
        float x, y;
    };
    const std::vector<Point> points{
        {onnx("Exp"), 1.0F, 2.7182817F},
        {onnx("Log"), 2.0F, 0.6931472F},
        {onnx("Sqrt"), 2.25F, 1.5F},
        {tflite("RSQRT"), 4.0F, 0.5F},
        {tflite("SQUARE"), -3.0F, 9.0F},
        {onnx("Reciprocal"), -4.0F, -0.25F},
        {onnx("Abs"), -2.5F, 2.5F},
        {onnx("Neg"), 2.5F, -2.5F},
        {onnx("Sign"), -0.1F, -1.0F},
        {onnx("Floor"), -1.5F, -2.0F},
        {onnx("Ceil"), -1.5F, -1.0F},
        {onnx("Round"), 2.5F, 2.0F},
        {onnx("Round"), 3.5F, 4.0F},
        {onnx("Sin"), 1.0F, 0.84147098F},
        {onnx("Cos"), 1.0F, 0.54030231F},
        {onnx("Erf"), 0.5F, 0.52049988F},
        {onnx("Elu"), -1.0F, -0.63212056F},
        {onnx("Elu", {{"alpha", 2.0}}), -1.0F, -1.2642411F},
        {tflite("ELU"), -1.0F, -0.63212056F},
        {onnx("Selu"), -1.0F, -1.1113307F},
        {onnx("Selu", {{"alpha", 2.0}, {"gamma", 3.0}}), 1.0F, 3.0F},
        {onnx("Celu", {{"alpha", 2.0}}), -1.0F, -0.7869387F},
        {onnx("HardSigmoid"), 1.0F, 0.7F},
        {onnx("HardSigmoid", {{"alpha", 0.5}, {"beta", 0.25}}), 1.0F, 0.75F},
        {onnx("HardSigmoid"), 3.0F, 1.0F},
        {onnx("HardSwish"), 1.0F, 0.6666667F},
        {onnx("LeakyRelu"), -2.0F, -0.02F},
        {onnx("ThresholdedRelu"), 0.9F, 0.0F},
        {onnx("ThresholdedRelu"), 1.1F, 1.1F},
        {keras("ThresholdedReLU", {{"theta", 2.0}}), 1.9F, 0.0F},
        {onnx("Softplus"), 1.0F, 1.3132617F},
        {onnx("Softsign"), -3.0F, -0.75F},
        {onnx("Mish"), 1.0F, 0.86509839F},
        {onnx("Gelu"), 1.0F, 0.84134475F},
        {onnx("Gelu", {{"approximate", "tanh"}}), 1.0F, 0.84119199F},
        {tflite("GELU", {{"approximate", true}}), -1.0F, -0.15880801F},
        {onnx("Sigmoid"), 2.0F, 0.88079708F},
        {onnx("Tanh"), 0.5F, 0.46211716F},
        {onnx("Relu"), -1.0F, 0.0F},
        {onnx("Clip", {{"min", -1.5}, {"max", 1.25}}), -3.0F, -1.5F},
        {onnx("Clip", {{"min", -1.5}, {"max", 1.25}}), 3.0F, 1.25F},
    };
    for (const Point& point : points) {
        INFO(point.node.name << " at " << point.x);
        const Floats results = compute(point.node, {reals({1, 2}, {point.x, point.x})}).reals();
        REQUIRE(results.size() == 2);
        for (const float result : results) CHECK(result == Approx(point.y).margin(1e-6));
    }
    CHECK(std::isnan(compute(onnx("Log"), {reals({1}, {-1})}).reals().front()));
}

TEST_CASE("Clamps read their limits from constants or compute with them", "[compiler][operators]") {
    const Tensor x = reals({1, 3}, {-2, 0.5F, 9});
    const Tensor six = constant(reals({}, {6}));
    CHECK(compute(onnx("Clip"), {x, constant(reals({}, {-1})), six}).reals() == Floats{-1, 0.5F, 6});
    CHECK(compute(onnx("Clip"), {x, absent(), six}).reals() == Floats{-2, 0.5F, 6});
    CHECK(compute(onnx("Clip"), {x, reals({}, {0}), six}).reals() == Floats{0, 0.5F, 6});
    CHECK(read_node(onnx("Clip"), {x, constant(reals({}, {0})), six}).nodes.at(0).is("relu"));
    CHECK(compute(onnx("Clip"), {integers({1, 3}, {-2, 5, 9}), constant(integers({}, {0})),
                                 constant(integers({}, {6}))}) == integers({1, 3}, {0, 5, 6}));
}

TEST_CASE("Signs and magnitudes of integers", "[compiler][operators]") {
    const Tensor x = integers({3}, {-4, 0, 5});
    CHECK(compute(onnx("Neg"), {x}) == integers({3}, {4, 0, -5}));
    CHECK(compute(onnx("Abs"), {x}) == integers({3}, {4, 0, 5}));
    CHECK(compute(onnx("Sign"), {x}) == integers({3}, {-1, 0, 1}));
}

TEST_CASE("Weights of bytes are centered where their differences to the zero point are of int8",
          "[compiler][operators]") {
    const Tensor x = tensor_of<std::uint8_t>({1, 2}, DataType::Uint8, {3, 5});
    const Tensor scale = constant(reals({}, {1.0F}));
    const auto byte = [](int number) {
        return constant(tensor_of<std::uint8_t>({}, DataType::Uint8, {static_cast<std::uint8_t>(number)}));
    };
    // The zero point of the weights in the graph.
    const auto zero_point = [&](int zero, int first, int second) {
        const Tensor weights = constant(tensor_of<std::uint8_t>(
            {2, 1}, DataType::Uint8, {static_cast<std::uint8_t>(first), static_cast<std::uint8_t>(second)}));
        const ir::Graph graph =
            read_node(onnx("QLinearMatMul"), {x, scale, byte(0), weights, scale, byte(zero), scale, byte(0)});
        for (const ir::Value& value : graph.values) {
            if (value.type == DataType::Int8 && value.quantization)
                return value.quantization->zero_points.front();
        }
        return -1;
    };
    for (int zero = 0; zero < 256; ++zero) {
        CAPTURE(zero);
        const int lowest = std::max(zero - 128, 0);
        const int highest = std::min(zero + 127, 255);
        CHECK(zero_point(zero, lowest, highest) == 0);
        if (lowest > 0) CHECK(zero_point(zero, lowest - 1, highest) == zero - 128);
        if (highest < 255) CHECK(zero_point(zero, lowest, highest + 1) == zero - 128);
    }
}
