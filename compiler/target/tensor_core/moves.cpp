#include "compiler/target/tensor_core/moves.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <numeric>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "compiler/reference/executor.h"
#include "hw/math/floats/float_values.h"

namespace systole::tensor_core {
namespace {

using Words = std::vector<std::uint32_t>;

/// The type in which elements are moved to find their origins: a bfloat16 does not hold enough numbers.
DataType moved_as(DataType type) {
    return type == DataType::Bfloat16 ? DataType::Float32 : type;
}

/// The node alone in a graph whose inputs are its sources.
ir::Graph graph_of(const ir::NodeView& view, const std::vector<std::size_t>& sources) {
    ir::Graph graph;
    graph.name = view.graph().name;
    ir::Node node = view.node();
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        ir::Value value = view.input(i);
        const auto id = static_cast<ir::ValueId>(graph.values.size());
        if (std::ranges::find(sources, i) != sources.end()) {
            value = {.name = value.name, .shape = value.shape, .type = moved_as(value.type)};
            graph.inputs.push_back(id);
        }
        graph.values.push_back(std::move(value));
        node.inputs[i] = id;
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        const auto id = static_cast<ir::ValueId>(graph.values.size());
        const ir::Value& value = view.output(i);
        graph.values.push_back({.name = value.name, .shape = value.shape, .type = moved_as(value.type)});
        graph.outputs.push_back(id);
        node.outputs[i] = id;
    }
    // Data that are constants in the network are inputs here.
    node.stated_data = static_cast<std::uint32_t>(view.data_inputs());
    graph.nodes.push_back(std::move(node));
    return graph;
}

/// A whole number as a word of a type, and back.
std::uint32_t word_of(std::uint64_t number, DataType type) {
    if (type != DataType::Float32) return static_cast<std::uint32_t>(number);
    return std::bit_cast<std::uint32_t>(static_cast<float>(number));
}
std::uint64_t number_of(std::uint32_t word, DataType type) {
    return type == DataType::Float32 ? static_cast<std::uint64_t>(std::bit_cast<float>(word)) : word;
}

/// The node's results, as words, where element i of source s is number(s, i).
template <class Number>
std::vector<Words> results_of(const ir::Graph& graph, const Number& number) {
    std::vector<Words> words;
    std::vector<std::span<const std::uint8_t>> inputs;
    for (std::size_t source = 0; source < graph.inputs.size(); ++source) {
        const ir::Value& value = graph.values[graph.inputs[source]];
        Words& all = words.emplace_back(value.shape.elements());
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = word_of(number(source, i), value.type);
    }
    inputs.reserve(words.size());
    for (const Words& all : words) {
        inputs.emplace_back(reinterpret_cast<const std::uint8_t*>(all.data()),
                            all.size() * sizeof(std::uint32_t));
    }
    std::vector<Words> results;
    for (const reference::TensorBytes& bytes : reference::run(graph, inputs, 1)) {
        Words& result = results.emplace_back(bytes.size() / sizeof(std::uint32_t));
        std::memcpy(result.data(), bytes.data(), bytes.size());
    }
    return results;
}

}  // namespace

bool only_moves(const ir::Node& node) {
    static constexpr std::array<std::string_view, 15> names{
        "concat",        "depth_to_space", "expand",    "gather",       "identity",
        "pad",           "reshape",        "resize",    "slice",        "space_to_depth",
        "strided_slice", "tile",           "transpose", "zero_padding", "constant"};
    if (std::ranges::find(names, node.op->name()) == names.end()) return false;
    if (node.is("resize")) return node.text("mode") == "nearest";
    return true;
}

std::vector<std::size_t> moved_inputs(const ir::NodeView& node) {
    // Indices are known.
    if (node.node().is("gather")) return {0};
    std::vector<std::size_t> all(node.node().inputs.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
}

std::vector<OriginMap> origins_of(const ir::NodeView& node, const std::vector<std::size_t>& sources) {
    // A float32 holds whole numbers below 2^24: places are found by their digits to this base.
    constexpr std::size_t base = std::size_t{1} << 22U;
    const ir::Graph graph = graph_of(node, sources);
    std::size_t most = 0;
    for (const ir::ValueId input : graph.inputs)
        most = std::max<std::size_t>(most, graph.values[input].shape.elements());
    const std::vector<Words> low = results_of(graph, [](std::size_t, std::size_t i) { return i % base; });
    std::vector<Words> high;
    if (most > base) high = results_of(graph, [](std::size_t, std::size_t i) { return i / base; });
    // What does not depend on the sources comes from none.
    const std::vector<Words> source = results_of(graph, [](std::size_t s, std::size_t) { return s; });
    const std::vector<Words> other = results_of(graph, [](std::size_t s, std::size_t) { return s + 1000; });
    std::vector<OriginMap> origins;
    for (std::size_t result = 0; result < low.size(); ++result) {
        OriginMap& all = origins.emplace_back(low[result].size());
        const DataType type = graph.values[graph.outputs[result]].type;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const std::uint32_t word = source[result][i];
            if (word == other[result][i]) {
                all[i] = {.source = Origin::none, .element = word};
                if (node.output(result).type == DataType::Bfloat16) {
                    all[i].element =
                        std::bit_cast<std::uint32_t>(math::rounded_to_bfloat16(std::bit_cast<float>(word)));
                }
                continue;
            }
            all[i] = {.source = static_cast<std::uint32_t>(number_of(word, type)),
                      .element = number_of(low[result][i], type)};
            if (!high.empty()) all[i].element += base * number_of(high[result][i], type);
        }
    }
    return origins;
}

std::vector<MovedRows> rows_of_origins(const OriginMap& origins, std::uint64_t columns,
                                       const std::vector<std::uint64_t>& source_columns) {
    using Columns = std::tuple<std::uint64_t, std::uint64_t, std::uint32_t, std::uint64_t>;
    std::map<std::vector<Columns>, std::size_t> found;
    std::vector<MovedRows> all;
    for (std::uint64_t row = 0; row * columns < origins.size(); ++row) {
        const Origin* const elements = origins.data() + row * columns;
        std::vector<Columns> parts;
        std::vector<std::uint64_t> from_rows;
        for (std::uint64_t column = 0; column < columns;) {
            const Origin& first = elements[column];
            const bool is_none = first.source == Origin::none;
            const std::uint64_t width = is_none ? columns : source_columns[first.source];
            const std::uint64_t from = is_none ? first.element : first.element % width;
            const std::uint64_t most = std::min(columns - column, is_none ? columns : width - from);
            std::uint64_t count = 1;
            while (count < most && elements[column + count].source == first.source &&
                   elements[column + count].element == first.element + (is_none ? 0 : count)) {
                ++count;
            }
            parts.emplace_back(column, count, first.source, from);
            from_rows.push_back(is_none ? 0 : first.element / width);
            column += count;
        }
        const auto [place, is_new] = found.try_emplace(parts, all.size());
        if (is_new) {
            MovedRows& moved = all.emplace_back();
            for (const auto& [to, count, source, from] : parts)
                moved.columns.push_back({.to = to, .count = count, .source = source, .from = from});
        }
        MovedRows& moved = all[place->second];
        moved.rows.push_back(row);
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (moved.columns[i].source != Origin::none) moved.columns[i].rows.push_back(from_rows[i]);
        }
    }
    return all;
}

}  // namespace systole::tensor_core
