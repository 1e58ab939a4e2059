#pragma once

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/text.h"
#include "compiler/operators/operator.h"
#include "compiler/reference/executor.h"
#include "tests/support/graphs.h"
#include "tests/support/text_graphs.h"

/// Graphs of one node on words, and definitions of machines of floats for tests, written once more.
namespace systole::tests::words {

using Floats = std::vector<float>;
using Sizes = std::vector<std::uint32_t>;

inline ir::Shape to_shape(const Sizes& extents) {
    return ir::Shape(std::span(extents));
}

/// A result as it is stored: zero for a subnormal number, and one NaN.
inline float stored(float x) {
    if (std::isnan(x)) return std::bit_cast<float>(0x7fc00000U);
    return std::abs(x) < std::numeric_limits<float>::min() ? std::copysign(0.0F, x) : x;
}

inline std::vector<std::uint32_t> bits(const Floats& floats) {
    std::vector<std::uint32_t> words;
    for (const float x : floats) words.push_back(std::bit_cast<std::uint32_t>(x));
    return words;
}

/// Numbers of all sizes, with zeros of both signs, infinities and NaN between them.
inline Floats hard_floats(GraphParts& parts, std::size_t count) {
    Floats floats = parts.values(count);
    for (float& x : floats) {
        switch (parts.number(0, 19)) {
            case 0:
                x = 0.0F;
                break;
            case 1:
                x = -0.0F;
                break;
            case 2:
                x = std::numeric_limits<float>::infinity();
                break;
            case 3:
                x = stored(std::numeric_limits<float>::quiet_NaN());
                break;
            default:
                x = stored(std::ldexp(x, static_cast<int>(parts.number(0, 120)) - 90));
        }
    }
    return floats;
}

/// The elements of a float format that has all of them.
inline std::vector<std::uint8_t> bytes_in(DataType type, const Floats& floats) {
    if (type == DataType::Float32) return bytes_of(floats);
    std::vector<std::uint16_t> upper;
    for (const std::uint32_t word : bits(floats)) upper.push_back(static_cast<std::uint16_t>(word >> 16));
    return bytes_of(upper);
}

/// A graph of one node; inputs marked in `constants` are constants with these contents. Values have these
/// types, or float32; the result has its operator's type unless one is given.
inline ir::Graph graph_of_node(const std::string& op, const std::vector<ir::NamedAttribute>& attributes,
                               const std::vector<Sizes>& shapes, const std::vector<bool>& constants,
                               const std::vector<Floats>& contents, const std::vector<DataType>& types = {},
                               std::optional<DataType> result = {}) {
    ir::Graph graph;
    graph.name = "g";
    std::vector<ir::ValueId> inputs;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        const ir::Shape shape = to_shape(shapes[i]);
        const DataType type = types.empty() ? DataType::Float32 : types[i];
        if (!constants[i]) {
            inputs.push_back(graph.add_input("x", shape));
            graph.values.back().type = type;
        } else if (type == DataType::Float32) {
            inputs.push_back(graph.add_constant("c", shape, type, contents[i]));
        } else {
            const auto upper = numbers_of<std::uint16_t>(bytes_in(type, contents[i]));
            inputs.push_back(graph.add_constant("c", shape, type, upper));
        }
    }
    std::vector<ir::ResultType> results;
    if (result) results.push_back({.type = *result});
    graph.outputs = {
        graph.append("n", operators::registry().at(op), attributes, inputs, DataType::Uint8, results)};
    const std::string text = ir::to_text(graph);
    CHECK(ir::to_text(ir::parse_graph(text, "test", operators::registry())) == text);
    return graph;
}

inline Floats run(const ir::Graph& graph, const std::vector<Floats>& inputs, std::uint32_t batch) {
    std::vector<std::span<const float>> spans(inputs.begin(), inputs.end());
    return reference::execute(graph, spans, batch).front();
}

/// The element of a tensor at a place of a shape that it is broadcast to.
inline float broadcast_element(const Floats& elements, const Sizes& from, const Sizes& place) {
    std::size_t index = 0;
    for (std::size_t axis = 0; axis < from.size(); ++axis) {
        const std::uint32_t at = place[place.size() - from.size() + axis];
        index = index * from[axis] + (from[axis] == 1 ? 0 : at);
    }
    return elements[index];
}

/// Calls visit(place) for each element, row-major.
template <typename Visit>
void for_each_place(const Sizes& extents, const Visit& visit) {
    std::size_t count = 1;
    for (const std::uint32_t extent : extents) count *= extent;
    for (std::size_t i = 0; i < count; ++i) {
        Sizes place(extents.size());
        std::size_t rest = i;
        for (std::size_t axis = extents.size(); axis-- > 0; rest /= extents[axis]) {
            place[axis] = static_cast<std::uint32_t>(rest % extents[axis]);
        }
        visit(place);
    }
}

/// The nearest number of 8 significant bits, halves to the even one; beyond the largest bfloat16 infinity.
inline float nearest_bfloat16(float x) {
    if (x == 0.0F || !std::isfinite(x)) return x;
    int exponent = 0;
    const double fraction = std::frexp(double{x}, &exponent);  // 0.5 to 1
    const double nearest = std::ldexp(std::nearbyint(std::ldexp(fraction, 8)), exponent - 8);
    if (std::abs(nearest) > double{std::numeric_limits<float>::max()})
        return std::copysign(std::numeric_limits<float>::infinity(), x);
    return static_cast<float>(nearest);
}

/// Part `part` of an operand: what is infinite or no number leaves nothing.
inline float part_of(float x, std::size_t part) {
    for (; part > 0; --part) {
        const float nearest = nearest_bfloat16(x);
        x = std::isfinite(nearest) ? stored(x - nearest) : 0.0F;
    }
    return nearest_bfloat16(x);
}

/// The sum of products, in runs of `tile` and, for each run, in the passes of a precision; float32: operands
/// are multiplied as they are.
inline float product_of(const Floats& a, const Floats& b, std::size_t tile, const std::string& precision) {
    std::vector<std::pair<std::size_t, std::size_t>> passes{{0, 0}};
    if (precision == "high") passes = {{1, 0}, {0, 1}, {0, 0}};
    if (precision == "highest") passes = {{2, 0}, {1, 1}, {0, 2}, {1, 0}, {0, 1}, {0, 0}};
    float result = 0.0F;
    bool is_first = true;
    for (std::size_t first = 0; first < a.size(); first += tile) {
        for (const auto& [of_a, of_b] : passes) {
            float sum = 0.0F;
            for (std::size_t i = first; i < std::min(first + tile, a.size()); ++i) {
                const bool is_whole = precision == "float32";
                sum = stored(std::fma(is_whole ? a[i] : part_of(a[i], of_a),
                                      is_whole ? b[i] : part_of(b[i], of_b), sum));
            }
            result = is_first ? sum : stored(result + sum);
            is_first = false;
        }
    }
    return result;
}

}  // namespace systole::tests::words
