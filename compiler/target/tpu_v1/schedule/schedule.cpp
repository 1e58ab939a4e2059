#include "compiler/target/tpu_v1/schedule/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "base/arithmetic.h"
#include "compiler/ir/model_error.h"
#include "compiler/target/tpu_v1/network/parallel_layers.h"
#include "compiler/target/tpu_v1/network/sum_check.h"
#include "compiler/target/tpu_v1/schedule/layer_lowering.h"
#include "compiler/target/tpu_v1/schedule/layer_plan.h"
#include "compiler/target/tpu_v1/schedule/order_steps.h"

namespace systole::tpu_v1 {
namespace {

/// The images of a batch that go through the network together.
struct BatchSlice {
    std::uint64_t first_inference = 0;
    std::uint32_t first_image = 0;  ///< the place of the first image in the unified buffer
    std::uint32_t images = 0;
};

std::vector<BatchSlice> slice_batches(const mapping::Batches& batches, const MemoryPlan& memory) {
    std::vector<BatchSlice> slices;
    for (std::uint64_t first = 0; first < batches.inferences;) {
        const std::uint64_t left = batches.inferences - first;
        const auto images = static_cast<std::uint32_t>(std::min<std::uint64_t>(batches.batch, left));
        for (const Piece& piece : cut_evenly(images, memory.images_per_slice)) {
            const auto place = static_cast<std::uint32_t>(slices.size() % memory.turn);
            slices.push_back({.first_inference = first + piece.first,
                              .first_image = place * memory.images_per_slice,
                              .images = piece.count});
        }
        first += images;
    }
    return slices;
}

void check_batches(const Network& network, const mapping::Batches& batches) {
    const auto check = [&](const char* what, std::uint64_t value) {
        if (value == 0) {
            throw ModelError(fmt::format("{}: {} is 0; it must be at least 1", network.name, what));
        }
    };
    check("batch", batches.batch);
    check("inferences", batches.inferences);
}

/// A program contains all inferences, so their number is limited: beyond this number of operations,
/// compiling takes gigabytes of memory.
constexpr std::uint64_t most_operations = std::uint64_t{1} << 24;

void check_size(const Schedule& schedule, std::uint64_t operations) {
    if (operations > most_operations) {
        throw ModelError(fmt::format(
            "{}: {} inferences, {} at a time, take {} operations or more; a program may have at most {}",
            schedule.network, schedule.batches.inferences, schedule.memory.images_per_slice, operations,
            most_operations));
    }
}

/// The last step that reads a part of the network's input.
std::uint32_t last_step_of_input(const AnalysedNetwork& analysed) {
    std::uint32_t last = 0;
    for (const HostPart& part : analysed.inputs) last = std::max(last, analysed.last_steps[part.tensor]);
    return last;
}

/// Whether a dense layer alone writes this part of the output and nothing on the chip reads it, and its
/// column tiles are whole rows.
bool can_leave_by_columns(const AnalysedNetwork& analysed, const Schedule& schedule, const HostPart& part) {
    const Network& network = analysed.network();
    if (part.layer >= schedule.layers.size() || part.layer < schedule.memory.groups.layers) return false;
    const LayerPlan& plan = schedule.layers[part.layer];
    const Layer& layer = network.layers[part.layer];
    const auto* const product = std::get_if<MatrixProduct>(&layer.work);
    if (product == nullptr || product->window || plan.joined_to || layer.output != part.tensor) return false;
    // Of a tile with columns of several layers, no whole rows leave.
    if (plan.parts.front().columns > network.tensors[layer.output].shape.channels) return false;
    const TensorPlacement& place = schedule.memory.tensors[part.tensor];
    if (place.part_of || place.channel_offset != 0 || plan.tiling.columns.size() < 2) return false;
    if (!analysed.uses[part.tensor].readers.empty()) return false;
    const std::uint32_t element_bytes = bytes_of(network.tensors[part.tensor].type);
    return std::ranges::all_of(plan.tiling.columns, [&](const ColumnTile& column) {
        return column.first_channel * element_bytes % schedule.target.geometry.rows == 0;
    });
}

/// By layer, the part of the output that leaves column tile by column tile.
std::vector<std::optional<std::uint32_t>> parts_by_columns(const Schedule& schedule) {
    std::vector<std::optional<std::uint32_t>> parts(schedule.layers.size());
    for (std::uint32_t part = 0; part < schedule.memory.outputs.size(); ++part) {
        const HostPart& output = schedule.memory.outputs[part];
        if (schedule.memory.tensors[output.tensor].by_columns) parts[output.layer] = part;
    }
    return parts;
}

/// Appends the work of all batch slices in program order.
class Sequence {
public:
    Sequence(const AnalysedNetwork& analysed, Schedule& schedule)
        : analysed_(analysed),
          network_(analysed.network()),
          schedule_(schedule),
          slices_(slice_batches(schedule.batches, schedule.memory)),
          input_read_out_(last_step_of_input(analysed)),
          leaving_(parts_by_columns(schedule)),
          read_at_(parts_by_step(schedule.memory.inputs, [](const HostPart& part) { return part.layer; })),
          written_at_(parts_by_step(schedule.memory.outputs,
                                    [&](const HostPart& part) { return computed_at(part.layer); })),
          accumulators_(schedule.target.accumulator_rows) {}

