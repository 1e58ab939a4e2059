// The choices of the compiler for a run: which joins, blocks, slices and pipelines cost least.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/ir/model_error.h"
#include "compiler/schedule/choose_blocks.h"
#include "compiler/schedule/choose_joins.h"
#include "compiler/schedule/choose_slices.h"
#include "compiler/schedule/choose_stages.h"
#include "compiler/schedule/fit_memory.h"
#include "compiler/schedule/fold_lines.h"
#include "compiler/schedule/parallel_layers.h"
#include "hw/timing/matrix_unit.h"
#include "sim/run/baselines/baseline.h"
#include "sim/run/baselines/comparison.h"
#include "sim/run/compile.h"

namespace systole::run {
namespace {

schedule::LayerOrder schedule_order(LayerOrder order) {
    switch (order) {
        case LayerOrder::Rows:
            return schedule::LayerOrder::Rows;
        case LayerOrder::Layer:
            return schedule::LayerOrder::Layer;
        case LayerOrder::LayerAndWeights:
            return schedule::LayerOrder::LayerAndWeights;
    }
    throw std::logic_error("an order of layers that does not exist");
}

}  // namespace

schedule::Target target_of(const machine::MachineConfig& machine, const Mapping& mapping) {
    return {.geometry = {.rows = machine.matrix_unit.rows, .columns = machine.matrix_unit.columns},
            .accumulator_rows = machine.accumulators.rows,
            .unified_buffer_rows = machine.unified_buffer.rows,
            .weight_memory_bytes = machine.weight_memory.bytes,
            .spill_weights = machine.weight_memory.spill,
            .row_sums = machine.matrix_unit.row_sums,
            .sum_bits = machine.accumulators.sum_bits,
            .activation_delay = timing::matrix_latency(machine) + machine.activation_latency(),
            .mapping = {.join_convolutions = mapping.join_convolutions,
                        .skip_zero_tiles = mapping.skip_zero_tiles,
                        .split_channels = mapping.split_channels,
                        .parts_by_delay = mapping.parts_by_delay,
                        .group_first_layers = mapping.group_first_layers,
                        .order = schedule_order(mapping.order),
                        .overlap_transfers = mapping.overlap_transfers,
                        .in_place = mapping.in_place,
                        .double_buffers = mapping.double_buffers}};
}

namespace {

std::vector<schedule::SiblingAlternatives> compare_joins(const mapping::Network& network, const RunSpec& spec,
                                                         const schedule::Options& options) {
    const Mapping& mapping = spec.compiler.mapping;
    return schedule::compare_joins(
        network, target_of(spec.machine, mapping), spec.machine, options,
        mapping.pixel_blocks ? schedule::JoinBlocks::Best : schedule::JoinBlocks::Single);
}

/// The target with the joins that cost least, if the run's mapping chooses them.
schedule::Target with_joins(const mapping::Network& network, const RunSpec& spec,
                            const schedule::Options& options) {
    schedule::Target target = target_of(spec.machine, spec.compiler.mapping);
    if (spec.compiler.mapping.join_by_cost) {
        target.mapping.joins =
            schedule::chosen_joins(compare_joins(network, spec, options), network.layers.size());
    }
    return target;
}

/// The target with the blocks of pixels that cost least; its joins are settled.
schedule::Target with_chosen_blocks(const mapping::Network& network, const RunSpec& spec,
                                    const schedule::Options& options, schedule::Target target) {
    schedule::set_chosen_blocks(schedule::compare_blocks(network, target, spec.machine, options),
                                network.layers.size(), target.mapping);
    return target;
}

/// The predicted cycles of all inferences; absent if there are none.
std::optional<Cycle> predicted_total(const mapping::Network& network, const RunSpec& spec,
                                     const schedule::Options& options, const schedule::Target& target) {
    try {
        const auto slices = schedule::compare_slices(network, target, spec.machine, options);
        if (slices.alternatives.empty()) return std::nullopt;
        return slices.alternatives[slices.chosen].cycles;
    } catch (const ModelError&) {
        return std::nullopt;  // an image does not fit, and may be cut
    }
}

/// Channels are cut in parts only if that saves this share of all cycles. The second part of a layer begins
/// when the first has ended, so all channels of its first rows are ready later for the next layer, which the
/// prediction of a single layer does not see.
constexpr double least_gain_of_parts = 0.01;

/// The target with the joins and the blocks of pixels that cost least, if the run's mapping chooses them.
/// Channels cut in parts take more tiles, which each slice of the batch fetches again; so it is decided for
/// the whole batch whether channels are cut; of a batch of one image, which waits for weights, none are.
/// Mapping::split_channels says the decision.
schedule::Target with_blocks(const mapping::Network& network, const RunSpec& spec,
                             const schedule::Options& options) {
    schedule::Target target = with_joins(network, spec, options);
    if (!spec.compiler.mapping.pixel_blocks) return target;
    target.mapping.joins = schedule::group_parallel_layers(network, target);
    schedule::Target cut = with_chosen_blocks(network, spec, options, target);
    const auto is_cut = [](const schedule::ChannelRest& rest) { return rest.first_channel > 0; };
    if (std::ranges::none_of(cut.mapping.rests, is_cut)) return cut;
    target.mapping.split_channels = false;
    schedule::Target whole = with_chosen_blocks(network, spec, options, target);
    const auto with = predicted_total(network, spec, options, cut);
    const auto without = predicted_total(network, spec, options, whole);
    if (!with || !without) return whole;
    const bool pays =
        static_cast<double>(*with) < (1.0 - least_gain_of_parts) * static_cast<double>(*without);
    return pays ? cut : whole;
}

/// The network with lines that fit the accumulators, where they can be folded.
mapping::Network with_short_lines(mapping::Network network, const RunSpec& spec) {
    return schedule::fold_long_lines(std::move(network), target_of(spec.machine, spec.compiler.mapping));
}

/// The network cut to the unified buffer, if the run's mapping cuts images.
schedule::FittedNetwork fitted(mapping::Network network, const RunSpec& spec,
                               const schedule::Options& options) {
    const schedule::Target target = with_blocks(network, spec, options);
    if (!spec.compiler.mapping.cut_images) {
        return {.network = std::move(network), .target = target, .fit = {}};
    }
    return schedule::fit_memory(std::move(network), target, spec.machine);
}

std::string count_of(std::uint64_t count, std::string_view thing) {
    return fmt::format("{:>8} {}{}", count, thing, count == 1 ? "" : "s");
}

/// "a + b | c": layers of a group, and groups.
std::string groups_text(const mapping::Network& network, const std::vector<std::uint32_t>& layers,
                        const std::vector<std::uint32_t>& groups) {
    std::string text;
    const auto count = *std::ranges::max_element(groups) + 1;
    for (std::uint32_t group = 0; group < count; ++group) {
        std::string_view separator = group == 0 ? "" : " | ";
        for (std::size_t i = 0; i < groups.size(); ++i) {
            if (groups[i] != group) continue;
            text += fmt::format("{}{}", separator, network.layers[layers[i]].name);
            separator = " + ";
        }
    }
    return text;
}

std::string joins_text(const mapping::Network& network,
                       const std::vector<schedule::SiblingAlternatives>& sets) {
    std::string text;
    for (const schedule::SiblingAlternatives& set : sets) {
        text += fmt::format("{} layers of the same rows, by those that go together\n", set.layers.size());
        for (const schedule::JoinAlternative& alternative : set.alternatives) {
            const bool chosen = &alternative == &set.alternatives[set.chosen];
            text += fmt::format(
                "  {:>22} cycles {}  {}{}\n", alternative.cycles, count_of(alternative.tiles, "tile"),
                groups_text(network, set.layers, alternative.groups), chosen ? "  chosen" : "");
        }
    }
    return text;
}

std::string blocks_text(const mapping::Network& network,
                        const std::vector<schedule::LayerAlternatives>& layers) {
    std::string text;
    for (const schedule::LayerAlternatives& layer : layers) {
        const std::vector<std::uint32_t> together(layer.layers.size(), 0);
        text += groups_text(network, layer.layers, together) + "\n";
        for (const schedule::BlockAlternative& alternative : layer.alternatives) {
            const bool chosen = &alternative == &layer.alternatives[layer.chosen];
            const schedule::ChannelRest& rest = alternative.rest;
            const std::string split = rest.first_channel == 0
                                          ? ""
                                          : fmt::format("  {} x {} from channel {} on", rest.block.width,
                                                        rest.block.height, rest.first_channel);
            text += fmt::format("  {:>3} x {} {:>14} cycles {}{}{}\n", alternative.block.width,
                                alternative.block.height, alternative.cycles,
                                count_of(alternative.tiles, "tile"), split, chosen ? "  chosen" : "");
        }
    }
    return text;
}

/// The target with the size of slices that costs least.
schedule::Target with_slices(const mapping::Network& network, schedule::Target target, const RunSpec& spec,
                             const schedule::Options& options) {
    if (!target.mapping.double_buffers) return target;
    target.mapping.slice_images =
        schedule::compare_slices(network, target, spec.machine, options).slice_images();
    return target;
}

/// The costs of the run's machine, and of its host if it has one.
std::shared_ptr<const schedule::Costs> costs_of(const RunSpec& spec) {
    schedule::Costs costs{.machine = spec.machine};
    if (spec.host) {
        const baselines::Baseline host = baselines::read_baseline(nlohmann::json(*spec.host), "host");
        const baselines::WorkCosts of_host = baselines::work_costs(host);
        costs.host_seconds_per_operation = of_host.per_operation;
        costs.host_seconds_per_byte = of_host.per_byte;
        costs.host_seconds_per_layer = of_host.per_layer;
    }
    return std::make_shared<const schedule::Costs>(std::move(costs));
}

/// The target with the pipeline of slices that costs least.
schedule::Target with_stages(const mapping::Network& network, schedule::Target target, const RunSpec& spec,
                             const schedule::Options& options) {
    if (!spec.compiler.mapping.pipeline) return target;
    target.mapping.costs = costs_of(spec);
    const auto compared = schedule::compare_stages(network, target, options);
    if (!compared.chosen) return target;
    target.mapping.pipeline = compared.alternatives[*compared.chosen].pipeline;
    target.mapping.slice_images = compared.alternatives[*compared.chosen].images;
    return target;
}

std::string stages_text(const mapping::Network& network, const schedule::StageAlternatives& stages) {
    if (stages.alternatives.size() < 2) return {};
    constexpr std::size_t most_lines = 12;
    std::vector<std::size_t> order(stages.alternatives.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return stages.alternatives[i].cycles; });
    std::string text = "all inferences, by images in a slice and the stages of a pipeline of slices\n";
    for (const std::size_t i : std::span(order).first(std::min(order.size(), most_lines))) {
        const schedule::StageAlternative& alternative = stages.alternatives[i];
        const schedule::Pipeline& pipeline = alternative.pipeline;
        std::string begin;
        for (const std::uint32_t layer : pipeline.stages) begin += " " + network.layers[layer].name;
        text += fmt::format("  {:>7} {:>14} cycles  {}{}{}{}\n", alternative.images, alternative.cycles,
                            begin.empty() ? "one stage" : "stages from", begin,
                            pipeline.weights_first ? ", weights first" : "",
                            stages.chosen == i ? "  chosen" : "");
    }
    if (order.size() > most_lines) text += fmt::format("  and {} more\n", order.size() - most_lines);
    return text;
}

std::string slices_text(const schedule::SliceAlternatives& slices) {
    if (slices.alternatives.size() < 2) return {};
    std::string text = "all inferences, by images in a slice of the batch\n";
    for (const schedule::SliceAlternative& alternative : slices.alternatives) {
        const bool chosen = &alternative == &slices.alternatives[slices.chosen];
        text += fmt::format("  {:>7} {:>14} cycles {}{}\n", alternative.images, alternative.cycles,
                            count_of(alternative.slices, "slice"), chosen ? "  chosen" : "");
    }
    return text;
}

}  // namespace

