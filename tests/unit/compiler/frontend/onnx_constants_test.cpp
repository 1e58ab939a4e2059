// ONNX nodes on constants: products whose first factor is one, blocks of weights with a scale each, integers
// of 4 bits; and the operators OneHot and CumSum.
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/passes/move_transposes.h"
#include "compiler/passes/prepare.h"
#include "tests/support/file_order.h"
#include "tests/support/random_runs.h"
#include "tests/unit/compiler/frontend/node_draw.h"
#include "tests/unit/compiler/frontend/onnx_model.h"

using namespace systole;
using ::onnx::TensorProto;
using tests::check_near;
using tests::Extents;
using tests::NodeDraw;
using tests::OnnxModel;
using tests::refusal_of;
using tests::run_in_file_order;
using tests::with_attribute;

namespace {

constexpr auto uint4_type = static_cast<TensorProto::DataType>(21);
constexpr auto int4_type = static_cast<TensorProto::DataType>(22);

void check_constants(OnnxModel& model, const std::vector<float>& input, const std::vector<float>& expected,
                     const ir::Shape& shape) {
    const ir::Graph graph = model.read();
    CHECK(graph.output().shape == shape);
    check_near(run_in_file_order(graph, input), expected);
    const ir::Graph moved = passes::move_transposes(graph);
    ir::verify(moved, "move_transposes");
    check_near(run_in_file_order(moved, input), expected);
    check_near(run_in_file_order(passes::simplify(graph), input), expected);
}

/// `batches` products of [rows][inner] and [inner][columns].
std::vector<float> products(const std::vector<float>& w, const std::vector<float>& x, std::size_t batches,
                            std::size_t rows, std::size_t inner, std::size_t columns) {
    std::vector<float> result(batches * rows * columns, 0.0F);
    for (std::size_t b = 0; b < batches; ++b) {
        for (std::size_t r = 0; r < rows; ++r) {
            for (std::size_t c = 0; c < columns; ++c) {
                float& sum = result[(b * rows + r) * columns + c];
                for (std::size_t i = 0; i < inner; ++i) {
                    sum += w[r * inner + i] * x[(b * inner + i) * columns + c];
                }
            }
        }
    }
    return result;
}

/// The tensor of integers of 4 bits: as bytes, or in the field of its type.
void add_nibbles(OnnxModel& model, const std::string& name, TensorProto::DataType type, const Extents& shape,
                 const std::vector<int>& numbers, bool as_bytes) {
    constexpr unsigned mask = 0xfU;
    TensorProto& tensor = model.tensor(name, type, shape);
    std::string bytes((numbers.size() + 1) / 2, '\0');
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const auto nibble = (static_cast<unsigned>(numbers[i]) & mask) << (i % 2 * 4);
        bytes[i / 2] = static_cast<char>(static_cast<unsigned char>(bytes[i / 2]) | nibble);
    }
    if (as_bytes) {
        tensor.set_raw_data(bytes);
        return;
    }
    for (const char byte : bytes) tensor.add_int32_data(static_cast<unsigned char>(byte));
}

}  // namespace