    void append_all() {
        if (schedule_.memory.pipeline) {
            schedule_.operations = order_pipeline(slices_.size()).operations;
            return;
        }
        const auto layers = static_cast<std::uint32_t>(network_.layers.size());
        const schedule::SubBatches& groups = schedule_.memory.groups;
        for (std::size_t s = 0; s < slices_.size(); ++s) {
            const BatchSlice& slice = slices_[s];
            if (s == 0) {
                read_first_input(slice);
            } else if (!schedule_.memory.overlap_transfers) {
                read_input(slice);
            }
            prefetch_after(0, s);
            if (groups.layers > 0) append_groups(groups, s);
            for (std::uint32_t l = groups.layers; l < layers; ++l) {
                append_layer(l, {.first = 0, .count = slice.images}, slice);
                write_output_of(l, slice);
                prefetch_after(l + 1, s);
            }
            if (layers == 0) write_output_of(0, slice);
            prefetch_after(layers + 1, s);
            if (s == 0) check_size(schedule_, schedule_.operations.size() * slices_.size());
        }
    }

    PipelinePrediction predict_pipeline() {
        // As many slices as there are stages fill the pipeline, and as many drain it. Those between end at
        // intervals of which the mean counts.
        const std::size_t filling = schedule_.memory.pipeline->stages.size() + 1;
        constexpr std::size_t steady = 8;
        const std::size_t computed = std::min(2 * filling + steady, slices_.size());
        const OrderedWork ordered = order_pipeline(computed);
        PipelinePrediction predicted{
            .cycles = ordered.cycles, .array = ordered.array_cycles, .operations = ordered.operations.size()};
        if (slices_.size() == computed) return predicted;
        const std::size_t last = computed - filling - 1;
        const Cycle interval =
            divide_up(ordered.outputs_left[last] - ordered.outputs_left[last - steady], Cycle{steady});
        predicted.cycles += (slices_.size() - computed) * interval;
        predicted.array = to_64_bits(multiply_divide_up(predicted.array, slices_.size(), computed),
                                     "slices take more than 64 bits of cycles");
        return predicted;
    }

private:
    /// The steps of the first slices of a pipeline, in order.
    OrderedWork order_pipeline(std::size_t slices) {
        return order_steps(analysed_, schedule_, slices, [&](std::size_t s) {
            const BatchSlice& slice = slices_[s];
            SliceWork work{.images = slice.images,
                           .first_image = slice.first_image,
                           .inputs = take([&] { s == 0 ? read_first_input(slice) : read_input(slice); }),
                           .layers = {}};
            for (std::uint32_t l = 0; l < network_.layers.size(); ++l) {
                work.layers.push_back(take([&] {
                    append_layer(l, {.first = 0, .count = slice.images}, slice);
                    // Those of a joined layer are computed, and so leave, with the layer that computes it.
                    if (!schedule_.layers[l].joined_to) write_output_of(l, slice);
                }));
            }
            if (s == 0) check_size(schedule_, operations_in(work) * slices_.size());
            return work;
        });
    }

    /// The operations that `append` appends.
    template <typename Append>
    std::vector<Operation> take(const Append& append) {
        append();
        return std::exchange(schedule_.operations, {});
    }

    static std::uint64_t operations_in(const SliceWork& work) {
        std::uint64_t operations = work.inputs.size();
        for (const std::vector<Operation>& layer : work.layers) operations += layer.size();
        return operations;
    }

    /// Parts of the input or the output by the step that reads or computes them.
    using PartsByStep = std::vector<std::vector<std::uint32_t>>;