ScheduledNetwork schedule_of(mapping::Network network, const RunSpec& spec,
                             const schedule::Options& options) {
    schedule::FittedNetwork fit = fitted(with_short_lines(std::move(network), spec), spec, options);
    if (!fit.fit) {
        fit.target = with_slices(fit.network, std::move(fit.target), spec, options);
        fit.target = with_stages(fit.network, std::move(fit.target), spec, options);
    }
    ScheduledNetwork scheduled;
    scheduled.schedule = schedule::make_schedule(fit.network, fit.target, options);
    scheduled.network = std::move(fit.network);
    if (fit.fit) {
        scheduled.cut_images = CutImages{.cut_layers = fit.fit->cut_layers,
                                         .strips = fit.fit->strips,
                                         .extra_macs = fit.fit->extra_macs,
                                         .spilled = fit.fit->spilled,
                                         .spilled_bytes = fit.fit->spilled_bytes};
    }
    return scheduled;
}

std::string explain_mapping(const mapping::Network& given, const RunSpec& spec,
                            const schedule::Options& options) {
    const mapping::Network network = with_short_lines(given, spec);
    const Mapping& mapping = spec.compiler.mapping;
    std::string text =
        fmt::format("{}: predicted cycles of a batch of {}, by layer and pixels in a row of sums\n",
                    network.name, std::min<std::uint64_t>(options.batch, options.inferences));
    if (!mapping.pixel_blocks && !mapping.join_by_cost) {
        return text + "  the mapping has one pixel in each row: --mapping best chooses\n";
    }
    std::string choices;
    if (mapping.join_by_cost) choices += joins_text(network, compare_joins(network, spec, options));
    if (mapping.pixel_blocks) {
        schedule::Target target = with_joins(network, spec, options);
        const bool asked = target.mapping.split_channels;
        target.mapping.split_channels = with_blocks(network, spec, options).mapping.split_channels;
        if (asked && !target.mapping.split_channels) {
            choices += "channels are not cut in parts: that would not save 1 % of all cycles\n";
        }
        choices += blocks_text(network, schedule::compare_blocks(network, target, spec.machine, options));
    }
    text += choices.empty() ? "  no layer has a choice\n" : choices;
    const schedule::FittedNetwork fit = fitted(network, spec, options);
    if (fit.fit) return text + schedule::to_text(*fit.fit);
    if (mapping.double_buffers) {
        text += slices_text(schedule::compare_slices(fit.network, fit.target, spec.machine, options));
    }
    if (mapping.pipeline) {
        schedule::Target target = with_slices(fit.network, fit.target, spec, options);
        target.mapping.costs = costs_of(spec);
        text += stages_text(fit.network, schedule::compare_stages(fit.network, target, options));
    }
    return text;
}

