#include "compiler/frontend/tflite.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontend/door/read_network.h"
#include "compiler/ir/model_error.h"
#include "compiler/ir/text.h"
#include "compiler/operators/operator.h"
#include "compiler/reference/executor.h"
#include "tests/support/files.h"
#include "tests/unit/compiler/frontend/tflite_file.h"

using namespace systole;
using tests::TfliteFile;
namespace format = frontend::tflite;
using Op = format::BuiltinOperator;
using Type = format::TensorType;
using Scale = TfliteFile::Scale;
using Bytes = reference::TensorBytes;

namespace {

ir::Graph tflite_graph(const std::vector<std::uint8_t>& file,
                       frontend::TfliteRuntime runtime = frontend::newest_tflite_runtime) {
    return frontend::build_tflite_graph(file, operators::registry(), {.runtime = runtime});
}

std::string tflite_error(const std::vector<std::uint8_t>& file) {
    try {
        tflite_graph(file);
    } catch (const ModelError& error) {
        return error.what();
    }
    return "no error";
}

template <typename Number>
Bytes bytes_of_numbers(const std::vector<Number>& numbers) {
    const auto* const first = reinterpret_cast<const std::uint8_t*>(numbers.data());
    return {first, first + numbers.size() * sizeof(Number)};
}

template <typename To, typename From>
std::vector<To> run_tflite(const ir::Graph& graph, const std::vector<From>& input) {
    const Bytes bytes = bytes_of_numbers(input);
    const std::span<const std::uint8_t> view = bytes;
    const Bytes output = reference::run(graph, {&view, 1}, 1).front();
    std::vector<To> numbers(output.size() / sizeof(To));
    std::memcpy(numbers.data(), output.data(), output.size());
    return numbers;
}

/// A dense layer of two inputs and two units, of any types.
struct DenseFile {
    Type activation = Type::INT8;
    Scale input = {{0.5F}, {1}};
    Scale output = {{0.25F}, {-3}};

    template <typename Weight, typename Bias>
    std::vector<std::uint8_t> with(
        Type weight_type, const std::vector<Weight>& weights, const Scale& scale, Type bias_type,
        const std::vector<Bias>& bias,
        format::ActivationFunctionType function = format::ActivationFunctionType::NONE) {
        TfliteFile file;
        const auto x = file.tensor("x", activation, {1, 2}, input);
        const auto w = file.constant("w", weight_type, {2, 2}, weights, scale);
        const auto b = file.constant("b", bias_type, {2}, bias);
        const auto y = file.tensor("y", activation, {1, 2}, output);
        file.node(Op::FULLY_CONNECTED, {x, w, b}, {y}, format::BuiltinOptions::FullyConnectedOptions,
                  format::CreateFullyConnectedOptions(file.builder(), function));
        return file.finish({x}, {y});
    }
};

/// A node of one input and one result, without options.
std::vector<std::uint8_t> unary_file(Op op, Type from, const Scale& from_scale, Type to,
                                     const Scale& to_scale, std::int32_t elements) {
    TfliteFile file;
    const auto x = file.tensor("x", from, {1, elements}, from_scale);
    const auto y = file.tensor("y", to, {1, elements}, to_scale);
    file.node(op, {x}, {y});
    return file.finish({x}, {y});
}

}  // namespace

TEST_CASE("A TFLite file is recognized by its identifier", "[compiler][frontend][tflite]") {
    const std::vector<std::uint8_t> file = unary_file(Op::TANH, Type::FLOAT32, {}, Type::FLOAT32, {}, 4);
    CHECK(frontend::is_tflite({reinterpret_cast<const char*>(file.data()), 8}));
    CHECK_FALSE(frontend::is_tflite("TFL3"));
    CHECK_FALSE(frontend::is_tflite("xxxxTFL2"));
}

TEST_CASE("A dense layer of int8 gives hand-computed numbers", "[compiler][frontend][tflite]") {
    const ir::Graph graph = tflite_graph(DenseFile{}.with<std::int8_t, std::int32_t>(
        Type::INT8, {2, -3, 4, 5}, {{0.5F}, {0}}, Type::INT32, {10, -20}));
    CHECK(graph.input().type == DataType::Int8);
    CHECK(graph.input().quantization == ir::Quantization{{0.5}, {1}, {}});
    CHECK(graph.output().name == "y");
    // (5 - 1) * 2 + (-7 - 1) * -3 + 10 = 42 and (5 - 1) * 4 + (-7 - 1) * 5 - 20 = -44, times 0.5 * 0.5 /
    // 0.25, less 3.
    CHECK(run_tflite<std::int8_t>(graph, std::vector<std::int8_t>{5, -7}) ==
          std::vector<std::int8_t>{39, -47});
}

TEST_CASE("Weights may have a scale for each output channel", "[compiler][frontend][tflite]") {
    const ir::Graph graph = tflite_graph(DenseFile{}.with<std::int8_t, std::int32_t>(
        Type::INT8, {2, -3, 4, 5}, {{0.5F, 0.25F}, {0, 0}, 0}, Type::INT32, {10, -20}));
    CHECK(run_tflite<std::int8_t>(graph, std::vector<std::int8_t>{5, -7}) ==
          std::vector<std::int8_t>{39, -25});
    const ir::Value& weights = graph.values[graph.nodes.front().inputs[1]];
    CHECK(weights.quantization == ir::Quantization{{0.5, 0.25}, {0, 0}, 1});
}

TEST_CASE("A fused function limits stored numbers", "[compiler][frontend][tflite]") {
    const ir::Graph graph = tflite_graph(
        DenseFile{}.with<std::int8_t, std::int32_t>(Type::INT8, {2, -3, 4, 5}, {{0.5F}, {0}}, Type::INT32,
                                                    {10, -20}, format::ActivationFunctionType::RELU6));
    // 6 is stored as 6 / 0.25 - 3 = 21, and 0 as -3.
    CHECK(run_tflite<std::int8_t>(graph, std::vector<std::int8_t>{5, -7}) ==
          std::vector<std::int8_t>{21, -3});
}