    template <typename StepOf>
    static PartsByStep parts_by_step(const std::vector<HostPart>& parts, const StepOf& step_of) {
        PartsByStep by_step;
        for (std::uint32_t part = 0; part < parts.size(); ++part) {
            const std::size_t step = step_of(parts[part]);
            if (step >= by_step.size()) by_step.resize(step + 1);
            by_step[step].push_back(part);
        }
        return by_step;
    }
    static std::span<const std::uint32_t> parts_at(const PartsByStep& parts, std::size_t step) {
        return step < parts.size() ? std::span<const std::uint32_t>(parts[step])
                                   : std::span<const std::uint32_t>();
    }

    /// Reads all parts of the input.
    void read_input(const BatchSlice& slice) {
        for (std::uint32_t part = 0; part < schedule_.memory.inputs.size(); ++part) {
            read_part(slice, part, {.first = 0, .count = slice.images});
        }
    }

    void read_part(const BatchSlice& slice, std::uint32_t part, const Piece& images) {
        if (images.count == 0) return;
        schedule_.operations.emplace_back(ReadInput{.first_inference = slice.first_inference + images.first,
                                                    .first_image = slice.first_image + images.first,
                                                    .images = images.count,
                                                    .part = part});
    }

    /// Reads the first group's part of what the first layer needs, then the constants, which its results
    /// need, then the rest.
    void read_first_input(const BatchSlice& slice) {
        const schedule::SubBatches& groups = schedule_.memory.groups;
        const std::uint32_t group = groups.layers > 0 ? std::min(groups.images, slice.images) : slice.images;
        const std::vector<HostPart>& parts = schedule_.memory.inputs;
        std::uint32_t first_parts = 0;
        while (first_parts < parts.size() && parts[first_parts].layer == parts.front().layer) ++first_parts;
        for (std::uint32_t part = 0; part < first_parts; ++part) {
            read_part(slice, part, {.first = 0, .count = group});
        }
        if (schedule_.constant_rows > 0) schedule_.operations.emplace_back(ReadConstants{});
        for (std::uint32_t first = group; first < slice.images; first += group) {
            for (std::uint32_t part = 0; part < first_parts; ++part) {
                read_part(slice, part, {.first = first, .count = std::min(group, slice.images - first)});
            }
        }
        for (std::uint32_t part = first_parts; part < parts.size(); ++part) {
            read_part(slice, part, {.first = 0, .count = slice.images});
        }
    }

    /// Sends the parts of the output that the layer, and those joined to it, have computed.
    void write_output_of(std::uint32_t layer, const BatchSlice& slice) {
        for (const std::uint32_t part : parts_at(written_at_, layer)) {
            if (!schedule_.layers.empty() && leaving_[layer] == part) continue;
            schedule_.operations.emplace_back(WriteOutput{.first_inference = slice.first_inference,
                                                          .first_image = slice.first_image,
                                                          .images = slice.images,
                                                          .part = part});
        }
    }

    /// Reads the next slice's input behind the last step of this slice that reads its own. If both have rows,
    /// each part is read when this slice uses its own: a part at a time, so that work is not issued behind
    /// all.
    void prefetch_after(std::uint32_t step, std::size_t slice) {
        if (!schedule_.memory.overlap_transfers || slice + 1 >= slices_.size()) return;
        const BatchSlice& next = slices_[slice + 1];
        if (!schedule_.memory.two_inputs) {
            if (step == input_read_out_) read_input(next);
            return;
        }
        for (const std::uint32_t part : parts_at(read_at_, step)) {
            read_part(next, part, {.first = 0, .count = next.images});
        }
    }

    /// Appends the work of the first layers, group by group.
    void append_groups(const schedule::SubBatches& groups, std::size_t slice) {
        const std::uint32_t images = slices_[slice].images;
        for (std::uint32_t first = 0; first < images; first += groups.images) {
            const Piece group{.first = first, .count = std::min(groups.images, images - first)};
            const bool is_last = first + group.count == images;
            for (std::uint32_t l = 0; l < groups.layers; ++l) {
                append_layer(l, group, slices_[slice]);
                if (!is_last) continue;
                write_output_of(l, slices_[slice]);
                prefetch_after(l + 1, slice);
            }
        }
    }

    /// The layer with which a layer is computed. In a network without layers, the input is the output.
    std::uint32_t computed_at(std::uint32_t layer) const {
        return schedule_.layers.empty() ? layer : schedule_.layers[layer].joined_to.value_or(layer);
    }

