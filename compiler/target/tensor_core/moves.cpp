#include "compiler/target/tensor_core/moves.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "compiler/reference/executor.h"

namespace systole::tensor_core {
namespace {

/// The node alone in a graph whose inputs are its sources.
ir::Graph graph_of(const ir::NodeView& view, const std::vector<std::size_t>& sources) {
    ir::Graph graph;
    graph.name = view.graph().name;
    ir::Node node = view.node();
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        ir::Value value = view.input(i);
        const auto id = static_cast<ir::ValueId>(graph.values.size());
        if (std::ranges::find(sources, i) != sources.end()) {
            value = {.name = value.name, .shape = value.shape};
            graph.inputs.push_back(id);
        }
        graph.values.push_back(std::move(value));
        node.inputs[i] = id;
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        const auto id = static_cast<ir::ValueId>(graph.values.size());
        graph.values.push_back({.name = view.output(i).name, .shape = view.output(i).shape});
        graph.outputs.push_back(id);
        node.outputs[i] = id;
    }
    // Data that are constants in the network are inputs here.
    node.stated_data = static_cast<std::uint32_t>(view.data_inputs());
    graph.nodes.push_back(std::move(node));
    return graph;
}

/// The node's results where element i of source s is number(s, i).
template <class Number>
std::vector<std::vector<float>> results_of(const ir::Graph& graph, const Number& number) {
    std::vector<std::vector<float>> numbers;
    for (std::size_t source = 0; source < graph.inputs.size(); ++source) {
        std::vector<float>& all = numbers.emplace_back(graph.values[graph.inputs[source]].shape.elements());
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = number(source, i);
    }
    std::vector<std::span<const float>> inputs(numbers.begin(), numbers.end());
    return reference::execute(graph, inputs, 1);
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

std::vector<OriginMap> origins_of(const ir::NodeView& node, const std::vector<std::size_t>& sources) {
    // A float32 holds whole numbers below 2^24: places are found by their digits to this base.
    constexpr std::size_t base = std::size_t{1} << 22U;
    const ir::Graph graph = graph_of(node, sources);
    std::size_t most = 0;
    for (const ir::ValueId input : graph.inputs)
        most = std::max<std::size_t>(most, graph.values[input].shape.elements());
    using Numbers = std::vector<std::vector<float>>;
    const Numbers low =
        results_of(graph, [](std::size_t, std::size_t i) { return static_cast<float>(i % base); });
    const Numbers high = most <= base ? Numbers{} : results_of(graph, [](std::size_t, std::size_t i) {
        const std::size_t quotient = i / base;
        return static_cast<float>(quotient);
    });
    // What does not depend on the sources comes from none.
    const Numbers source =
        results_of(graph, [](std::size_t s, std::size_t) { return static_cast<float>(s); });
    const Numbers other =
        results_of(graph, [](std::size_t s, std::size_t) { return static_cast<float>(s) + 1000.0F; });
    std::vector<OriginMap> origins;
    for (std::size_t result = 0; result < low.size(); ++result) {
        OriginMap& all = origins.emplace_back(low[result].size());
        for (std::size_t i = 0; i < all.size(); ++i) {
            const auto bits = std::bit_cast<std::uint32_t>(source[result][i]);
            if (bits == std::bit_cast<std::uint32_t>(other[result][i])) {
                all[i] = {.source = Origin::none, .element = bits};
                continue;
            }
            all[i] = {.source = static_cast<std::uint32_t>(source[result][i]),
                      .element = static_cast<std::uint64_t>(low[result][i])};
            if (!high.empty()) all[i].element += base * static_cast<std::uint64_t>(high[result][i]);
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
