#include "compiler/target/tpu_v1/choose/cut_network.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

namespace systole::tpu_v1 {
namespace {

using Kind = StripStep::Kind;

class NetworkCutter {
public:
    NetworkCutter(const AnalysedNetwork& analysed, const Homes& homes)
        : analysed_(analysed), homes_(homes), from_(analysed.network()), first_parts_(from_.layers.size()) {
        cut_.network.name = from_.name;
        cut_.network.tensors = from_.tensors;
        cut_.network.inputs = from_.inputs;
        cut_.network.outputs = from_.outputs;
        cut_.network.output_shapes = from_.output_shapes;
        cut_.network.has_weights = from_.has_weights;
        cut_.network.host_operations = from_.host_operations;
        on_chip_.resize(from_.tensors.size());
    }

    void add(const LayerRun& run) {
        std::map<TensorId, std::vector<TensorId>> kept;
        for (std::uint32_t number = 0; number < run.strips; ++number) {
            const std::optional<Strip> strip = plan_strip(analysed_, homes_, run, number);
            if (!strip) throw std::logic_error("a run of layers that cannot be cut into these strips");
            const std::vector<TensorId> pieces = tensors_of(*strip);
            for (const StripStep& step : strip->steps) add_step(run, *strip, step, pieces);
            for (const std::size_t piece : strip->kept) {
                kept[strip->pieces[piece].tensor].push_back(pieces[piece]);
            }
        }
        for (const auto& [id, lines] : kept) {
            const std::uint32_t maker = *analysed_.uses[id].maker;
            add_layer({.name = from_.layers[maker].name,
                       .inputs = lines,
                       .output = on_chip(id),
                       .work = Concatenation{.axis = Concatenation::Axis::Lines}},
                      maker, true);
        }
    }

    CutNetwork take() {
        // By layer of the given network that others repeat: the first of them all that is whole.
        std::vector<std::optional<std::uint32_t>> repeated(from_.layers.size());
        for (std::uint32_t l = 0; l < cut_.network.layers.size(); ++l) {
            const std::uint32_t whole = cut_.whole_layers[l];
            Layer& layer = cut_.network.layers[l];
            layer.repeats.reset();
            if (is_part_[l] || layer.work.index() != from_.layers[whole].work.index()) continue;
            std::optional<std::uint32_t>& first = repeated[from_.layers[whole].repeats.value_or(whole)];
            if (first) layer.repeats = first;
            if (!first) first = l;
        }
        for (std::size_t l = 0; l < cut_.network.layers.size(); ++l) {
            const std::uint32_t whole = cut_.whole_layers[l];
            const std::optional<std::uint32_t> part_of = from_.layers[whole].part_of;
            if (!is_part_[l] && !part_of) continue;
            cut_.network.layers[l].part_of = first_parts_[part_of.value_or(whole)].value();
        }
        return std::move(cut_);
    }

private:
    TensorId new_tensor(Tensor tensor) {
        cut_.network.tensors.push_back(std::move(tensor));
        return static_cast<TensorId>(cut_.network.tensors.size() - 1);
    }

    /// The whole tensor on the chip, which keeps its number unless that is its place in host memory.
    TensorId on_chip(TensorId id) {
        if (!on_chip_[id]) on_chip_[id] = homes_.in_host[id] ? new_tensor(from_.tensors[id]) : id;
        return *on_chip_[id];
    }

    std::vector<TensorId> tensors_of(const Strip& strip) {
        std::vector<TensorId> tensors;
        for (const StripPiece& piece : strip.pieces) {
            if (piece.is_resident) {
                tensors.push_back(on_chip(piece.tensor));
                continue;
            }
            Tensor tensor = from_.tensors[piece.tensor];
            if (piece.lines.count() < tensor.shape.height) {
                tensor.name += fmt::format("[{}..{}]", piece.lines.first, piece.lines.end - 1);
                tensor.shape.height = piece.lines.count();
            }
            tensors.push_back(new_tensor(std::move(tensor)));
        }
        return tensors;
    }

    void add_layer(Layer layer, std::uint32_t whole, bool is_part) {
        cut_.whole_layers.push_back(whole);
        is_part_.push_back(is_part);
        cut_.network.layers.push_back(std::move(layer));
    }

    void add_step(const LayerRun& run, const Strip& strip, const StripStep& step,
                  const std::vector<TensorId>& pieces) {
        if (step.kind == Kind::Compute) return add_work(run, strip, step, pieces);
        Layer layer{.name = from_.layers[step.layer].name, .inputs = {}, .output = 0, .work = {}};
        switch (step.kind) {
            case Kind::Fetch:
                layer.inputs = {step.host_tensor};
                layer.output = pieces[step.output];
                layer.work = Fetch{.first_element = step.first_element};
                break;
            case Kind::View:
                layer.inputs = {pieces[step.inputs[0]]};
                layer.output = pieces[step.output];
                layer.work = Slice{.first_element = step.first_element};
                break;
            case Kind::Send:
                layer.inputs = {pieces[step.inputs[0]]};
                layer.output = step.host_tensor;
                layer.work = Send{.first_element = step.first_element};
                break;
            case Kind::Compute:
                break;
        }
        // A slice of a tensor in host memory is its layer itself.
        const bool is_part =
            step.kind != Kind::Fetch || !std::holds_alternative<Slice>(from_.layers[step.layer].work);
        if (!is_part) first_parts_[step.layer] = static_cast<std::uint32_t>(cut_.network.layers.size());
        add_layer(std::move(layer), step.layer, is_part);
    }

    void add_work(const LayerRun& run, const Strip& strip, const StripStep& step,
                  const std::vector<TensorId>& pieces) {
        Layer layer = from_.layers[step.layer];
        if (!runs_on_host(layer)) {
            for (std::size_t i = 0; i < layer.inputs.size(); ++i) layer.inputs[i] = pieces[step.inputs[i]];
            layer.output = pieces[step.output];
        }
        std::optional<std::uint32_t>& first = first_parts_[step.layer];
        if (first) layer.macs = 0;
        if (!first) first = static_cast<std::uint32_t>(cut_.network.layers.size());
        if (run.strips > 1) {
            const Lines& output = strip.pieces[step.output].lines;
            const Lines& input = strip.pieces[step.inputs[0]].lines;
            const std::uint32_t height = from_.tensors[from_.layers[step.layer].inputs[0]].shape.height;
            const auto cut = [&](ir::Window& window) {
                window = window_of_strip(window, input, output, height);
            };
            if (auto* const product = std::get_if<MatrixProduct>(&layer.work)) cut(*product->window);
            if (auto* const pooling = std::get_if<Pooling>(&layer.work)) cut(pooling->window);
        }
        add_layer(std::move(layer), step.layer, run.strips > 1);
    }

    const AnalysedNetwork& analysed_;
    const Homes& homes_;
    const Network& from_;
    CutNetwork cut_;
    std::vector<std::optional<TensorId>> on_chip_;           ///< by tensor of the given network
    std::vector<std::optional<std::uint32_t>> first_parts_;  ///< by layer of the given network
    std::vector<bool> is_part_;                              ///< by layer of the result
};

}  // namespace

CutNetwork cut_network(const AnalysedNetwork& analysed, const Homes& homes,
                       const std::vector<LayerRun>& runs) {
    NetworkCutter cutter(analysed, homes);
    for (const LayerRun& run : runs) cutter.add(run);
    return cutter.take();
}

}  // namespace systole::tpu_v1