std::string memory_text(const schedule::Schedule& schedule) {
    const schedule::MemoryPlan& memory = schedule.memory;
    const std::uint64_t row_bytes = schedule.target.geometry.rows;
    const std::string sizes = fmt::format("unified buffer: {} bytes allocated, {} live at once",
                                          memory.rows * row_bytes, memory.least_rows * row_bytes);
    if (memory.least_rows == 0) return sizes + "\n";  // nothing of the network is on the chip
    const double more = static_cast<double>(memory.rows) / static_cast<double>(memory.least_rows) - 1.0;
    return fmt::format("{}: {:.1f} % more\n", sizes, 100.0 * more);
}

std::string mapping_key(const RunSpec& spec) {
    const Mapping& mapping = spec.compiler.mapping;
    std::string key = to_json(target_of(spec.machine, mapping)).dump();
    // The costs that joins, blocks and slices are chosen by depend on the whole machine.
    if (mapping.join_by_cost || mapping.pixel_blocks || mapping.double_buffers || mapping.pipeline ||
        mapping.cut_images || mapping.compare)
        key += machine::record_json(spec.machine).dump();
    if ((mapping.pipeline || mapping.compare) && spec.host) key += nlohmann::json(*spec.host).dump();
    return key;
}

nlohmann::json to_json(const schedule::Target& target) {
    // The bindings name every field, so a new field does not compile until it is written here.
    const auto& [geometry, accumulator_rows, unified_buffer_rows, weight_memory_bytes, spill_weights,
                 row_sums, sum_bits, activation_delay, mapping] = target;
    const auto& [rows, columns] = geometry;
    const auto& [join_convolutions, joins, skip_zero_tiles, split_channels, parts_by_delay,
                 group_first_layers, order, overlap_transfers, in_place, double_buffers, slice_images, blocks,
                 rests, pipeline, costs] = mapping;
    nlohmann::json block_sizes = nlohmann::json::array();
    for (const mapping::PixelBlock& block : blocks) block_sizes.push_back({block.width, block.height});
    nlohmann::json rest_sizes = nlohmann::json::array();
    for (const schedule::ChannelRest& rest : rests) {
        rest_sizes.push_back({rest.first_channel, rest.block.width, rest.block.height});
    }
    return {{"rows", rows},
            {"columns", columns},
            {"accumulator_rows", accumulator_rows},
            {"unified_buffer_rows", unified_buffer_rows},
            {"weight_memory_bytes", weight_memory_bytes},
            {"spill_weights", spill_weights},
            {"row_sums", row_sums},
            {"sum_bits", sum_bits},
            {"activation_delay", activation_delay},
            {"join_convolutions", join_convolutions},
            {"joins", joins},
            {"skip_zero_tiles", skip_zero_tiles},
            {"split_channels", split_channels},
            {"parts_by_delay", parts_by_delay},
            {"group_first_layers", group_first_layers},
            {"order", order},
            {"overlap_transfers", overlap_transfers},
            {"in_place", in_place},
            {"double_buffers", double_buffers},
            {"slice_images", slice_images},
            {"blocks", block_sizes},
            {"rests", rest_sizes},
            {"stages", pipeline ? nlohmann::json(pipeline->stages) : nlohmann::json()},
            {"weights_first", pipeline && pipeline->weights_first},
            {"machine", costs ? nlohmann::json(machine::record_json(costs->machine)) : nlohmann::json()}};
}

}  // namespace systole::run
