#include "compiler/target/tpu_v1/schedule/layer_graph.h"

#include <algorithm>
#include <set>

#include "compiler/target/tpu_v1/network/tensor_parts.h"

namespace systole::tpu_v1 {
namespace {

/// The rows of all images of a tensor.
struct Rows {
    TensorId whole = 0;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;

    bool conflicts(const Rows& other) const {
        return whole != other.whole && begin < other.end && other.begin < end;
    }
};

class Finder {
public:
    Finder(const AnalysedNetwork& analysed, const Schedule& schedule)
        : network_(analysed.network()), schedule_(schedule), parts_(analysed.parts) {}

    LayerGraph find() {
        const std::size_t layers = network_.layers.size();
        std::vector<std::set<std::uint32_t>> before(layers);
        std::vector<std::uint32_t> producer(network_.tensors.size(), none);
        std::vector<std::vector<Rows>> read(layers), written(layers);
        for (std::uint32_t l = 0; l < layers; ++l) {
            const Layer& layer = network_.layers[l];
            // What is computed together is one node: that of the layer which computes it.
            const std::uint32_t node = computed_at(l);
            for (const TensorId input : layer.inputs) {
                if (producer[input] != none && producer[input] != node) before[node].insert(producer[input]);
                read[node].push_back(rows_of(input));
            }
            for (const TensorId output : outputs_of(layer)) {
                producer[output] = node;
                written[node].push_back(rows_of(output));
            }
            if (node != l) before[l].insert(node);
        }
        const auto any_conflict = [](const std::vector<Rows>& a, const std::vector<Rows>& b) {
            return std::ranges::any_of(a, [&](const Rows& one) {
                return std::ranges::any_of(b, [&](const Rows& other) { return one.conflicts(other); });
            });
        };
        for (std::uint32_t l = 0; l < layers; ++l) {
            for (std::uint32_t earlier = 0; earlier < l; ++earlier) {
                if (any_conflict(written[l], written[earlier]) || any_conflict(written[l], read[earlier]) ||
                    any_conflict(read[l], written[earlier])) {
                    before[l].insert(earlier);
                }
            }
        }
        LayerGraph graph;
        graph.after.resize(layers);
        for (std::uint32_t l = 0; l < layers; ++l) {
            graph.step.push_back(computed_at(l) + 1);
            graph.before.emplace_back(before[l].begin(), before[l].end());
            for (const std::uint32_t earlier : before[l]) graph.after[earlier].push_back(l);
        }
        return graph;
    }

private:
    static constexpr std::uint32_t none = 0xFFFFFFFF;

    std::uint32_t computed_at(std::uint32_t layer) const {
        return schedule_.layers[layer].joined_to.value_or(layer);
    }
    Rows rows_of(TensorId id) const {
        const TensorId whole = parts_[id].whole;
        const TensorPlacement& place = schedule_.memory.tensors[whole];
        return {.whole = whole,
                .begin = place.row,
                .end = place.row + std::uint64_t{place.image_rows} * place.images};
    }

    const Network& network_;
    const Schedule& schedule_;
    const std::vector<TensorPart>& parts_;
};

}  // namespace

LayerGraph layer_graph(const AnalysedNetwork& analysed, const Schedule& schedule) {
    return Finder(analysed, schedule).find();
}

}  // namespace systole::tpu_v1
