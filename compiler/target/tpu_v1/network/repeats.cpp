// Layers that do the same work on other data.
#include "compiler/target/tpu_v1/network/repeats.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <variant>
#include <vector>

namespace systole::tpu_v1 {
namespace {

/// Whether two layers of the same kind of work do the same.
struct DoSame {
    const Layer& with;

    template <typename Same>
    bool operator()(const Same& work) const {
        return work == std::get<Same>(with.work);
    }
    bool operator()(const Slice&) const { return true; }
    bool operator()(const HostSegment& segment) const {
        return segment.layers == std::get<HostSegment>(with.work).layers;
    }
    bool operator()(const Fetch&) const { return true; }
    bool operator()(const Send&) const { return true; }
};

/// Of each name, so many layers with different work may be repeated.
constexpr std::size_t most_firsts = 8;

class Repeats {
public:
    explicit Repeats(const Network& network) : network_(network) {}

    bool repeats(const Layer& layer, const Layer& first) const {
        if (layer.work.index() != first.work.index() || layer.inputs.size() != first.inputs.size())
            return false;
        const auto* const product = std::get_if<MatrixProduct>(&layer.work);
        if (product != nullptr && writes_weights(*product)) return false;
        for (std::size_t i = 0; i < layer.inputs.size(); ++i) {
            if (!are_alike(layer.inputs[i], first.inputs[i])) return false;
        }
        return are_alike(layer.output, first.output) && std::visit(DoSame{first}, layer.work);
    }

private:
    bool are_alike(TensorId a, TensorId b) const {
        const Tensor& one = network_.tensors[a];
        const Tensor& other = network_.tensors[b];
        return one.shape == other.shape && one.type == other.type;
    }

    const Network& network_;
};

/// Keeps one of two equal tables.
void share_table(const Layer& first, Layer& layer) {
    if (auto* const work = std::get_if<Elementwise>(&layer.work))
        work->table = std::get<Elementwise>(first.work).table;
    if (auto* const product = std::get_if<MatrixProduct>(&layer.work))
        product->requantization.table = std::get<MatrixProduct>(first.work).requantization.table;
}

}  // namespace

void share_repeats(Network& network, std::span<const std::string> names) {
    if (names.empty()) return;
    const std::set<std::string_view> repeated(names.begin(), names.end());
    const Repeats repeats(network);
    std::map<std::string_view, std::vector<std::uint32_t>> firsts;
    for (std::uint32_t l = 0; l < network.layers.size(); ++l) {
        Layer& layer = network.layers[l];
        const auto name = repeated.find(layer.name);
        if (name == repeated.end()) continue;
        std::vector<std::uint32_t>& of_name = firsts[*name];
        for (const std::uint32_t first : of_name) {
            if (!repeats.repeats(layer, network.layers[first])) continue;
            layer.repeats = first;
            share_table(network.layers[first], layer);
            break;
        }
        if (!layer.repeats && of_name.size() < most_firsts) of_name.push_back(l);
    }
}

}  // namespace systole::tpu_v1