TEST_CASE("uint8 weights have a zero point, which is subtracted", "[compiler][frontend][tflite]") {
    DenseFile layer{.activation = Type::UINT8, .input = {{0.5F}, {100}}, .output = {{0.25F}, {128}}};
    const ir::Graph graph = tflite_graph(layer.with<std::uint8_t, std::int32_t>(
        Type::UINT8, {122, 117, 124, 125}, {{0.5F}, {120}}, Type::INT32, {10, -20}));
    // As with weights of 2, -3, 4, 5 and inputs of 4, -8.
    CHECK(run_tflite<std::uint8_t>(graph, std::vector<std::uint8_t>{104, 92}) ==
          std::vector<std::uint8_t>{170, 84});
    const ir::Graph symmetric = tflite_graph(layer.with<std::uint8_t, std::int32_t>(
        Type::UINT8, {130, 125, 132, 133}, {{0.5F}, {128}}, Type::INT32, {10, -20}));
    CHECK(run_tflite<std::uint8_t>(symmetric, std::vector<std::uint8_t>{104, 92}) ==
          std::vector<std::uint8_t>{170, 84});
}

TEST_CASE("int16 with biases of 64 bits is added in 64 bits and rounded once",
          "[compiler][frontend][tflite]") {
    DenseFile layer{.activation = Type::INT16, .input = {{1.0F}, {0}}, .output = {{8.0F}, {0}}};
    const std::vector<std::int8_t> weights{1, 0, 127, 127};
    const std::vector<std::uint8_t> file =
        layer.with<std::int8_t, std::int64_t>(Type::INT8, weights, {{1.0F}, {0}}, Type::INT64, {0, 0});
    // By the rule of real multipliers, halves are rounded away from zero.
    CHECK(run_tflite<std::int16_t>(tflite_graph(file), std::vector<std::int16_t>{-12, 0}) ==
          std::vector<std::int16_t>{-2, -191});
    const ir::Graph wide = tflite_graph(file, frontend::TfliteRuntime::V2_19);
    // Halves are rounded upwards: -12 / 8 becomes -1, and -20 / 8 becomes -2.
    CHECK(run_tflite<std::int16_t>(wide, std::vector<std::int16_t>{-12, 0}) ==
          std::vector<std::int16_t>{-1, -190});
    CHECK(run_tflite<std::int16_t>(wide, std::vector<std::int16_t>{12, 0}) ==
          std::vector<std::int16_t>{2, 191});
    CHECK(run_tflite<std::int16_t>(wide, std::vector<std::int16_t>{-32768, -32768}) ==
          std::vector<std::int16_t>{-4096, -32768});
    const ir::Graph narrow = tflite_graph(
        layer.with<std::int8_t, std::int32_t>(Type::INT8, weights, {{1.0F}, {0}}, Type::INT32, {0, 0}));
    CHECK(run_tflite<std::int16_t>(narrow, std::vector<std::int16_t>{-12, 0}) ==
          std::vector<std::int16_t>{-2, -191});
}

TEST_CASE("Without a bias of int16, the options say whether the runtime adds in 64 bits",
          "[compiler][frontend][tflite]") {
    using enum frontend::TfliteRuntime;
    using Numbers = std::vector<std::int16_t>;
    const std::vector<std::int8_t> weights{1, 0, 127, 127};
    const Scale one{{1.0F}, {0}};
    const Scale eight{{8.0F}, {0}};
    const auto connected = [&](Type declared, std::optional<Type> bias) {
        TfliteFile file;
        const auto x = file.tensor("x", Type::INT16, {1, 2}, one);
        const auto w = file.constant("w", Type::INT8, {2, 2}, weights, one);
        const auto b = bias == Type::INT64 ? file.constant<std::int64_t>("b", Type::INT64, {2}, {0, 0})
                                           : file.constant<std::int32_t>("b", Type::INT32, {2}, {0, 0});
        const auto y = file.tensor("y", Type::INT16, {1, 2}, eight);
        file.node(Op::FULLY_CONNECTED, {x, w, bias ? b : -1}, {y},
                  format::BuiltinOptions::FullyConnectedOptions,
                  format::CreateFullyConnectedOptions(file.builder(), format::ActivationFunctionType::NONE,
                                                      format::FullyConnectedOptionsWeightsFormat::DEFAULT,
                                                      false, declared));
        return file.finish({x}, {y});
    };
    const auto convolved = [&](Op op, Type declared) {
        TfliteFile file;
        const auto shape = file.constant<std::int32_t>("shape", Type::INT32, {4}, {1, 1, 1, 2});
        const auto x = file.tensor("x", Type::INT16, {1, 1, 1, 2}, one);
        const auto w = file.constant("w", Type::INT8, {2, 1, 1, 2}, weights, one);
        const auto y = file.tensor("y", Type::INT16, {1, 1, 1, 2}, eight);
        if (op == Op::CONV_2D) {
            file.node(op, {x, w}, {y}, format::BuiltinOptions::Conv2DOptions,
                      format::CreateConv2DOptions(file.builder(), format::Padding::VALID, 1, 1,
                                                  format::ActivationFunctionType::NONE, 1, 1, declared));
        } else {
            file.node(op, {shape, w, x}, {y}, format::BuiltinOptions::TransposeConvOptions,
                      format::CreateTransposeConvOptions(file.builder(), format::Padding::VALID, 1, 1,
                                                         format::ActivationFunctionType::NONE, declared));
        }
        return file.finish({x}, {y});
    };
    // -12 / 8 and -1524 / 8 are halves: in 64 bits they are rounded upwards, else away from zero.
    const auto answer = [](const std::vector<std::uint8_t>& file) {
        return run_tflite<std::int16_t>(tflite_graph(file, V2_19), Numbers{-12, 0});
    };
    for (const Type declared : {Type::FLOAT32, Type::INT64, Type::INT32}) {
        CAPTURE(static_cast<int>(declared));
        const Numbers expected = declared == Type::INT32 ? Numbers{-2, -191} : Numbers{-1, -190};
        CHECK(answer(connected(declared, std::nullopt)) == expected);
        CHECK(answer(convolved(Op::CONV_2D, declared)) == expected);
        CHECK(answer(convolved(Op::TRANSPOSE_CONV, declared)) == expected);
    }
    CHECK(answer(connected(Type::INT32, Type::INT32)) == Numbers{-2, -191});
    CHECK(answer(connected(Type::INT64, Type::INT64)) == Numbers{-1, -190});
    CHECK_THAT(tflite_error(connected(Type::INT64, Type::INT32)),
               Catch::Contains("quantized_bias_type is INT64; its bias is INT32, and they must be the same"));
    CHECK_THAT(tflite_error(connected(Type::INT8, std::nullopt)),
               Catch::Contains("quantized_bias_type is INT8; it must be INT32 or INT64"));
}

