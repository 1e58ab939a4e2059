#include "compiler/target/tpu_v1/choose/choose_slices.h"

#include <algorithm>
#include <vector>

#include "base/arithmetic.h"
#include "compiler/target/tpu_v1/cost/cost.h"
#include "compiler/target/tpu_v1/cost/layer_costs.h"
#include "compiler/target/tpu_v1/network/array_weights.h"
#include "compiler/target/tpu_v1/network/parallel_layers.h"
#include "compiler/target/tpu_v1/network/tensor_parts.h"
#include "compiler/target/tpu_v1/schedule/layer_plan.h"
#include "compiler/target/tpu_v1/schedule/memory_plan.h"
#include "compiler/target/tpu_v1/schedule/schedule.h"
#include "hw/timing/transfers.h"

namespace systole::tpu_v1 {
namespace {

/// Slices of a batch that are tried beyond those that fit: with more, weights are what a slice waits for.
constexpr std::uint32_t further_slices = 7;
/// Fewer cycles than this share of the whole are within the error of the prediction.
constexpr double least_gain = 0.02;

class SliceCosts {
public:
    SliceCosts(const AnalysedNetwork& analysed, const Target& target, const machine::MachineConfig& machine,
               const MemoryPlan& memory)
        : analysed_(analysed),
          network_(analysed.network()),
          machine_(machine),
          costs_(analysed, target, machine),
          plans_(plan_layers(analysed, target)),
          input_bytes_(bytes_of_parts(analysed.inputs)),
          output_bytes_(bytes_of_parts(analysed.outputs)) {
        // An output that leaves by columns leaves while the others are computed.
        if (memory.outputs.size() == 1 && memory.tensors[memory.outputs[0].tensor].by_columns) {
            steps_of_output_ = plans_[memory.outputs[0].layer].tiling.columns.size();
        }
    }

    Cycle read(std::uint64_t images) const {
        return timing::host_read_cycles(images * input_bytes_, machine_);
    }
    Cycle write(std::uint64_t images) const {
        return timing::host_write_cycles(images * output_bytes_, machine_);
    }

    /// Of all slices.
    Cycle all(std::uint64_t slices, const MemoryPlan& plan) const {
        const Cycle in = read(plan.images_per_slice);
        const Cycle out = write(plan.images_per_slice);
        const Cycle middle = work(plan, 0, network_.layers.size());
        // From one slice to the next.
        Cycle interval = std::max({in, middle, out, weights(plan)});
        if (!plan.two_inputs)
            interval = std::max(interval, in + work(plan, 0, layers_until_input_is_read(plan)));
        if (!plan.two_outputs) interval = std::max(interval, out + last_work(plan) / steps_of_output_);
        if (!plan.overlap_transfers) interval = std::max(interval, in + middle);
        // Work begins with the first group, and what leaves by columns leaves during work.
        const Cycle lead = plan.groups.layers > 0 ? read(plan.groups.images) : in;
        const Cycle first = std::max(middle, in - lead);
        const Cycle tail =
            std::max(middle + out / steps_of_output_, middle / steps_of_output_ + out) - middle;
        return lead + first + (slices - 1) * interval + tail;
    }

private:
    /// Of layers [first, end) for one slice, one after the other; those in groups group by group.
    Cycle work(const MemoryPlan& plan, std::size_t first, std::size_t end) const {
        Cycle cycles = 0;
        for (std::size_t l = first; l < end; ++l) {
            if (!has_work(l)) continue;
            const std::uint32_t images = images_together(plan, l);
            cycles += plan.images_per_slice / images * work(l, images);
            if (const std::uint32_t rest = plan.images_per_slice % images; rest > 0) cycles += work(l, rest);
        }
        return cycles;
    }
    /// Of the layer that computes the last part of the output.
    Cycle last_work(const MemoryPlan& plan) const {
        if (plan.outputs.empty() || plan.outputs.back().layer >= network_.layers.size()) return 0;
        return work(plan, plan.outputs.back().layer, plan.outputs.back().layer + 1);
    }
    /// Of weight memory, and of the host link for spilled weights, for one slice, at least: each group
    /// fetches the tiles of its layers.
    Cycle weights(const MemoryPlan& plan) const {
        std::uint64_t resident = 0;
        std::uint64_t spilled = 0;
        for (std::size_t l = 0; l < network_.layers.size(); ++l) {
            if (!has_work(l)) continue;
            (plans_[l].spilled ? spilled : resident) +=
                costs_.tile_bytes(static_cast<std::uint32_t>(l), plans_[l].tiling.tiles) *
                divide_up(plan.images_per_slice, images_together(plan, l));
        }
        return timing::weight_read_cycles(resident, machine_) + timing::host_read_cycles(spilled, machine_);
    }

