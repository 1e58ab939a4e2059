#include "compiler/target/tpu_v1/schedule/memory_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/arithmetic.h"
#include "compiler/ir/model_error.h"
#include "compiler/schedule/stages.h"
#include "compiler/target/tpu_v1/network/chunking.h"
#include "compiler/target/tpu_v1/network/parallel_layers.h"
#include "compiler/target/tpu_v1/network/tensor_parts.h"

namespace systole::tpu_v1 {
namespace {

/// Row addresses have 3 bytes.
constexpr std::uint32_t addressable_rows = std::uint32_t{1} << 24;

/// The tensors of the chip's own that share rows with no part or slice.
std::vector<bool> tensors_alone(const AnalysedNetwork& analysed) {
    const std::vector<TensorPart>& parts = analysed.parts;
    std::vector<bool> alone(parts.size(), true);
    for (TensorId id = 0; id < parts.size(); ++id) {
        if (parts[id].whole != id) alone[id] = alone[parts[id].whole] = false;
    }
    for (const std::vector<HostPart>* moved : {&analysed.inputs, &analysed.outputs}) {
        for (const HostPart& part : *moved) alone[part.whole] = alone[part.tensor] = false;
    }
    return alone;
}

/// Lets the results of element-wise work lie in operands that are not read again. Layers that compute some
/// lines of a tensor are left as they are.
void compute_in_place(const AnalysedNetwork& analysed, std::vector<schedule::Lifetime>& lifetimes) {
    const Network& network = analysed.network();
    const std::vector<bool> alone = tensors_alone(analysed);
    for (std::uint32_t l = 0; l < network.layers.size(); ++l) {
        const Layer& layer = network.layers[l];
        if (!std::holds_alternative<Elementwise>(layer.work) || layer.part_of) continue;
        schedule::Lifetime& result = lifetimes[layer.output];
        const auto can_hold = [&](TensorId operand) {
            return alone[operand] && lifetimes[operand].rows == result.rows &&
                   lifetimes[operand].last_step == l + 1 &&
                   network.tensors[operand].shape == network.tensors[layer.output].shape;
        };
        const auto operand = std::ranges::find_if(layer.inputs, can_hold);
        if (!alone[layer.output] || result.first_step != l + 1 || operand == layer.inputs.end()) continue;
        result.lies_in = lifetimes[*operand].lies_in.value_or(*operand);
        lifetimes[*result.lies_in].last_step = result.last_step;
    }
}

[[noreturn]] void reject(const Network& network, const Target& target,
                         const std::vector<schedule::Lifetime>& lifetimes,
                         const schedule::RowAllocation& allocation, std::uint32_t constant_rows) {
    std::size_t topmost = 0;
    const auto end = [&](std::size_t i) { return allocation.first_row[i] + lifetimes[i].rows; };
    for (std::size_t i = 0; i < lifetimes.size(); ++i) {
        if (end(i) > end(topmost)) topmost = i;
    }
    const std::uint64_t row_bytes = target.geometry.rows;
    throw ModelError(
        fmt::format("{}: tensor \"{}\": one image of this tensor and of those that live at the same time "
                    "needs {} bytes of unified "
                    "buffer; the machine has {}",
                    network.name, network.tensors[topmost].name,
                    (constant_rows + allocation.rows) * row_bytes, target.unified_buffer_rows * row_bytes));
}

/// By tensor: whether the rows of this tensor hold the images of two slices.
std::vector<bool> rows_of_two_slices(const AnalysedNetwork& analysed, const MemoryPlan& plan) {
    std::vector<bool> two(analysed.parts.size(), false);
    const auto mark = [&](const std::vector<HostPart>& moved) {
        for (const HostPart& part : moved) two[analysed.parts[part.tensor].whole] = true;
    };
    if (plan.two_inputs) mark(analysed.inputs);
    if (plan.two_outputs) mark(analysed.outputs);
    return two;
}

/// The places of the tensors' rows, for the number of images, the groups and the double buffers of the plan.
schedule::RowAllocation allocate(const AnalysedNetwork& analysed,
                                 const std::vector<schedule::Lifetime>& one_image, const MemoryPlan& plan) {
    std::vector<schedule::Lifetime> lifetimes =
        schedule::lifetimes_in_groups(one_image, plan.images_per_slice, plan.groups);
    const std::vector<bool> two = rows_of_two_slices(analysed, plan);
    for (std::size_t id = 0; id < lifetimes.size(); ++id) {
        if (two[id]) lifetimes[id].rows *= 2;
    }
    return schedule::allocate_rows(lifetimes);
}

/// Gives the input and the output rows for two slices where there are as many.
void add_double_buffers(const AnalysedNetwork& analysed, const std::vector<schedule::Lifetime>& one_image,
                        std::uint64_t rows, MemoryPlan& plan) {
    for (bool MemoryPlan::*two : {&MemoryPlan::two_inputs, &MemoryPlan::two_outputs}) {
        plan.*two = true;
        if (allocate(analysed, one_image, plan).rows > rows) plan.*two = false;
    }
}

/// The places of the tensors' rows, and by tensor the number of slices that have rows.
schedule::StagedRows allocate_copies(const AnalysedNetwork& analysed,
                                     const std::vector<schedule::Lifetime>& one_image,
                                     const MemoryPlan& plan) {
    if (plan.pipeline) {
        const schedule::Stages stages(
            plan.pipeline->stages, static_cast<std::uint32_t>(analysed.network().layers.size()), plan.slack);
        return schedule::allocate_stages(one_image, plan.images_per_slice, stages);
    }
    schedule::StagedRows rows{.allocation = allocate(analysed, one_image, plan), .copies = {}};
    for (const bool two : rows_of_two_slices(analysed, plan)) rows.copies.push_back(two ? 2 : 1);
    rows.turn = plan.two_inputs || plan.two_outputs ? 2 : 1;
    return rows;
}

/// Places all tensors, for the number of images, the groups, stages and double buffers of the plan.
void place(const AnalysedNetwork& analysed, const std::vector<schedule::Lifetime>& one_image,
           std::uint32_t constant_rows, MemoryPlan& plan) {
    const Network& network = analysed.network();
    const auto [allocation, copies, turn] = allocate_copies(analysed, one_image, plan);
    plan.turn = turn;
    plan.rows = static_cast<std::uint32_t>(constant_rows + allocation.rows);
    plan.least_rows = static_cast<std::uint32_t>(constant_rows + allocation.least_rows);
    for (TensorId id = 0; id < network.tensors.size(); ++id) {
        const TensorPart& part = analysed.parts[id];
        const schedule::Lifetime& lifetime = one_image[part.whole];
        const Tensor& shares_pixels = network.tensors[part.is_slice ? id : part.whole];
        const std::uint32_t element_bytes = bytes_of(shares_pixels.type);
        const std::uint64_t row =
            constant_rows + allocation.first_row[part.whole] + part.first_row + slice_row(analysed, id);
        const std::uint64_t first_channel = part.is_slice ? 0 : part.first_channel;
        const schedule::Lifetime& has_rows = lifetime.lies_in ? one_image[*lifetime.lies_in] : lifetime;
        const std::uint32_t images =
            schedule::belongs_to_group(has_rows, plan.groups) ? plan.groups.images : plan.images_per_slice;
        TensorPlacement placement{.name = network.tensors[id].name,
                                  .row = static_cast<std::uint32_t>(row),
                                  .images = copies[part.whole] * images,
                                  .image_rows = static_cast<std::uint32_t>(lifetime.rows),
                                  .pixel_bytes = shares_pixels.shape.channels * element_bytes,
                                  .channel_offset = static_cast<std::uint32_t>(first_channel * element_bytes),
                                  .part_of = {}};
        if (part.whole != id && !part.is_slice) placement.part_of = part.whole;
        plan.tensors.push_back(std::move(placement));
    }
}

/// The images of one slice that fit if every layer processes the whole slice. A network of the host's work
/// alone takes no rows: all `asked` fit.
std::uint64_t images_in(std::uint64_t rows, const std::vector<schedule::Lifetime>& one_image,
                        std::uint32_t asked) {
    const std::uint64_t taken = schedule::allocate_rows(one_image).rows;
    return taken == 0 ? asked : rows / taken;
}

/// The plan of slices in a pipeline; nullopt if it has no rows for them.
std::optional<MemoryPlan> plan_stages(const AnalysedNetwork& analysed, const Target& target,
                                      std::uint32_t slice_images, std::uint32_t constant_rows) {
    if (!target.choices.pipeline) return std::nullopt;
    MemoryPlan plan;
    plan.images_per_slice = slice_images;
    plan.overlap_transfers = true;
    plan.pipeline = target.choices.pipeline;
    plan.inputs = analysed.inputs;
    plan.outputs = analysed.outputs;
    const std::vector<schedule::Lifetime> one_image = tensor_lifetimes(analysed, target, false);
    const std::uint64_t rows = rows_for_tensors(target, constant_rows);
    plan.images_that_fit = images_in(rows, one_image, slice_images);
    plan.slack = 1;
    if (allocate_copies(analysed, one_image, plan).allocation.rows > rows) plan.slack = 0;
    if (allocate_copies(analysed, one_image, plan).allocation.rows > rows) return std::nullopt;
    place(analysed, one_image, constant_rows, plan);
    return plan;
}

}  // namespace

std::uint64_t rows_for_tensors(const Target& target, std::uint32_t constant_rows) {
    return std::min(target.unified_buffer_rows, addressable_rows) - std::uint64_t{constant_rows};
}

Piece rows_of_channels(const Tensor& vector, const Target& target, std::uint32_t first_channel,
                       std::uint32_t channels) {
    const std::uint32_t element_bytes = bytes_of(vector.type);
    const std::uint32_t row_bytes = target.geometry.rows;
    return {.first = first_channel * element_bytes / row_bytes,
            .count = divide_up(channels * element_bytes, row_bytes)};
}

std::vector<schedule::Lifetime> tensor_lifetimes(const AnalysedNetwork& analysed, const Target& target,
                                                 bool overlap_transfers) {
    const Network& network = analysed.network();
    const std::vector<TensorPart>& parts = analysed.parts;
    std::vector<schedule::Lifetime> lifetimes(network.tensors.size());
    const auto write = [&](TensorId id, std::uint32_t step) {
        schedule::Lifetime& lifetime = lifetimes[parts[id].whole];
        if (lifetime.rows == 0) {
            const TensorId whole = parts[id].whole;
            lifetime = {.rows = analysed.image_rows[whole],
                        .first_step = step,
                        .last_step = analysed.last_steps[whole]};
        }
        lifetime.first_step = std::min(lifetime.first_step, step);
        lifetime.last_step = std::max(lifetime.last_step, step);
    };
    const std::vector<HostPart>& inputs = analysed.inputs;
    const std::vector<HostPart>& outputs = analysed.outputs;
    std::vector<bool> is_sent_in_parts(network.tensors.size(), false);
    for (const HostPart& part : outputs) is_sent_in_parts[part.whole] = part.tensor != part.whole;
    for (const HostPart& part : inputs) write(part.tensor, 0);
    for (std::uint32_t l = 0; l < network.layers.size(); ++l) {
        const bool in_host_memory = writes_host_memory(network.layers[l]);
        for (const TensorId output : outputs_of(network.layers[l])) {
            if (is_sent_in_parts[output] || (in_host_memory && analysed.uses[output].chip_readers.empty())) {
                continue;
            }
            write(output, analysed.joined_to[l] + 1);
        }
    }
    const auto last_step = static_cast<std::uint32_t>(network.layers.size()) + 1;
    const auto live_throughout = [&](const HostPart& part) {
        lifetimes[parts[part.tensor].whole].first_step = 0;
        lifetimes[parts[part.tensor].whole].last_step = last_step;
    };
    for (const HostPart& part : outputs) lifetimes[parts[part.tensor].whole].last_step = last_step;
    if (overlap_transfers) {
        std::for_each(inputs.begin(), inputs.end(), live_throughout);
        std::for_each(outputs.begin(), outputs.end(), live_throughout);
    }
    if (target.mapping.in_place) compute_in_place(analysed, lifetimes);
    return lifetimes;
}

MemoryPlan plan_memory(const AnalysedNetwork& analysed, const Target& target, const mapping::Batches& batches,
                       std::uint32_t constant_rows, std::span<const std::uint32_t> tiles) {
    const std::uint64_t rows = rows_for_tensors(target, constant_rows);
    const auto asked = static_cast<std::uint32_t>(std::min<std::uint64_t>(batches.batch, batches.inferences));
    const std::uint32_t wanted = target.choices.slice_images;
    // A smaller slice that is wanted is planned like a batch.
    const std::uint32_t batch = wanted == 0 ? asked : std::min(asked, wanted);
    if (auto staged = plan_stages(analysed, target, batch, constant_rows)) return *std::move(staged);
    const auto all_tiles = std::accumulate(tiles.begin(), tiles.end(), std::uint64_t{0});
    std::vector<schedule::Lifetime> one_image = tensor_lifetimes(analysed, target, false);
    const schedule::RowAllocation least = schedule::allocate_rows(one_image);
    if (least.rows > rows) reject(analysed.network(), target, one_image, least, constant_rows);

    MemoryPlan plan;
    const auto use = [&](const std::vector<schedule::Lifetime>& lifetimes) {
        const std::uint64_t fit = images_in(rows, lifetimes, batch);
        plan.images_that_fit = fit;
        const auto limit = static_cast<std::uint32_t>(std::min<std::uint64_t>(fit, batch));
        const std::vector<Piece> slices = cut_evenly(batch, limit);
        plan.images_per_slice = slices.front().count;
        std::optional<schedule::SubBatches> groups;
        if (target.mapping.group_first_layers) {
            groups =
                schedule::find_sub_batches(lifetimes, batch, rows, tiles, all_tiles * (slices.size() - 1));
        }
        plan.groups = groups.value_or(schedule::SubBatches{});
        if (groups) plan.images_per_slice = batch;
    };
    use(one_image);
    const bool single_slice = batch == batches.inferences && plan.images_per_slice == batch;
    if (!single_slice && target.mapping.overlap_transfers) {
        const std::vector<schedule::Lifetime> longer = tensor_lifetimes(analysed, target, true);
        if (schedule::allocate_rows(longer).rows <= rows) {
            plan.overlap_transfers = true;
            one_image = longer;
            use(one_image);
        }
    }
    plan.inputs = analysed.inputs;
    plan.outputs = analysed.outputs;
    if (target.mapping.double_buffers && plan.overlap_transfers && plan.groups.layers == 0) {
        add_double_buffers(analysed, one_image, rows, plan);
    }
    place(analysed, one_image, constant_rows, plan);
    return plan;
}

}  // namespace systole::tpu_v1