TEST_CASE("Integers with a scale for each channel keep it only where the channels stay",
          "[compiler][frontend][tflite]") {
    const auto reordered = [](std::size_t axis) {
        TfliteFile file;
        Scale scale{std::vector<float>(axis + 2, 0.5F), std::vector<std::int64_t>(axis + 2, 0),
                    static_cast<std::int32_t>(axis)};
        const auto x = file.tensor("x", Type::INT8, {2, 3}, scale);
        const auto padding = file.constant<std::int32_t>("p", Type::INT32, {2, 2}, {1, 0, 0, 0});
        const auto y = file.tensor("y", Type::INT8, {3, 3}, {{0.5F}, {0}});
        file.node(Op::PAD, {x, padding}, {y});
        return file.finish({x}, {y});
    };
    for (const std::size_t axis : {0U, 1U}) {
        CHECK_THAT(
            tflite_error(reordered(axis)),
            Catch::Contains("its input is int8 with a scale for each index of axis " + std::to_string(axis) +
                            ", which is no axis of the result; it must have one scale"));
    }
}

TEST_CASE("The runtime's rule for fully connected operators is an attribute in the graph's text",
          "[compiler][frontend][tflite]") {
    using enum frontend::TfliteRuntime;
    const auto layer_of = [](Type type, std::int32_t rows) {
        TfliteFile file;
        const bool is_unsigned = type == Type::UINT8;
        const Scale scale{{1.0F}, {is_unsigned ? 128 : 0}};
        const auto x = file.tensor("x", type, {1, rows, 1}, scale);
        const auto w = file.constant<std::uint8_t>("w", is_unsigned ? type : Type::INT8, {2, 1}, {3, 1},
                                                   {{1.0F / 7.0F, 1.0F / 3.0F}, {0, 0}, 0});
        const auto one = file.constant<std::uint8_t>("w", is_unsigned ? type : Type::INT8, {2, 1}, {3, 1},
                                                     {{1.0F / 7.0F}, {0}});
        const auto y = file.tensor("y", type, {1, rows, 2}, scale);
        file.node(
            Op::FULLY_CONNECTED, {x, is_unsigned ? one : w, -1}, {y},
            format::BuiltinOptions::FullyConnectedOptions,
            format::CreateFullyConnectedOptions(file.builder(), format::ActivationFunctionType::NONE,
                                                format::FullyConnectedOptionsWeightsFormat::DEFAULT, true));
        return file.finish({x}, {y});
    };
    for (const Type type : {Type::INT8, Type::UINT8, Type::INT16}) {
        for (const std::int32_t rows : {1, 3}) {
            CAPTURE(static_cast<int>(type), rows);
            const std::vector<std::uint8_t> file = layer_of(type, rows);
            CHECK(ir::to_text(tflite_graph(file, V2_19)).find("real_multiplier") == std::string::npos);
            const ir::Graph graph = tflite_graph(file, V2_21);
            const std::string text = ir::to_text(graph);
            CHECK(text.find("real_multiplier 1") != std::string::npos);
            CHECK(ir::to_text(tflite_graph(file)) == text);
            const ir::Graph parsed = ir::parse_graph(text, "text", operators::registry());
            CHECK(ir::to_text(parsed) == text);
        }
    }
    // 3 / 7 and 1 / 3 become 0 at once; in two steps, they are 2 / 4 and 1 / 2, and then 1.
    const std::vector<std::int8_t> one_step{0, 0};
    const std::vector<std::int8_t> two_steps{1, 1};
    CHECK(run_tflite<std::int8_t>(tflite_graph(layer_of(Type::INT8, 1), V2_21),
                                  std::vector<std::int8_t>{1}) == one_step);
    CHECK(run_tflite<std::int8_t>(tflite_graph(layer_of(Type::INT8, 1), V2_19),
                                  std::vector<std::int8_t>{1}) == two_steps);
}

TEST_CASE("Integers of 64 bits become 32 bits, unless they do not fit", "[compiler][frontend][tflite]") {
    DenseFile layer{.activation = Type::INT16, .input = {{1.0F}, {0}}, .output = {{8.0F}, {0}}};
    CHECK_THAT(tflite_error(layer.with<std::int8_t, std::int64_t>(Type::INT8, {1, 0, 0, 1}, {{1.0F}, {0}},
                                                                  Type::INT64, {0, std::int64_t{1} << 40})),
               Catch::Contains("tensor \"b\": it holds 1099511627776; integers must fit in 32 bits"));
}