    bool has_work(std::size_t layer) const {
        return std::holds_alternative<MatrixProduct>(network_.layers[layer].work) && !plans_[layer].joined_to;
    }
    static std::uint32_t images_together(const MemoryPlan& plan, std::size_t layer) {
        return layer < plan.groups.layers ? plan.groups.images : plan.images_per_slice;
    }
    std::size_t layers_until_input_is_read(const MemoryPlan& plan) const {
        std::uint32_t last = 0;
        for (const HostPart& part : plan.inputs) {
            last = std::max(last, analysed_.last_steps[part.tensor]);
        }
        return std::min<std::size_t>(last, network_.layers.size());
    }

    Cycle work(std::size_t layer, std::uint32_t images) const {
        return costs_.product_cycles(static_cast<std::uint32_t>(layer), plans_[layer], images);
    }

    std::uint64_t bytes_of_parts(const std::vector<HostPart>& parts) const {
        std::uint64_t bytes = 0;
        for (const HostPart& part : parts) bytes += image_bytes(network_.tensors[part.tensor]);
        return bytes;
    }

    const AnalysedNetwork& analysed_;
    const Network& network_;
    const machine::MachineConfig& machine_;
    const LayerCosts costs_;
    const std::vector<LayerPlan> plans_;
    const std::uint64_t input_bytes_;  ///< of one image
    const std::uint64_t output_bytes_;
    std::uint64_t steps_of_output_ = 1;
};

/// The numbers of slices that a batch may be cut into: half as many as the first plan takes, a quarter, …,
/// one, and, if transfers are worth it, some more.
std::vector<std::uint32_t> slice_counts(std::uint32_t batch, std::uint32_t first, bool more) {
    std::vector<std::uint32_t> counts;
    for (std::uint32_t count = first / 2; count > 0; count /= 2) counts.push_back(count);
    for (std::uint32_t i = 1; more && i <= further_slices && first + i <= batch; ++i)
        counts.push_back(first + i);
    return counts;
}

}  // namespace

SliceAlternatives compare_slices(const AnalysedNetwork& analysed, const Target& target,
                                 const machine::MachineConfig& machine, const mapping::Batches& batches) {
    const MemoryPlan first = plan_schedule(analysed, target, batches).memory;
    const auto batch = static_cast<std::uint32_t>(std::min<std::uint64_t>(batches.batch, batches.inferences));
    if (batch < 2 || !LayerCosts(analysed, target, machine).supports_all()) return {};
    const SliceCosts costs(analysed, target, machine, first);

    const std::uint64_t batch_count = divide_up(batches.inferences, std::uint64_t{batch});
    SliceAlternatives compared;
    const auto add = [&](std::uint32_t slices, const MemoryPlan& plan) {
        compared.alternatives.push_back({.images = plan.images_per_slice,
                                         .slices = batch_count * slices,
                                         .cycles = costs.all(batch_count * slices, plan)});
    };
    const std::uint32_t first_slices = divide_up(batch, first.images_per_slice);
    add(first_slices, first);
    const auto before = static_cast<double>(compared.alternatives.front().cycles);
    const bool transfers_matter =
        static_cast<double>(costs.read(batch) + costs.write(batch)) >= least_gain * before;
    for (const std::uint32_t slices : slice_counts(batch, first_slices, transfers_matter)) {
        Target cut = target;
        cut.choices.slice_images = divide_up(batch, slices);
        if (divide_up(batch, cut.choices.slice_images) != slices) continue;
        const MemoryPlan plan = plan_schedule(analysed, cut, batches).memory;
        if (plan.images_per_slice == cut.choices.slice_images) add(slices, plan);
    }
    const auto fewest = std::ranges::min_element(compared.alternatives, {}, &SliceAlternative::cycles);
    if (static_cast<double>(fewest->cycles) < (1.0 - least_gain) * before) {
        compared.chosen = static_cast<std::size_t>(fewest - compared.alternatives.begin());
    }
    return compared;
}

}  // namespace systole::tpu_v1