TEST_CASE("ONNX's MatMul of a constant and an activation is the sum over its definition",
          "[compiler][operators]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(100); ++seed) {
        INFO("seed " << seed);
        NodeDraw draw(seed);
        const std::int64_t rows = draw.number(1, 6);
        const std::int64_t inner = draw.number(1, 6);
        const std::int64_t columns = draw.number(1, 6);
        const std::int64_t batches = draw.number(1, 3);
        const bool is_row = draw.number(0, 3) == 0;
        const bool is_column = draw.number(0, 3) == 0;
        const bool has_batches = !is_column && draw.number(0, 1) == 0;
        const bool has_ones = !is_row && draw.number(0, 2) == 0;
        Extents of_w = is_row ? Extents{inner} : Extents{rows, inner};
        if (has_ones) of_w.insert(of_w.begin(), 2, 1);
        Extents of_x = is_column ? Extents{inner} : Extents{inner, columns};
        if (has_batches) of_x.insert(of_x.begin(), {1, batches});
        const std::size_t all = has_batches ? static_cast<std::size_t>(batches) : 1;
        const std::int64_t used_rows = is_row ? 1 : rows;
        const std::int64_t used_columns = is_column ? 1 : columns;
        const std::vector<float> w = draw.values(used_rows * inner);
        const std::vector<float> x = draw.values(static_cast<std::int64_t>(all) * inner * used_columns);
        std::vector<std::uint32_t> shape;
        if (has_batches) shape = {1, static_cast<std::uint32_t>(batches)};
        if (has_ones && !has_batches) shape = {1, 1};
        if (!is_row) shape.push_back(static_cast<std::uint32_t>(rows));
        if (!is_column) shape.push_back(static_cast<std::uint32_t>(columns));
        OnnxModel model;
        model.input("x", of_x).floats("w", of_w, w).output("y");
        model.node("MatMul", {"w", "x"}, {"y"});
        check_constants(model, x,
                        products(w, x, all, static_cast<std::size_t>(used_rows),
                                 static_cast<std::size_t>(inner), static_cast<std::size_t>(used_columns)),
                        ir::Shape(shape));
    }
}

TEST_CASE("ONNX's MatMul with several constant matrices broadcasts the axes before them",
          "[compiler][operators]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(100); ++seed) {
        INFO("seed " << seed);
        NodeDraw draw(seed);
        const std::int64_t rows = draw.number(1, 4);
        const std::int64_t inner = draw.number(1, 4);
        const std::int64_t columns = draw.number(1, 4);
        // Of the constant and of the activation, along two axes.
        const Extents known{draw.number(1, 3), draw.number(2, 3)};
        const Extents given{draw.number(0, 1) == 0 ? 1 : known[0], draw.number(0, 2) == 0 ? 1 : known[1]};
        const bool is_first = draw.number(0, 1) == 0;
        const Extents left{rows, inner};
        const Extents right{inner, columns};
        const auto shape_of = [](Extents leading, const Extents& matrix) {
            leading.insert(leading.end(), matrix.begin(), matrix.end());
            return leading;
        };
        const std::vector<float> w =
            draw.values(known[0] * known[1] * (is_first ? rows * inner : inner * columns));
        const std::vector<float> x =
            draw.values(given[0] * given[1] * (is_first ? inner * columns : rows * inner));
        std::vector<float> expected;
        for (std::int64_t i = 0; i < known[0]; ++i) {
            for (std::int64_t j = 0; j < known[1]; ++j) {
                const auto matrix_of = [&](const std::vector<float>& values, const Extents& leading) {
                    const std::int64_t place =
                        (leading[0] == 1 ? 0 : i) * leading[1] + (leading[1] == 1 ? 0 : j);
                    const auto size = static_cast<std::int64_t>(values.size()) / (leading[0] * leading[1]);
                    return std::vector<float>(values.begin() + place * size,
                                              values.begin() + (place + 1) * size);
                };
                const std::vector<float> of_w = matrix_of(w, known);
                const std::vector<float> of_x = matrix_of(x, given);
                const std::vector<float> one = products(
                    is_first ? of_w : of_x, is_first ? of_x : of_w, 1, static_cast<std::size_t>(rows),
                    static_cast<std::size_t>(inner), static_cast<std::size_t>(columns));
                expected.insert(expected.end(), one.begin(), one.end());
            }
        }
        OnnxModel model;
        model.input("x", shape_of(given, is_first ? right : left));
        model.floats("w", shape_of(known, is_first ? left : right), w).output("y");
        model.node("MatMul",
                   is_first ? std::vector<std::string>{"w", "x"} : std::vector<std::string>{"x", "w"}, {"y"});
        check_constants(model, x, expected,
                        ir::Shape({static_cast<std::uint32_t>(known[0]), static_cast<std::uint32_t>(known[1]),
                                   static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(columns)}));
    }
}