TEST_CASE("A network without inputs or without outputs is refused", "[compiler][frontend][tflite]") {
    for (const bool has_input : {true, false}) {
        CAPTURE(has_input);
        TfliteFile file;
        const auto x = file.tensor("x", Type::FLOAT32, {1, 2});
        const auto c = file.constant<float>("c", Type::FLOAT32, {1, 2}, {1.0F, 2.0F});
        const auto bytes = has_input ? file.finish({x}, {}) : file.finish({}, {c});
        const tests::Folder folder;
        const std::string path = folder.file("net.tflite", std::string(bytes.begin(), bytes.end()));
        CHECK_THROWS_WITH(frontend::read_network(path),
                          path + ": the network has no " + (has_input ? "output" : "input"));
    }
}

TEST_CASE("The ends of 64 bits of a slice are as far as there is something", "[compiler][frontend][tflite]") {
    constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();
    constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
    const auto sliced = [](std::int64_t begin, std::int64_t end, std::int64_t step, std::int32_t count) {
        TfliteFile file;
        const auto x = file.tensor("x", Type::FLOAT32, {1, 4});
        const auto numbers = [&](const char* name, std::int64_t first, std::int64_t second) {
            return file.constant<std::int64_t>(name, Type::INT64, {2}, {first, second});
        };
        const auto y = file.tensor("y", Type::FLOAT32, {1, count});
        file.node(Op::STRIDED_SLICE, {x, numbers("b", 0, begin), numbers("e", 1, end), numbers("s", 1, step)},
                  {y}, format::BuiltinOptions::StridedSliceOptions,
                  format::CreateStridedSliceOptions(file.builder()));
        return run_tflite<float, float>(tflite_graph(file.finish({x}, {y})), {1, 2, 3, 4});
    };
    CHECK(sliced(1, highest, 1, 3) == std::vector<float>{2, 3, 4});
    CHECK(sliced(lowest, 2, 1, 2) == std::vector<float>{1, 2});
    CHECK(sliced(highest, 1, -1, 2) == std::vector<float>{4, 3});
    CHECK(sliced(2, lowest, -1, 3) == std::vector<float>{3, 2, 1});
}

TEST_CASE("Halves of every kind become the float32 of the same value", "[compiler][frontend][tflite]") {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const std::vector<std::pair<std::uint16_t, float>> halves{{0x0000, 0.0F},
                                                              {0x3c00, 1.0F},
                                                              {0xc000, -2.0F},
                                                              {0x7bff, 65504.0F},
                                                              {0x3555, 0.333251953125F},
                                                              {0x0400, 0x1p-14F},
                                                              {0x0001, 0x1p-24F},
                                                              {0x7c00, infinity},
                                                              {0xfc00, -infinity}};
    for (const auto& [half, value] : halves) {
        CAPTURE(half);
        TfliteFile file;
        const auto x = file.tensor("x", Type::FLOAT32, {1, 1});
        const auto c = file.constant<std::uint16_t>("c", Type::FLOAT16, {1, 1}, {half});
        const auto f = file.tensor("f", Type::FLOAT32, {1, 1});
        const auto y = file.tensor("y", Type::FLOAT32, {1, 1});
        file.node(Op::DEQUANTIZE, {c}, {f});
        file.node(Op::ADD, {x, f}, {y}, format::BuiltinOptions::AddOptions,
                  format::CreateAddOptions(file.builder()));
        CHECK(run_tflite<float, float>(tflite_graph(file.finish({x}, {y})), {0.0F}) ==
              std::vector<float>{value});
    }
}

TEST_CASE("Sums by the rule of powers of two are refused where all scales are powers of two",
          "[compiler][frontend][tflite]") {
    const auto error = [](float a, float b, float result, bool is_declared) {
        TfliteFile file;
        const auto x = file.tensor("x", Type::INT16, {1, 2}, {{a}, {0}});
        const auto y = file.tensor("y", Type::INT16, {1, 2}, {{b}, {0}});
        const auto z = file.tensor("z", Type::INT16, {1, 2}, {{result}, {0}});
        file.node(
            Op::ADD, {x, y}, {z}, format::BuiltinOptions::AddOptions,
            format::CreateAddOptions(file.builder(), format::ActivationFunctionType::NONE, is_declared));
        return tflite_error(file.finish({x, y}, {z}));
    };
    for (const float scale : {0x1p-15F, 0x1p-3F, 1.0F, 0x1p5F}) {
        CAPTURE(scale);
        CHECK_THAT(error(scale, 0x1p-8F, scale, true),
                   Catch::Contains("pot_scale_int16 is true and all scales are powers of two"));
        CHECK(error(scale, 0x1p-8F, scale, false) == "no error");
        CHECK(error(0.3F, 0x1p-8F, scale, true) == "no error");
        CHECK(error(scale, 0x1p-8F, 0.3F, true) == "no error");
    }
}

TEST_CASE("Parts of a dilated convolution that stand alone are read one by one",
          "[compiler][frontend][tflite]") {
    // Nothing of the file makes what they read.
    TfliteFile file;
    const auto one = file.constant<std::int32_t>("block", Type::INT32, {2}, {1, 1});
    const auto none = file.constant<std::int32_t>("crops", Type::INT32, {2, 2}, {0, 0, 0, 0});
    const auto x = file.tensor("x", Type::FLOAT32, {1, 1, 2, 1});
    const auto y = file.tensor("y", Type::FLOAT32, {1, 1, 2, 1});
    SECTION("of the input alone") {
        file.node(Op::BATCH_TO_SPACE_ND, {x, one, none}, {y});
    }
    SECTION("behind a convolution of the input") {
        const auto w = file.constant<float>("w", Type::FLOAT32, {1, 1, 1, 1}, {1.0F});
        const auto b = file.constant<float>("b", Type::FLOAT32, {1}, {0.0F});
        const auto c = file.tensor("c", Type::FLOAT32, {1, 1, 2, 1});
        file.node(Op::CONV_2D, {x, w, b}, {c}, format::BuiltinOptions::Conv2DOptions,
                  format::CreateConv2DOptions(file.builder(), format::Padding::VALID, 1, 1));
        file.node(Op::BATCH_TO_SPACE_ND, {c, one, none}, {y});
    }
    CHECK(run_tflite<float, float>(tflite_graph(file.finish({x}, {y})), {3, 4}) == std::vector<float>{3, 4});
}