    /// Appends the layer's work for some images of a slice.
    void append_layer(std::uint32_t index, const Piece& images, const BatchSlice& slice) {
        if (schedule_.layers[index].joined_to) return;
        const Layer& layer = network_.layers[index];
        LayerLowering context{.view = {network_, layer, schedule_.target},
                              .plan = schedule_.layers[index],
                              .layer = index,
                              .image_rows = schedule_.memory.tensors[layer.output].image_rows,
                              .memory = schedule_.memory,
                              .uses = analysed_.uses,
                              .first_inference = slice.first_inference + images.first,
                              .first_image = slice.first_image + images.first,
                              .images = images.count,
                              .output_part = leaving_[index],
                              .accumulators = accumulators_,
                              .operations = schedule_.operations};
        std::visit([&](const auto& work) { lower(work, context); }, layer.work);
    }

    const AnalysedNetwork& analysed_;
    const Network& network_;
    Schedule& schedule_;
    const std::vector<BatchSlice> slices_;
    const std::uint32_t input_read_out_;  ///< the step that last reads the network's input
    const std::vector<std::optional<std::uint32_t>> leaving_;  ///< parts_by_columns
    const PartsByStep read_at_;
    const PartsByStep written_at_;
    AccumulatorParts accumulators_;
};

/// Leaves a tile in the array where the next product needs it again: of layers that repeat each other, such
/// as the steps of a recurrence, if they have one tile.
void keep_tiles(const Network& network, std::vector<Operation>& operations) {
    std::vector<bool> shares_tiles(network.layers.size(), false);
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
        if (!network.layers[l].repeats) continue;
        shares_tiles[l] = shares_tiles[*network.layers[l].repeats] = true;
    }
    std::optional<std::uint32_t> in_array;
    for (Operation& operation : operations) {
        MatrixWork* work = std::get_if<ConvolveLines>(&operation);
        if (work == nullptr) work = std::get_if<MultiplyImages>(&operation);
        if (work == nullptr) continue;
        const bool is_there = work->tiles == 1 && in_array == work->first_weight_tile;
        if (is_there && shares_tiles[work->layer]) work->keep_weights = true;
        in_array = work->first_weight_tile + work->tiles - 1;
    }
}

}  // namespace

Schedule plan_schedule(const AnalysedNetwork& analysed, const Target& target,
                       const mapping::Batches& batches) {
    const Network& network = analysed.network();
    check_batches(network, batches);
    // In 32 bits, sums wrap around where the network's own runtime does, or were kept from it before.
    if (target.sum_bits < most_sum_bits) check_sums(network, target.sum_bits);
    Schedule schedule;
    schedule.network = network.name;
    schedule.target = target;
    schedule.batches = batches;
    schedule.layers = plan_layers(analysed, target);
    std::vector<std::uint32_t> tiles;
    for (const LayerPlan& plan : schedule.layers) {
        const bool has_own = is_reported(plan, tiles.size());
        tiles.push_back(static_cast<std::uint32_t>(plan.tiling.tiles));
        if (has_own) schedule.weight_tiles += tiles.back();
    }
    schedule.constant_rows = lay_out_constants(network, target, schedule.layers);
    schedule.memory = plan_memory(analysed, target, batches, schedule.constant_rows, tiles);
    if (!target.mapping.double_buffers) return schedule;
    for (const HostPart& part : schedule.memory.outputs) {
        schedule.memory.tensors[part.tensor].by_columns = can_leave_by_columns(analysed, schedule, part);
    }
    return schedule;
}

Schedule make_schedule(const AnalysedNetwork& analysed, const Target& target,
                       const mapping::Batches& batches) {
    Schedule schedule = plan_schedule(analysed, target, batches);
    check_size(schedule, batches.inferences / schedule.memory.images_per_slice);
    Sequence(analysed, schedule).append_all();
    keep_tiles(analysed.network(), schedule.operations);
    return schedule;
}

Schedule make_schedule(const Network& network, const Target& target, const mapping::Batches& batches) {
    return make_schedule(analyse(network, target), target, batches);
}

std::optional<PipelinePrediction> predict_pipeline(const AnalysedNetwork& analysed, const Target& target,
                                                   const mapping::Batches& batches) {
    Schedule schedule = plan_schedule(analysed, target, batches);
    if (!schedule.memory.pipeline) return std::nullopt;
    return Sequence(analysed, schedule).predict_pipeline();
}

}  // namespace systole::tpu_v1