TEST_CASE("Constant matrices that do not belong to the rows of ONNX's MatMul are refused",
          "[compiler][operators]") {
    const Extents of_x = GENERATE(Extents{2}, Extents{1, 2, 1, 2});
    OnnxModel model;
    model.input("x", of_x).floats("w", {3, 2, 1}, {1, 2, 3, 4, 5, 6}).output("y");
    model.node("MatMul", {"x", "w"}, {"y"});
    CHECK_THROWS_WITH(model.read(),
                      Catch::Contains("n_y") && Catch::Contains("by constant matrices, 3x2x1; each must"));
}

TEST_CASE("ONNX's MatMul takes leading axes of 1 from the matrix", "[compiler][operators]") {
    OnnxModel model;
    model.input("x", {1, 2}).floats("w", {1, 1, 2, 3}, {1, 2, 3, 4, 5, 6}).output("y");
    model.node("MatMul", {"x", "w"}, {"y"});
    check_constants(model, {10, 100}, {410, 520, 630}, {1, 1, 1, 3});
}

TEST_CASE("ONNX's Gemm of a constant and an activation scales, transposes and adds",
          "[compiler][operators]") {
    const bool first = GENERATE(false, true);
    const bool second = GENERATE(false, true);
    // [[1, 2], [3, 4], [5, 6]] times [[a, b], [c, d]]
    const std::vector<float> w =
        first ? std::vector<float>{1, 3, 5, 2, 4, 6} : std::vector<float>{1, 2, 3, 4, 5, 6};
    const std::vector<float> x =
        second ? std::vector<float>{1, 100, 10, 1000} : std::vector<float>{1, 10, 100, 1000};
    const std::vector<float> plain{201, 2010, 403, 4030, 605, 6050};
    OnnxModel model;
    model.input("x", {2, 2}).floats("w", first ? Extents{2, 3} : Extents{3, 2}, w).output("y");
    std::vector<std::string> inputs{"w", "x"};
    std::vector<float> expected;
    for (const float number : plain) expected.push_back(2 * number);
    SECTION("alone") {}
    SECTION("with a number for each column") {
        model.floats("c", {2}, {1, 2});
        inputs.emplace_back("c");
        for (std::size_t i = 0; i < 6; ++i) expected[i] += i % 2 == 0 ? 10.0F : 20.0F;
    }
    SECTION("with a number for each row") {
        model.floats("c", {3, 1}, {1, 2, 3});
        inputs.emplace_back("c");
        for (std::size_t i = 0; i < 6; ++i) {
            const std::size_t row = i / 2;
            expected[i] += 10.0F * static_cast<float>(row + 1);
        }
    }
    SECTION("with one number") {
        model.floats("c", {}, {3});
        inputs.emplace_back("c");
        for (float& number : expected) number += 30;
    }
    auto& node = model.node("Gemm", inputs, {"y"});
    with_attribute(with_attribute(node, "alpha", 2.0F), "beta", 10.0F);
    with_attribute(node, "transA", std::int64_t{first ? 1 : 0});
    with_attribute(node, "transB", std::int64_t{second ? 1 : 0});
    check_constants(model, x, expected, {3, 2});
}

TEST_CASE("ONNX's QLinearMatMul of a constant has a scale for each of its rows", "[compiler][operators]") {
    OnnxModel model;
    model.input("x", {2, 2}, TensorProto::INT8).output("y");
    model.raw<std::int8_t>("w", TensorProto::INT8, {3, 2}, {1, 2, 3, 4, 5, 6});
    model.floats("ws", {3}, {1, 0.5F, 0.25F}).raw<std::int8_t>("wz", TensorProto::INT8, {3}, {0, 0, 0});
    model.floats("xs", {}, {1}).raw<std::int8_t>("xz", TensorProto::INT8, {}, {1});
    model.floats("ys", {}, {0.5F}).raw<std::int8_t>("yz", TensorProto::INT8, {}, {-3});
    model.node("QLinearMatMul", {"w", "ws", "wz", "x", "xs", "xz", "ys", "yz"}, {"y"});
    // x - 1 = [[1, 2], [3, 4]]: [[7, 10], [7.5, 11], [5.75, 8.5]]
    const ir::Graph graph = model.read();
    CHECK(graph.output().shape == ir::Shape{3, 2});
    CHECK(run_in_file_order(graph, {2, 3, 4, 5}) == std::vector<float>{11, 17, 12, 19, 9, 14});
}