TEST_CASE("A convolution's weights become [row][column][in][out]", "[compiler][frontend][tflite]") {
    TfliteFile file;
    const Scale one{{1.0F}, {0}};
    const auto x = file.tensor("x", Type::INT8, {1, 2, 2, 1}, one);
    const auto w = file.constant<std::int8_t>("w", Type::INT8, {2, 1, 2, 1}, {1, 2, 3, 4}, one);
    const auto y = file.tensor("y", Type::INT8, {1, 2, 1, 2}, one);
    file.node(Op::CONV_2D, {x, w, -1}, {y}, format::BuiltinOptions::Conv2DOptions,
              format::CreateConv2DOptions(file.builder(), format::Padding::VALID, 1, 1));
    const ir::Graph graph = tflite_graph(file.finish({x}, {y}));
    // Filters are [1, 2] and [3, 4] over the rows [5, 6] and [7, 8].
    CHECK(run_tflite<std::int8_t>(graph, std::vector<std::int8_t>{5, 6, 7, 8}) ==
          std::vector<std::int8_t>{17, 39, 23, 53});
}

TEST_CASE("A dilated kernel gets zeros between its elements", "[compiler][frontend][tflite]") {
    TfliteFile file;
    const Scale scale{{1.0F}, {2}};
    const auto x = file.tensor("x", Type::UINT8, {1, 1, 4, 1}, scale);
    const auto w = file.constant<std::uint8_t>("w", Type::UINT8, {1, 1, 2, 1}, {4, 5}, {{1.0F}, {3}});
    const auto y = file.tensor("y", Type::UINT8, {1, 1, 4, 1}, {{1.0F}, {10}});
    file.node(Op::CONV_2D, {x, w}, {y}, format::BuiltinOptions::Conv2DOptions,
              format::CreateConv2DOptions(file.builder(), format::Padding::SAME, 1, 1,
                                          format::ActivationFunctionType::NONE, 2, 1));
    // Weights of 1 and 2 two columns apart, inputs of 1, 2, 3, 4 with one zero before and one after.
    CHECK(run_tflite<std::uint8_t>(tflite_graph(file.finish({x}, {y})),
                                   std::vector<std::uint8_t>{3, 4, 5, 6}) ==
          std::vector<std::uint8_t>{14, 17, 20, 13});
}

TEST_CASE("A grouped convolution covers the channels of each group", "[compiler][frontend][tflite]") {
    TfliteFile file;
    const Scale one{{1.0F}, {0}};
    const auto x = file.tensor("x", Type::INT8, {1, 1, 1, 4}, one);
    const auto w = file.constant<std::int8_t>("w", Type::INT8, {2, 1, 1, 2}, {1, 2, 3, 4}, one);
    const auto y = file.tensor("y", Type::INT8, {1, 1, 1, 2}, one);
    file.node(Op::CONV_2D, {x, w}, {y}, format::BuiltinOptions::Conv2DOptions,
              format::CreateConv2DOptions(file.builder(), format::Padding::VALID, 1, 1));
    CHECK(run_tflite<std::int8_t>(tflite_graph(file.finish({x}, {y})),
                                  std::vector<std::int8_t>{1, 2, 3, 4}) == std::vector<std::int8_t>{5, 25});
}

TEST_CASE("A depthwise convolution has several filters for a channel", "[compiler][frontend][tflite]") {
    TfliteFile file;
    const auto x = file.tensor("x", Type::UINT8, {1, 1, 2, 2}, {{1.0F}, {1}});
    const auto w =
        file.constant<std::uint8_t>("w", Type::UINT8, {1, 1, 2, 4}, {6, 7, 8, 9, 1, 2, 3, 4}, {{1.0F}, {5}});
    const auto y = file.tensor("y", Type::UINT8, {1, 1, 1, 4}, {{1.0F}, {100}});
    file.node(Op::DEPTHWISE_CONV_2D, {x, w}, {y}, format::BuiltinOptions::DepthwiseConv2DOptions,
              format::CreateDepthwiseConv2DOptions(file.builder(), format::Padding::VALID, 1, 1, 2));
    // Inputs (1, 2) and (3, 4); weights 1, 2 | 3, 4 and -4, -3 | -2, -1.
    CHECK(run_tflite<std::uint8_t>(tflite_graph(file.finish({x}, {y})),
                                   std::vector<std::uint8_t>{2, 3, 4, 5}) ==
          std::vector<std::uint8_t>{89, 93, 98, 104});
}

TEST_CASE("float16 and int8 weights of a float layer become float32", "[compiler][frontend][tflite]") {
    const auto dense = [](const auto& add_weights) {
        TfliteFile file;
        const auto x = file.tensor("x", Type::FLOAT32, {1, 2});
        const auto w = add_weights(file);
        const auto y = file.tensor("y", Type::FLOAT32, {1, 1});
        file.node(Op::FULLY_CONNECTED, {x, w, -1}, {y}, format::BuiltinOptions::FullyConnectedOptions,
                  format::CreateFullyConnectedOptions(file.builder()));
        return tflite_graph(file.finish({x}, {y}));
    };
    const ir::Graph halves = dense([](TfliteFile& file) {
        const auto h = file.constant<std::uint16_t>("h", Type::FLOAT16, {1, 2}, {0x3e00, 0xc100});
        const auto w = file.tensor("w", Type::FLOAT32, {1, 2});
        file.node(Op::DEQUANTIZE, {h}, {w});
        return w;
    });
    CHECK(halves.nodes.size() == 1);
    CHECK(run_tflite<float>(halves, std::vector<float>{2.0F, 1.0F}) == std::vector<float>{0.5F});
    const ir::Graph bytes = dense([](TfliteFile& file) {
        return file.constant<std::int8_t>("w", Type::INT8, {1, 2}, {6, -10}, {{0.25F}, {0}});
    });
    CHECK(bytes.nodes.size() == 1);
    CHECK(run_tflite<float>(bytes, std::vector<float>{2.0F, 1.0F}) == std::vector<float>{0.5F});
}

