#include "compiler/schedule/layer_graph.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>

namespace systole::schedule {
namespace {

/// The rows that are used together, by what is computed together.
struct UsedRows {
    std::vector<TensorRows> read;
    std::vector<TensorRows> written;
};

bool any_conflict(const std::vector<TensorRows>& a, const std::vector<TensorRows>& b) {
    return std::ranges::any_of(a, [&](const TensorRows& one) {
        return std::ranges::any_of(b, [&](const TensorRows& other) { return one.conflicts(other); });
    });
}

bool any_conflict(const UsedRows& a, const UsedRows& b) {
    return any_conflict(a.written, b.written) || any_conflict(a.written, b.read) ||
           any_conflict(a.read, b.written);
}

}  // namespace

LayerGraph layer_graph(std::span<const mapping::LayerTensors> layers,
                       std::span<const std::uint32_t> computed_with, std::span<const TensorRows> rows) {
    const std::size_t count = layers.size();
    std::vector<std::set<std::uint32_t>> before(count);
    std::vector<std::optional<std::uint32_t>> producer(rows.size());
    std::vector<UsedRows> used(count);
    for (std::uint32_t l = 0; l < count; ++l) {
        // What is computed together is one node: that of the layer which computes it.
        const std::uint32_t node = computed_with[l];
        for (const mapping::TensorId input : layers[l].inputs) {
            if (producer[input] && *producer[input] != node) before[node].insert(*producer[input]);
            used[node].read.push_back(rows[input]);
        }
        for (const mapping::TensorId output : layers[l].outputs) {
            producer[output] = node;
            used[node].written.push_back(rows[output]);
        }
        if (node != l) before[l].insert(node);
    }
    for (std::uint32_t l = 0; l < count; ++l) {
        for (std::uint32_t earlier = 0; earlier < l; ++earlier) {
            if (any_conflict(used[l], used[earlier])) before[l].insert(earlier);
        }
    }
    LayerGraph graph;
    graph.after.resize(count);
    for (std::uint32_t l = 0; l < count; ++l) {
        graph.step.push_back(computed_with[l] + 1);
        graph.before.emplace_back(before[l].begin(), before[l].end());
        for (const std::uint32_t earlier : before[l]) graph.after[earlier].push_back(l);
    }
    return graph;
}

}  // namespace systole::schedule