TEST_CASE("ONNX's MatMulInteger of a constant", "[compiler][operators]") {
    OnnxModel model;
    model.input("x", {2, 2}, TensorProto::UINT8).output("y");
    model.raw<std::int8_t>("w", TensorProto::INT8, {1, 2}, {1, 2});
    model.raw<std::int8_t>("wz", TensorProto::INT8, {}, {-1});
    model.raw<std::uint8_t>("xz", TensorProto::UINT8, {}, {5});
    model.node("MatMulInteger", {"w", "x", "wz", "xz"}, {"y"});
    CHECK(run_in_file_order(model.read(), {6, 7, 5, 0}) == std::vector<float>{2, 4 - 15});
}

TEST_CASE("Weights with a scale for each block are the real numbers that they stand for",
          "[compiler][operators]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(60); ++seed) {
        INFO("seed " << seed);
        NodeDraw draw(seed);
        const std::int64_t rows = draw.number(1, 9);
        const std::int64_t columns = draw.number(1, 5);
        const std::int64_t axis = draw.number(0, 1);
        const std::int64_t extent = axis == 0 ? rows : columns;
        const std::int64_t block = draw.number(1, extent);
        const std::int64_t count = (extent + block - 1) / block;
        const Extents of_scales = axis == 0 ? Extents{count, columns} : Extents{rows, count};
        const std::int64_t scale_count = of_scales[0] * of_scales[1];
        const bool is_signed = draw.number(0, 1) == 0;
        const bool has_zero_points = draw.number(0, 2) != 0;
        const auto type = is_signed ? int4_type : uint4_type;
        const auto nibbles = [&](std::int64_t size) {
            std::vector<int> numbers;
            for (std::int64_t i = 0; i < size; ++i) {
                numbers.push_back(static_cast<int>(is_signed ? draw.number(-8, 7) : draw.number(0, 15)));
            }
            return numbers;
        };
        const std::vector<int> numbers = nibbles(rows * columns);
        const std::vector<int> zero_points = nibbles(scale_count);
        std::vector<float> scales;
        for (std::int64_t i = 0; i < scale_count; ++i) {
            scales.push_back(static_cast<float>(draw.number(1, 64)) / 64.0F);
        }
        OnnxModel model(21);
        model.input("x", {1, rows}).floats("s", of_scales, scales).output("y");
        add_nibbles(model, "w", type, {rows, columns}, numbers, draw.number(0, 1) == 0);
        std::vector<std::string> inputs{"w", "s"};
        if (has_zero_points) {
            add_nibbles(model, "z", type, of_scales, zero_points, draw.number(0, 1) == 0);
            inputs.emplace_back("z");
        }
        auto& node = model.node("DequantizeLinear", inputs, {"d"});
        with_attribute(with_attribute(node, "axis", axis - (draw.number(0, 1) == 0 ? 2 : 0)), "block_size",
                       block);
        model.node("MatMul", {"x", "d"}, {"y"});
        const std::vector<float> x = draw.values(rows);
        std::vector<float> expected(static_cast<std::size_t>(columns), 0.0F);
        for (std::int64_t r = 0; r < rows; ++r) {
            for (std::int64_t c = 0; c < columns; ++c) {
                const auto at =
                    static_cast<std::size_t>(axis == 0 ? r / block * columns + c : r * count + c / block);
                const int zero = has_zero_points ? zero_points[at] : 0;
                const int number = numbers[static_cast<std::size_t>(r * columns + c)];
                expected[static_cast<std::size_t>(c)] +=
                    x[static_cast<std::size_t>(r)] * scales[at] * static_cast<float>(number - zero);
            }
        }
        check_constants(model, x, expected, {1, static_cast<std::uint32_t>(columns)});
    }
}

