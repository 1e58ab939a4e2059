#include "compiler/schedule/memory_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/model_error.h"
#include "compiler/schedule/arithmetic.h"
#include "compiler/schedule/chunking.h"

namespace systole::schedule {
namespace {

/// Rows of one image of each tensor, and how many images fit at once.
struct OneImage {
    RowAllocation allocation;
    std::uint64_t images = 0;
};

/// Row addresses have 3 bytes.
constexpr std::uint32_t addressable_rows = std::uint32_t{1} << 24;

std::uint64_t rows_for_tensors(const Target& target, std::uint32_t constant_rows) {
    return std::min(target.unified_buffer_rows, addressable_rows) - std::uint64_t{constant_rows};
}

/// All tensors grow alike with the number of images: the places for one image, times the images, are
/// places for all.
OneImage fit(const std::vector<Lifetime>& lifetimes, std::uint64_t rows) {
    OneImage result{.allocation = allocate_rows(lifetimes), .images = 0};
    result.images = rows / result.allocation.rows;
    return result;
}

[[noreturn]] void reject(const quantized::Network& network, const Target& target,
                         const std::vector<Lifetime>& lifetimes, const RowAllocation& allocation,
                         std::uint32_t constant_rows) {
    std::size_t topmost = 0;
    const auto end = [&](std::size_t i) { return allocation.first_row[i] + lifetimes[i].rows; };
    for (std::size_t i = 0; i < lifetimes.size(); ++i) {
        if (end(i) > end(topmost)) topmost = i;
    }
    const std::uint64_t row_bytes = target.geometry.rows;
    throw ModelError(fmt::format(
        "{}: tensor \"{}\": one image, with what is kept beside this tensor, needs {} bytes of unified "
        "buffer; the machine has {}",
        network.name, network.tensors[topmost].name, (constant_rows + allocation.rows) * row_bytes,
        target.unified_buffer_rows * row_bytes));
}

}  // namespace

std::uint64_t image_rows(const quantized::Tensor& tensor, const Target& target) {
    return divide_up(tensor.shape.elements(), std::uint64_t{target.geometry.rows});
}

std::uint32_t last_reading_step(const quantized::Network& network, quantized::TensorId tensor) {
    const auto layers = static_cast<std::uint32_t>(network.layers.size());
    if (tensor == network.output) return layers + 1;
    for (std::uint32_t l = layers; l > 0; --l) {
        const auto& inputs = network.layers[l - 1].inputs;
        if (std::find(inputs.begin(), inputs.end(), tensor) != inputs.end()) return l;
    }
    return 0;
}

std::vector<Lifetime> tensor_lifetimes(const quantized::Network& network, const Target& target,
                                       bool overlap_transfers) {
    std::vector<Lifetime> lifetimes(network.tensors.size());
    const auto begin = [&](quantized::TensorId id, std::uint32_t step) {
        lifetimes[id] = {.rows = image_rows(network.tensors[id], target),
                         .first_step = step,
                         .last_step = std::max(step, last_reading_step(network, id))};
    };
    begin(network.input, 0);
    for (std::uint32_t l = 0; l < network.layers.size(); ++l) begin(network.layers[l].output, l + 1);
    if (overlap_transfers) {
        const auto last_step = static_cast<std::uint32_t>(network.layers.size()) + 1;
        for (const quantized::TensorId id : {network.input, network.output}) {
            lifetimes[id].first_step = 0;
            lifetimes[id].last_step = last_step;
        }
    }
    return lifetimes;
}

MemoryPlan plan_memory(const quantized::Network& network, const Target& target, const Options& options,
                       std::uint32_t constant_rows) {
    const std::uint64_t rows = rows_for_tensors(target, constant_rows);
    const auto batch = static_cast<std::uint32_t>(std::min<std::uint64_t>(options.batch, options.inferences));
    std::vector<Lifetime> lifetimes = tensor_lifetimes(network, target, false);
    OneImage one_image = fit(lifetimes, rows);
    if (one_image.images == 0) reject(network, target, lifetimes, one_image.allocation, constant_rows);

    MemoryPlan plan;
    const bool single_pass = batch == options.inferences && batch <= one_image.images;
    if (!single_pass) {
        const std::vector<Lifetime> longer = tensor_lifetimes(network, target, true);
        const OneImage overlapping = fit(longer, rows);
        if (overlapping.images > 0) {
            plan.overlap_transfers = true;
            lifetimes = longer;
            one_image = overlapping;
        }
    }
    const auto limit = static_cast<std::uint32_t>(std::min<std::uint64_t>(one_image.images, batch));
    plan.images_per_pass = cut_evenly(batch, limit).front().count;
    plan.rows = static_cast<std::uint32_t>(constant_rows + plan.images_per_pass * one_image.allocation.rows);
    for (std::size_t i = 0; i < network.tensors.size(); ++i) {
        const std::uint64_t row = constant_rows + plan.images_per_pass * one_image.allocation.first_row[i];
        plan.tensors.push_back({.name = network.tensors[i].name,
                                .row = static_cast<std::uint32_t>(row),
                                .image_rows = static_cast<std::uint32_t>(lifetimes[i].rows)});
    }
    return plan;
}

}  // namespace systole::schedule