TEST_CASE("Of two weights of 4 bits in a byte, the first is in the low half",
          "[compiler][frontend][tflite]") {
    TfliteFile file;
    const auto x = file.tensor("x", Type::FLOAT32, {1, 3});
    const auto w = file.constant<std::uint8_t>("w", Type::INT4, {1, 3}, {0x96, 0x03}, {{0.25F}, {0}});
    const auto y = file.tensor("y", Type::FLOAT32, {1, 1});
    file.node(Op::FULLY_CONNECTED, {x, w, -1}, {y}, format::BuiltinOptions::FullyConnectedOptions,
              format::CreateFullyConnectedOptions(file.builder()));
    // 2 * 6 / 4 + 1 * -7 / 4 + 4 * 3 / 4
    CHECK(run_tflite<float>(tflite_graph(file.finish({x}, {y})), std::vector<float>{2.0F, 1.0F, 4.0F}) ==
          std::vector<float>{4.25F});
}

TEST_CASE("Functions of bytes are tables of the runtime's own results", "[compiler][frontend][tflite]") {
    const Scale input{{0.1F}, {3}};
    const std::vector<std::int8_t> numbers{-128, -50, -7, 3, 4, 20, 90, 127};
    const auto check = [&](Op op, const Scale& output, const std::vector<std::int8_t>& expected) {
        const ir::Graph graph = tflite_graph(unary_file(op, Type::INT8, input, Type::INT8, output, 8));
        CHECK(graph.nodes.front().is("lookup"));
        CHECK(run_tflite<std::int8_t>(graph, numbers) == expected);
    };
    check(Op::LOGISTIC, {{1.0F / 256.0F}, {-128}}, {-128, -127, -59, 0, 6, 88, 127, 127});
    check(Op::TANH, {{1.0F / 128.0F}, {0}}, {-128, -128, -97, 0, 13, 120, 127, 127});
    check(Op::HARD_SWISH, {{0.08F}, {-10}}, {-10, -10, -14, -10, -9, 7, 99, 127});
    check(Op::RELU6, {{0.05F}, {-100}}, {-100, -100, -100, -100, -98, -66, 20, 20});
    check(Op::QUANTIZE, {{0.15F}, {5}}, {-82, -30, -2, 5, 6, 16, 63, 88});
}

TEST_CASE("Scales at the ends of float32 give defined numbers", "[compiler][frontend][tflite]") {
    // -infinity times 0.
    const std::vector<std::uint8_t> file =
        unary_file(Op::GELU, Type::INT8, {{3e38F}, {0}}, Type::INT8, {{1.0F}, {5}}, 2);
    const std::vector<std::int8_t> numbers{-100, 100};
    CHECK(run_tflite<std::int8_t>(tflite_graph(file), numbers) == std::vector<std::int8_t>{5, 127});
    // A limit of 6e30 steps.
    const Scale tiny{{1e-30F}, {7}};
    TfliteFile pool;
    const auto x = pool.tensor("x", Type::INT8, {1, 1, 2, 1}, tiny);
    const auto y = pool.tensor("y", Type::INT8, {1, 1, 2, 1}, tiny);
    pool.node(Op::MAX_POOL_2D, {x}, {y}, format::BuiltinOptions::Pool2DOptions,
              format::CreatePool2DOptions(pool.builder(), format::Padding::VALID, 1, 1, 1, 1,
                                          format::ActivationFunctionType::RELU6));
    CHECK(run_tflite<std::int8_t>(tflite_graph(pool.finish({x}, {y})), numbers) ==
          std::vector<std::int8_t>{7, 100});
}

TEST_CASE("Softmax of integers gives the runtime's numbers", "[compiler][frontend][tflite]") {
    const auto file_of = [](Type type, const Scale& input, const Scale& output) {
        TfliteFile file;
        const auto x = file.tensor("x", type, {2, 3}, input);
        const auto y = file.tensor("y", type, {2, 3}, output);
        file.node(Op::SOFTMAX, {x}, {y}, format::BuiltinOptions::SoftmaxOptions,
                  format::CreateSoftmaxOptions(file.builder(), 1.0F));
        return tflite_graph(file.finish({x}, {y}));
    };
    const ir::Graph bytes = file_of(Type::INT8, {{0.1F}, {3}}, {{1.0F / 256.0F}, {-128}});
    CHECK(run_tflite<std::int8_t>(bytes, std::vector<std::int8_t>{1, 2, 3, -100, 20, 15}) ==
          std::vector<std::int8_t>{-51, -43, -34, -128, 31, -31});
    const ir::Graph wide = file_of(Type::INT16, {{0.001F}, {0}}, {{1.0F / 32768.0F}, {0}});
    CHECK(run_tflite<std::int16_t>(wide, std::vector<std::int16_t>{100, 200, 300, -9000, 2000, 1500}) ==
          std::vector<std::int16_t>{9850, 10887, 12031, 1, 20395, 12370});
}