TEST_CASE("Integers of 4 bits are refused where those of 8 would compute something else",
          "[compiler][operators]") {
    OnnxModel model(21);
    model.input("x", {1, 3}).output("y");
    add_nibbles(model, "n", int4_type, {3}, {-8, 0, 7}, true);
    add_nibbles(model, "z", int4_type, {}, {0}, true);
    model.floats("s", {}, {1});
    std::string expected;
    SECTION("results of the type of a zero point") {
        model.node("QuantizeLinear", {"x", "s", "z"}, {"y"});
        expected =
            R"(node "n_y" ("QuantizeLinear"): its input 2 is of integers of 4 bits; of these, only constants )"
            "that DequantizeLinear or Cast reads are supported";
    }
    SECTION("behind nodes that move them") {
        model.node("Transpose", {"n"}, {"t"});
        model.node("Add", {"t", "t"}, {"y"});
        expected =
            R"(node "n_y" ("Add"): its input 0 is of integers of 4 bits; of these, only constants that )"
            "DequantizeLinear or Cast reads are supported";
    }
    SECTION("as an input of the network") {
        model.input("i", {1, 3}, int4_type);
        model.node("Relu", {"x"}, {"y"});
        expected =
            R"(input "i": its type is INT4; it must be of integers of 8 to 64 bits, bool, float16, bfloat16, )"
            "float or double; only constants may be of 4 bits";
    }
    SECTION("of other small types") {
        model.tensor("f", static_cast<TensorProto::DataType>(17), {1}).set_raw_data("a");
        model.node("Relu", {"x"}, {"y"});
        expected =
            R"(tensor "f": its type is FLOAT8E4M3FN; it must be of integers of 8 to 64 bits, bool, float16, )"
            "bfloat16, float or double";
    }
    SECTION("fewer bytes than they need") {
        model.tensor("f", int4_type, {3}).set_raw_data("a");
        model.node("Relu", {"x"}, {"y"});
        expected = R"(tensor "f": it has 1 bytes; its shape and type need 2)";
    }
    CHECK(refusal_of(model) == expected);
}

TEST_CASE("Integers of 4 bits become real numbers behind nodes that move them", "[compiler][operators]") {
    OnnxModel model(21);
    model.input("x", {1, 3}).floats("s", {}, {0.5F}).output("y");
    add_nibbles(model, "n", int4_type, {3, 1}, {-8, 0, 7}, false);
    add_nibbles(model, "z", int4_type, {}, {1}, false);
    model.node("Transpose", {"n"}, {"t"});
    model.node("DequantizeLinear", {"t", "s", "z"}, {"d"});
    model.node("Mul", {"x", "d"}, {"y"});
    CHECK(run_in_file_order(model.read(), {1, 1, 10}) == std::vector<float>{-4.5F, -0.5F, 30});
}

TEST_CASE("Wrong scales of blocks are refused", "[compiler][operators]") {
    OnnxModel model(21);
    model.input("x", {1, 4}).output("y");
    model.raw<std::int8_t>("w", TensorProto::INT8, {4, 2}, std::vector<std::int8_t>(8, 1));
    std::string expected;
    std::vector<std::string> inputs{"w", "s"};
    std::int64_t block = 2;
    SECTION("too few") {
        model.floats("s", {1, 2}, {1, 1});
        expected = "its scales are 1x2 float32; blocks of 2 along axis 0 of 4x2 need 2x2 float32";
    }
    SECTION("other zero points") {
        model.floats("s", {2, 2}, {1, 1, 1, 1});
        model.raw<std::int8_t>("z", TensorProto::INT8, {}, {0});
        inputs.emplace_back("z");
        expected = "its zero points are scalar int8; they must be 2x2 int8, as its numbers and scales";
    }
    SECTION("a negative block") {
        model.floats("s", {2, 2}, {1, 1, 1, 1});
        block = -1;
        expected = "block_size is -1; it must be 0 or more";
    }
    SECTION("an activation") {
        model.floats("s", {2, 2}, {1, 1, 1, 1});
        model.input("i", {4, 2}, TensorProto::INT8);
        inputs[0] = "i";
        expected =
            "its input 0 (the numbers) is computed by the network; it must be a constant, others are not "
            "supported";
    }
    auto& node = model.node("DequantizeLinear", inputs, {"d"});
    with_attribute(with_attribute(node, "axis", std::int64_t{0}), "block_size", block);
    model.node("MatMul", {"x", "d"}, {"y"});
    CHECK(refusal_of(model) == R"(node "n_d" ("DequantizeLinear"): )" + expected);
}

