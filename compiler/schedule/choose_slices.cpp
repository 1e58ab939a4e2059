#include "compiler/schedule/choose_slices.h"

#include <algorithm>
#include <vector>

#include "compiler/mapping/cost.h"
#include "compiler/schedule/array_weights.h"
#include "compiler/schedule/layer_plan.h"
#include "compiler/schedule/mapped_product.h"
#include "compiler/schedule/memory_plan.h"
#include "compiler/schedule/schedule.h"
#include "compiler/schedule/tensor_parts.h"
#include "hw/base/arithmetic.h"
#include "hw/timing/transfers.h"

namespace systole::schedule {
namespace {

/// Slices of a batch that are tried beyond the fewest: with more, weights are what a slice waits for.
constexpr std::uint32_t further_slices = 7;
/// Fewer cycles than this share of the whole are within the error of the prediction.
constexpr double least_gain = 0.02;

class SliceCosts {
public:
    SliceCosts(const mapping::Network& network, const Target& target, const machine::MachineConfig& machine,
               const MemoryPlan& memory)
        : network_(network),
          target_(target),
          machine_(machine),
          plans_(plan_layers(network, target)),
          parts_(place_parts(network)) {
        // An output that leaves by columns leaves while the others are computed.
        if (memory.outputs.size() == 1 && memory.tensors[memory.outputs[0].tensor].by_columns) {
            steps_of_output_ = plans_[memory.outputs[0].layer].tiling.columns.size();
        }
    }

    /// Whether the costs of all layers are known.
    bool can_predict() const {
        for (const mapping::Layer& layer : network_.layers) {
            if (mapping::runs_on_host(layer)) return false;
            const auto* const product = std::get_if<mapping::MatrixProduct>(&layer.work);
            if (product == nullptr) continue;
            const DataType activations = network_.tensors[layer.inputs[0]].type;
            if (!machine_.matrix_unit.passes(activations, array_weights(*product, target_).type))
                return false;
        }
        return true;
    }

    Cycle read(std::uint64_t images) const {
        return timing::host_read_cycles(images * bytes_of_parts(input_parts(network_)), machine_);
    }
    Cycle write(std::uint64_t images) const {
        return timing::host_write_cycles(images * bytes_of_parts(output_parts(network_)), machine_);
    }

    /// Of all layers, one after the other.
    Cycle work(std::uint32_t images) const {
        Cycle cycles = 0;
        for (std::size_t l = 0; l < network_.layers.size(); ++l) {
            const mapping::Layer& layer = network_.layers[l];
            if (!std::holds_alternative<mapping::MatrixProduct>(layer.work) || plans_[l].joined_to) continue;
            const std::uint32_t bytes = pixel_bytes_of(network_.tensors[parts_[layer.output].whole]);
            cycles += mapping::predicted_cycles(
                mapped_product({network_, layer, target_}, plans_[l], images, bytes), machine_);
        }
        return cycles;
    }

    /// Of `slices` slices of `images` images.
    Cycle all(std::uint64_t slices, std::uint32_t images) const {
        const Cycle in = read(images);
        const Cycle middle = work(images);
        const Cycle out = write(images);
        const Cycle last = std::max(middle + out / steps_of_output_, middle / steps_of_output_ + out);
        return in + (slices - 1) * std::max({in, middle, out}) + last;
    }

private:
    std::uint64_t bytes_of_parts(const std::vector<HostPart>& parts) const {
        std::uint64_t bytes = 0;
        for (const HostPart& part : parts) bytes += mapping::image_bytes(network_.tensors[part.tensor]);
        return bytes;
    }

    const mapping::Network& network_;
    const Target& target_;
    const machine::MachineConfig& machine_;
    const std::vector<LayerPlan> plans_;
    const std::vector<TensorPart> parts_;
    std::uint64_t steps_of_output_ = 1;
};

}  // namespace

SliceAlternatives compare_slices(const mapping::Network& network, const Target& target,
                                 const machine::MachineConfig& machine, const Options& options) {
    const MemoryPlan largest = plan_memory_of(network, target, options);
    if (largest.groups.layers > 0 || largest.images_per_slice < 2) return {};
    const SliceCosts costs(network, target, machine, largest);
    if (!costs.can_predict()) return {};
    const auto batch = static_cast<std::uint32_t>(std::min<std::uint64_t>(options.batch, options.inferences));
    const std::uint64_t batches = divide_up(options.inferences, std::uint64_t{batch});
    const std::uint32_t fewest = divide_up(batch, largest.images_per_slice);
    SliceAlternatives compared;
    for (std::uint32_t slices = fewest; slices <= std::min(fewest + further_slices, batch); ++slices) {
        const std::uint32_t images = divide_up(batch, slices);
        if (divide_up(batch, images) != slices) continue;
        compared.alternatives.push_back(
            {.images = images, .slices = batches * slices, .cycles = costs.all(batches * slices, images)});
        const auto first = static_cast<double>(compared.alternatives.front().cycles);
        // Transfers that are this short cannot be worth more slices.
        if (static_cast<double>(costs.read(batch) + costs.write(batch)) < least_gain * first) return {};
        const Cycle best = compared.alternatives[compared.chosen].cycles;
        const bool is_clear =
            static_cast<double>(compared.alternatives.back().cycles) < (1.0 - least_gain) * first;
        if (is_clear && compared.alternatives.back().cycles < best) {
            compared.chosen = compared.alternatives.size() - 1;
        }
    }
    return compared;
}

}  // namespace systole::schedule