TEST_CASE("Functions of 16 bits give the runtime's numbers", "[compiler][frontend][tflite]") {
    const std::vector<std::int16_t> numbers{-32768, -5000, -700, 0, 1, 999, 8000, 32767};
    const Scale result{{1.0F / 32768.0F}, {0}};
    const auto numbers_of = [&](Op op, float scale) {
        return run_tflite<std::int16_t>(
            tflite_graph(unary_file(op, Type::INT16, {{scale}, {0}}, Type::INT16, result, 8)), numbers);
    };
    CHECK(numbers_of(Op::LOGISTIC, 0.001F) ==
          std::vector<std::int16_t>{1, 220, 10873, 16384, 16392, 23949, 32757, 32767});
    CHECK(numbers_of(Op::LOGISTIC, 1.0F / 4096.0F) ==
          std::vector<std::int16_t>{11, 7465, 14987, 16384, 16386, 18372, 28698, 32757});
    CHECK(numbers_of(Op::TANH, 0.001F) ==
          std::vector<std::int16_t>{-32767, -32765, -19802, 0, 32, 24941, 32767, 32767});
    CHECK(numbers_of(Op::TANH, 1.0F / 2048.0F) ==
          std::vector<std::int16_t>{-32767, -32275, -10783, 0, 16, 14825, 32742, 32767});
    // The runtime's product would leave 32 bits.
    const auto scale = GENERATE(20.0F, 1e30F);
    CHECK(numbers_of(Op::TANH, scale) ==
          std::vector<std::int16_t>{-32767, -32767, -32767, 0, 32767, 32767, 32767, 32767});
    CHECK(numbers_of(Op::LOGISTIC, scale) ==
          std::vector<std::int16_t>{1, 1, 1, 16384, 32767, 32767, 32767, 32767});
}

TEST_CASE("What a TFLite file cannot be is said in one line", "[compiler][frontend][tflite]") {
    const Scale one{{1.0F}, {0}};
    const auto made = [&](const auto& build, std::uint32_t version = 3) {
        TfliteFile file;
        const auto x = file.tensor("x", Type::INT8, {1, 2}, one);
        const auto y = file.tensor("y", Type::INT8, {1, 2}, one);
        const auto [inputs, outputs] = build(file, x, y);
        return tflite_error(file.finish(inputs, outputs, version));
    };
    using Numbers = std::vector<std::int32_t>;
    using Ends = std::pair<Numbers, Numbers>;
    const auto tanh = [](TfliteFile& file, std::int32_t x, std::int32_t y) {
        file.node(Op::TANH, {x}, {y});
        return Ends{{x}, {y}};
    };
    CHECK(made(tanh) == "no error");
    CHECK(made(tanh, 4) == "its version is 4; it must be 3");
    CHECK(made([](TfliteFile& file, std::int32_t x, std::int32_t y) {
              file.node(Op::CUSTOM, {x}, {y});
              return Ends{{x}, {y}};
          }) ==
          R"(layer "y": its operator is the custom operator "my_operator"; no custom operator is supported)");
    CHECK_THAT(made([](TfliteFile& file, std::int32_t x, std::int32_t y) {
                   file.node(Op::LSH_PROJECTION, {x}, {y});
                   return Ends{{x}, {y}};
               }),
               Catch::Contains(R"(layer "y": this operator is not supported)") &&
                   Catch::Contains("(operator LSH_PROJECTION)"));
    CHECK(made([](TfliteFile& file, std::int32_t x, std::int32_t y) {
              file.node(Op::TANH, {7}, {y});
              return Ends{{x}, {y}};
          }) == R"(layer "y": tensor 7 is not one of the 2 of the file (operator TANH))");
    CHECK_THAT(made([](TfliteFile& file, std::int32_t x, std::int32_t) {
                   const auto z = file.tensor("z", Type::INT16, {1, 2}, {{0.5F}, {0}});
                   file.node_without_inputs(
                       Op::ADD, {z}, format::BuiltinOptions::AddOptions,
                       format::CreateAddOptions(file.builder(), format::ActivationFunctionType::NONE, true));
                   return Ends{{x}, {z}};
               }),
               Catch::Contains(R"(layer "z": )") && Catch::Contains("(operator ADD)"));
    for (const Op op : {Op::FLOOR, Op::TANH, Op::ELU}) {
        CHECK_THAT(made([&](TfliteFile& file, std::int32_t, std::int32_t) {
                       const auto from = file.tensor("from", Type::FLOAT32, {1, 2});
                       const auto to = file.tensor("to", Type::FLOAT32, {1, 2});
                       const auto more = file.tensor("more", Type::FLOAT32, {1, 2});
                       file.node(op, {from}, {to, more});
                       return Ends{{from}, {to}};
                   }),
                   Catch::Contains(R"(layer "to": it has 2 results in the file; it must have 1 (operator )"));
    }
    CHECK_THAT(made([](TfliteFile& file, std::int32_t x, std::int32_t y) {
                   file.node(Op::TANH, {y}, {y});
                   return Ends{{x}, {y}};
               }),
               Catch::Contains("it is read before a node computes it"));
    CHECK_THAT(made([](TfliteFile& file, std::int32_t x, std::int32_t y) {
                   file.node(Op::TANH, {x}, {y});
                   file.node(Op::TANH, {x}, {y});
                   return Ends{{x}, {y}};
               }),
               Catch::Contains("something defines it before"));
    CHECK_THAT(made([](TfliteFile& file, std::int32_t x, std::int32_t) {
                   const auto z = file.tensor("z", Type::INT8, {1, 3}, {{1.0F}, {0}});
                   file.node(Op::TANH, {x}, {z});
                   return Ends{{x}, {z}};
               }),
               Catch::Contains("its result is 1x3 in the file; by its inputs it is 1x2"));
    CHECK_THAT(made([](TfliteFile& file, std::int32_t, std::int32_t) {
                   const auto z = file.tensor("z", Type::INT8, {1, -3}, {{1.0F}, {0}});
                   return Ends{{z}, {z}};
               }),
               Catch::Contains(R"(tensor "z": an extent of its shape is -3; it must be at least 1)"));
    CHECK_THAT(made([](TfliteFile& file, std::int32_t, std::int32_t) {
                   const auto z = file.tensor("z", Type::INT8, {70000, 70000}, {{1.0F}, {0}});
                   return Ends{{z}, {z}};
               }),
               Catch::Contains("a tensor has at most"));
    CHECK_THAT(made([](TfliteFile& file, std::int32_t, std::int32_t) {
                   const auto z = file.tensor("z", Type::STRING, {1});
                   return Ends{{z}, {z}};
               }),
               Catch::Contains("its type is STRING; that is not supported"));
    CHECK_THAT(made([](TfliteFile& file, std::int32_t, std::int32_t) {
                   const auto z = file.tensor("z", Type::INT8, {1, 3}, {{1.0F, 2.0F}, {0, 0}, 1});
                   return Ends{{z}, {z}};
               }),
               Catch::Contains("it has 2 scales along axis 1 of 1x3; it must have one for each index"));
    CHECK_THAT(made([](TfliteFile& file, std::int32_t, std::int32_t) {
                   const auto z = file.tensor("z", Type::INT8, {1, 3}, {{-1.0F}, {0}});
                   return Ends{{z}, {z}};
               }),
               Catch::Contains("a scale is -1; it must be above 0 and finite"));
    CHECK_THAT(made([](TfliteFile& file, std::int32_t, std::int32_t) {
                   const auto z = file.tensor("z", Type::INT8, {1, 3}, {{1e-40F}, {0}});
                   return Ends{{z}, {z}};
               }),
               Catch::Contains("it must be above 0 and finite, and so must 1 / scale"));
    CHECK_THAT(made([](TfliteFile& file, std::int32_t, std::int32_t) {
                   const auto z = file.tensor("z", Type::INT8, {1, 3}, {{1.0F}, {300}});
                   return Ends{{z}, {z}};
               }),
               Catch::Contains("a zero point is 300; it must be a number of its type, -128 to 127"));
    CHECK_THAT(made([&](TfliteFile& file, std::int32_t x, std::int32_t y) {
                   const auto c = file.constant<std::int8_t>("c", Type::INT8, {1, 2}, {1, 2, 3}, one);
                   file.node(Op::ADD, {x, c}, {y}, format::BuiltinOptions::AddOptions,
                             format::CreateAddOptions(file.builder()));
                   return Ends{{x}, {y}};
               }),
               Catch::Contains(R"(its input tensor "c": it has 3 bytes; 1x2 of INT8 has 2)"));
    CHECK_THAT(made([](TfliteFile& file, std::int32_t x, std::int32_t y) {
                   file.node(Op::TANH, {x}, {y}, format::BuiltinOptions::AddOptions,
                             format::CreateAddOptions(file.builder(), format::ActivationFunctionType::RELU));
                   return Ends{{x}, {y}};
               }),
               Catch::Contains(R"(fused_activation_function is "RELU"; only "NONE" is supported)"));
}