TEST_CASE("ONNX's OneHot has one value at the index, and another elsewhere", "[compiler][operators]") {
    const auto result = [](std::int64_t axis, const std::vector<float>& input) {
        OnnxModel model;
        model.input("x", {1, 2}, TensorProto::INT32).floats("v", {2}, {-1, 5}).output("y");
        model.raw<std::int64_t>("depth", TensorProto::INT64, {}, {3});
        model.node("OneHot", {"x", "depth", "v"}, {"y"});
        with_attribute(*model.graph().mutable_node(0), "axis", axis);
        const ir::Graph graph = model.read();
        REQUIRE(ir::find_fault(graph) == std::nullopt);
        return std::pair(graph.output().shape, run_in_file_order(graph, input));
    };
    CHECK(result(-1, {2, -3}) == std::pair(ir::Shape{1, 2, 3}, std::vector<float>{-1, -1, 5, 5, -1, -1}));
    CHECK(result(1, {2, 1}) == std::pair(ir::Shape{1, 3, 2}, std::vector<float>{-1, -1, -1, 5, 5, -1}));
    CHECK(result(0, {0, 1}) == std::pair(ir::Shape{3, 1, 2}, std::vector<float>{5, -1, -1, 5, -1, -1}));
    // Beyond the ends.
    CHECK(result(2, {3, -4}).second == std::vector<float>(6, -1));
}

TEST_CASE("ONNX's OneHot of real numbers is one of constants alone", "[compiler][operators]") {
    OnnxModel model;
    model.input("x", {1, 3}).floats("v", {2}, {-1, 5}).output("y");
    model.floats("depth", {1}, {3});
    SECTION("constants, which are cut to integers") {
        model.floats("i", {1}, {1.9F});
        model.node("OneHot", {"i", "depth", "v"}, {"o"});
        model.node("Mul", {"x", "o"}, {"y"});
        CHECK(run_in_file_order(model.read(), {1, 2, 3}) == std::vector<float>{-1, 10, -3});
    }
    SECTION("beyond all") {
        model.floats("i", {1}, {-1e30F});
        model.node("OneHot", {"i", "depth", "v"}, {"o"});
        model.node("Mul", {"x", "o"}, {"y"});
        CHECK(run_in_file_order(model.read(), {1, 2, 3}) == std::vector<float>{-1, -2, -3});
    }
    SECTION("of the network") {
        model.node("OneHot", {"x", "depth", "v"}, {"y"});
        CHECK(refusal_of(model) ==
              R"(node "n_y" ("OneHot"): its indices are float32; they must be integers)");
    }
}

