// Products of two matrices of integers, as they are stored.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "compiler/frontend/door/read_network.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/integer_types.h"
#include "compiler/reference/executor.h"
#include "tests/support/random_runs.h"
#include "tests/support/text_graphs.h"

using namespace systole;

namespace {

using Numbers = std::vector<std::int8_t>;

struct DrawnProduct {
    std::uint32_t matrices = 1;
    std::uint32_t rows = 1;
    std::uint32_t depth = 1;
    std::uint32_t columns = 1;
    bool is_shared = false;  ///< all matrices meet the same second one
    bool transposes_a = false;
    bool transposes_b = false;
    Numbers a;
    Numbers b;

    std::int64_t sum(std::uint32_t matrix, std::uint32_t row, std::uint32_t column, std::int32_t a_zero,
                     std::int32_t b_zero) const {
        std::int64_t result = 0;
        for (std::uint32_t k = 0; k < depth; ++k) {
            const std::size_t in_a = transposes_a ? k * rows + row : row * depth + k;
            const std::size_t in_b = transposes_b ? column * depth + k : k * columns + column;
            const std::size_t own = is_shared ? 0 : matrix;
            result += std::int64_t{a[matrix * rows * depth + in_a] - a_zero} *
                      (b[own * depth * columns + in_b] - b_zero);
        }
        return result;
    }
};

DrawnProduct drawn_product(std::mt19937& random) {
    const auto number = [&](std::uint32_t least, std::uint32_t most) {
        return std::uniform_int_distribution<std::uint32_t>(least, most)(random);
    };
    DrawnProduct drawn{.matrices = number(1, 3),
                       .rows = number(1, 5),
                       .depth = number(1, 9),
                       .columns = number(1, 5),
                       .is_shared = number(0, 2) == 0,
                       .transposes_a = number(0, 1) == 1,
                       .transposes_b = number(0, 1) == 1,
                       .a = {},
                       .b = {}};
    const auto draw = [&](Numbers& numbers, std::size_t count) {
        for (numbers.resize(count); std::int8_t & each : numbers)
            each = static_cast<std::int8_t>(static_cast<std::int32_t>(number(0, 255)) - 128);
    };
    draw(drawn.a, std::size_t{drawn.matrices} * drawn.rows * drawn.depth);
    draw(drawn.b, std::size_t{drawn.is_shared ? 1 : drawn.matrices} * drawn.depth * drawn.columns);
    return drawn;
}

// Halves are exact with scales that are powers of two.
constexpr double a_scale = 0.5;
constexpr double b_scale = 0.25;
constexpr double result_scale = 4.0;

/// TFLite's multiplier for the quotient of these scales, 1/32, is a half, upwards, and then a 16th, halves
/// away from zero: it rounds twice.
std::int8_t rounded(std::int64_t sum, Rounding rounding) {
    const auto exact = static_cast<double>(sum) * a_scale * b_scale / result_scale;
    const double nearest = rounding == Rounding::Tflite
                               ? std::round(std::floor(static_cast<double>(sum) / 2 + 0.5) / 16)
                               : std::nearbyint(exact);
    return static_cast<std::int8_t>(std::clamp(nearest + 3, -128.0, 127.0));
}

}  // namespace

TEST_CASE("A product of int8 matrices is scaled by each rounding", "[compiler][operators]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(300); ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const DrawnProduct drawn = drawn_product(random);
        const auto rounding = static_cast<Rounding>(seed % rounding_names.size());
        ir::Graph graph;
        graph.name = "made";
        const auto add = [&](const char* name, std::uint32_t matrices, std::uint32_t first,
                             std::uint32_t second, bool are_exchanged, double scale,
                             std::int32_t zero_point) {
            const ir::ValueId id = graph.add_input(
                name, {1, matrices, are_exchanged ? second : first, are_exchanged ? first : second});
            graph.values[id].type = DataType::Int8;
            graph.values[id].quantization = ir::Quantization{{scale}, {zero_point}, {}};
        };
        add("a", drawn.matrices, drawn.rows, drawn.depth, drawn.transposes_a, a_scale, 7);
        add("b", drawn.is_shared ? 1 : drawn.matrices, drawn.depth, drawn.columns, drawn.transposes_b,
            b_scale, -9);
        graph.outputs = {graph.append("product", operators::registry().at("matrix_product"),
                                      {{"transposed_a", std::int64_t{drawn.transposes_a}},
                                       {"transposed_b", std::int64_t{drawn.transposes_b}},
                                       {"rounding", std::string(name_of(rounding))}},
                                      {0, 1}, DataType::Uint8,
                                      {{DataType::Int8, ir::Quantization{{result_scale}, {3}, {}}}})};
        REQUIRE(ir::find_fault(graph) == std::nullopt);
        const reference::TensorBytes a = tests::bytes_of(drawn.a);
        const reference::TensorBytes b = tests::bytes_of(drawn.b);
        const std::vector<std::span<const std::uint8_t>> inputs{a, b};
        const auto results = tests::numbers_of<std::int8_t>(reference::run(graph, inputs, 1).front());
        std::size_t place = 0;
        for (std::uint32_t matrix = 0; matrix < drawn.matrices; ++matrix) {
            for (std::uint32_t row = 0; row < drawn.rows; ++row) {
                for (std::uint32_t column = 0; column < drawn.columns; ++column, ++place) {
                    const std::int64_t sum = drawn.sum(matrix, row, column, 7, -9);
                    REQUIRE(results[place] == rounded(sum, rounding));
                }
            }
        }
    }
}

TEST_CASE("A graph file multiplies what two layers compute", "[compiler][operators]") {
    const std::string network = R"({"schema": "sim.graph/1", "name": "net", "input": {"shape": [1, 2, 3]},
        "weights": {"seed": 1}, "output": "product", "layers": [
        {"name": "t", "op": "relu", "inputs": ["input"]},
        {"name": "product", "op": "matrix_product", "inputs": ["input", "t"], "transposed_b": true}]})";
    const ir::Graph graph = frontend::build_json_graph(network, frontend::WeightValues::Read);
    const std::vector<float> x{1, -2, 3, -4, 5, 6};
    const std::vector<std::span<const float>> inputs{x};
    CHECK(reference::execute(graph, inputs, 1).front() == std::vector<float>{10, 8, 14, 61});
}