TEST_CASE("A small TFLite file cannot ask for much memory", "[compiler][frontend][tflite]") {
    constexpr std::int32_t many = 1 << 20;
    constexpr int nodes = 80;  // each with so many numbers: above what is always allowed
    TfliteFile file;
    SECTION("a constant repeated") {
        const auto one = file.constant<float>("one", Type::FLOAT32, {1}, {1.0F});
        const auto shape = file.constant<std::int32_t>("shape", Type::INT32, {1}, {1 << 27});
        const auto y = file.tensor("y", Type::FLOAT32, {1 << 27});
        file.node(Op::BROADCAST_TO, {one, shape}, {y});
        CHECK(tflite_error(file.finish({}, {y})) ==
              R"(layer "y": with it, 134217728 numbers would be computed while the network is read; there )"
              "may be at most 67108880, as the file holds 2 (operator BROADCAST_TO)");
    }
    SECTION("tensors that share their data") {
        auto last = file.tensor("x", Type::UINT8, {1}, {{1.0F}, {0}});
        const auto x = last;
        const auto c = file.constant<std::uint8_t>("c", Type::UINT8, {many},
                                                   std::vector<std::uint8_t>(many, 1), {{1.0F}, {0}});
        for (int i = 0; i < nodes; ++i) {
            const auto same = i == 0 ? c : file.tensor("same", Type::UINT8, {many}, {{1.0F}, {0}}, 1);
            const auto sum = file.tensor("sum", Type::UINT8, {many}, {{1.0F}, {0}});
            file.node(Op::ADD, {last, same}, {sum}, format::BuiltinOptions::AddOptions,
                      format::CreateAddOptions(file.builder()));
            last = sum;
        }
        CHECK_THAT(tflite_error(file.finish({x}, {last})),
                   Catch::StartsWith(R"(layer "sum": its input tensor "same": with it, )"));
    }
    SECTION("a constant that is dequantized for each reader") {
        auto last = file.tensor("x", Type::FLOAT32, {1});
        const auto x = last;
        const auto c = file.constant<std::int8_t>("c", Type::INT8, {many}, std::vector<std::int8_t>(many, 1),
                                                  {{1.0F}, {0}});
        for (int i = 0; i < nodes; ++i) {
            const auto sum = file.tensor("sum", Type::FLOAT32, {many});
            file.node(Op::ADD, {last, c}, {sum}, format::BuiltinOptions::AddOptions,
                      format::CreateAddOptions(file.builder()));
            last = sum;
        }
        CHECK_THAT(tflite_error(file.finish({x}, {last})),
                   Catch::StartsWith(R"(layer "sum": with it, )") && Catch::Contains("would be computed"));
    }
}

TEST_CASE("A damaged TFLite file is refused before it is read", "[compiler][frontend][tflite]") {
    std::vector<std::uint8_t> file = unary_file(Op::TANH, Type::FLOAT32, {}, Type::FLOAT32, {}, 4);
    const std::string expected = "it is damaged: its tables do not fit the format or leave the file";
    CHECK(tflite_error({file.begin(), file.begin() + 6}) == expected);
    CHECK(tflite_error({file.begin(), file.end() - 40}) == expected);
    file[0] = 0xff;
    file[1] = 0xff;
    CHECK(tflite_error(file) == expected);
    CHECK(tflite_error({}) == expected);
}