TEST_CASE("ONNX's CumSum adds up the elements to each one", "[compiler][operators]") {
    const bool exclusive = GENERATE(false, true);
    const bool reverse = GENERATE(false, true);
    const bool is_real = GENERATE(false, true);
    OnnxModel model;
    model.input("x", {1, 3, 2}, is_real ? TensorProto::FLOAT : TensorProto::INT32).output("y");
    model.raw<std::int64_t>("axis", TensorProto::INT64, {}, {-2});
    auto& node = model.node("CumSum", {"x", "axis"}, {"y"});
    with_attribute(with_attribute(node, "exclusive", std::int64_t{exclusive ? 1 : 0}), "reverse",
                   std::int64_t{reverse ? 1 : 0});
    std::vector<float> expected{1, 10, 3, 30, 6, 60};
    if (exclusive) expected = {0, 0, 1, 10, 3, 30};
    if (reverse) expected = {6, 60, 5, 50, 3, 30};
    if (exclusive && reverse) expected = {5, 50, 3, 30, 0, 0};
    CHECK(run_in_file_order(model.read(), {1, 10, 2, 20, 3, 30}) == expected);
}

TEST_CASE("ONNX's ConstantOfShape has the type of its value", "[compiler][operators]") {
    OnnxModel model;
    model.input("x", {1, 3}).floats("zero", {}, {0}).output("y");
    model.node("Shape", {"x"}, {"s"});
    auto& attribute = tests::attribute(model.node("ConstantOfShape", {"s"}, {"c"}), "value",
                                       ::onnx::AttributeProto::TENSOR);
    const bool is_true = GENERATE(true, false);
    attribute.mutable_t()->set_data_type(TensorProto::BOOL);
    attribute.mutable_t()->add_dims(1);
    attribute.mutable_t()->add_int32_data(is_true ? 1 : 0);
    model.node("Where", {"c", "x", "zero"}, {"y"});
    CHECK(run_in_file_order(model.read(), {1, 2, 3}) ==
          (is_true ? std::vector<float>{1, 2, 3} : std::vector<float>{0, 0, 0}));
}

TEST_CASE("ONNX's MatMul and Gemm of two constants are constants", "[compiler][operators]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(40); ++seed) {
        INFO("seed " << seed);
        NodeDraw draw(seed);
        const std::int64_t rows = draw.number(1, 4);
        const std::int64_t inner = draw.number(1, 4);
        const std::int64_t columns = draw.number(1, 4);
        const std::int64_t batches = draw.number(1, 3);
        const bool is_gemm = draw.number(0, 1) == 0;
        const std::int64_t all = is_gemm ? 1 : batches;
        const std::vector<float> a = draw.values(rows * inner);
        const std::vector<float> b = draw.values(all * inner * columns);
        const std::vector<float> x = draw.values(all * rows * columns);
        OnnxModel model;
        const Extents of_result = is_gemm ? Extents{rows, columns} : Extents{all, rows, columns};
        const Extents of_b = is_gemm ? Extents{inner, columns} : Extents{all, inner, columns};
        model.input("x", of_result).floats("a", {rows, inner}, a).floats("b", of_b, b).output("y");
        model.node(is_gemm ? "Gemm" : "MatMul", {"a", "b"}, {"p"});
        model.node("Add", {"x", "p"}, {"y"});
        std::vector<float> expected =
            products(a, b, static_cast<std::size_t>(all), static_cast<std::size_t>(rows),
                     static_cast<std::size_t>(inner), static_cast<std::size_t>(columns));
        for (std::size_t i = 0; i < x.size(); ++i) expected[i] += x[i];
        const ir::Graph graph = model.read();
        REQUIRE(graph.nodes.size() == 1);
        check_near(run_in_file_order(graph, x), expected);
    }
}

TEST_CASE("ONNX's ConstantOfShape without extents is one number", "[compiler][operators]") {
    OnnxModel model;
    model.input("x", {1, 3}).output("y");
    model.tensor("shape", TensorProto::INT64, {0});
    auto& node = model.node("ConstantOfShape", {"shape"}, {"c"});
    auto& value = *tests::attribute(node, "value", ::onnx::AttributeProto::TENSOR).mutable_t();
    value.set_data_type(TensorProto::FLOAT);
    value.add_dims(1);
    value.add_float_data(2.5F);
    model.node("Mul", {"x", "c"}, {"y"});
    check_near(run_in_file_order(model.read(), {1, 2, 3}), {2.5F, 5, 7.5F});
}
