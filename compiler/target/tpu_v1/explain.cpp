#include "compiler/target/tpu_v1/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#include "compiler/target/tpu_v1/choose/fit_memory.h"

namespace systole::tpu_v1 {
namespace {

std::string count_of(std::uint64_t count, std::string_view thing) {
    return fmt::format("{:>8} {}{}", count, thing, count == 1 ? "" : "s");
}

/// "a + b | c": layers of a group, and groups.
std::string groups_text(const std::vector<std::string>& names, const std::vector<std::uint32_t>& layers,
                        const std::vector<std::uint32_t>& groups) {
    std::string text;
    const auto count = *std::ranges::max_element(groups) + 1;
    for (std::uint32_t group = 0; group < count; ++group) {
        std::string_view separator = group == 0 ? "" : " | ";
        for (std::size_t i = 0; i < groups.size(); ++i) {
            if (groups[i] != group) continue;
            text += fmt::format("{}{}", separator, names[layers[i]]);
            separator = " + ";
        }
    }
    return text;
}

std::string joins_text(const std::vector<std::string>& names, const std::vector<SiblingAlternatives>& sets) {
    std::string text;
    for (const SiblingAlternatives& set : sets) {
        text += fmt::format("{} layers of the same rows, by those that go together\n", set.layers.size());
        for (const JoinAlternative& alternative : set.alternatives) {
            const bool chosen = &alternative == &set.alternatives[set.chosen];
            text += fmt::format("  {:>22} cycles {}  {}{}\n", alternative.cycles,
                                count_of(alternative.tiles, "tile"),
                                groups_text(names, set.layers, alternative.groups), chosen ? "  chosen" : "");
        }
    }
    return text;
}

std::string blocks_text(const std::vector<std::string>& names, const std::vector<LayerAlternatives>& layers) {
    std::string text;
    for (const LayerAlternatives& layer : layers) {
        const std::vector<std::uint32_t> together(layer.layers.size(), 0);
        text += groups_text(names, layer.layers, together) + "\n";
        for (const BlockAlternative& alternative : layer.alternatives) {
            const bool chosen = &alternative == &layer.alternatives[layer.chosen];
            const ChannelRest& rest = alternative.rest;
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

std::string stages_text(const std::vector<std::string>& names, const StageAlternatives& stages) {
    if (stages.alternatives.size() < 2) return {};
    constexpr std::size_t most_lines = 12;
    std::vector<std::size_t> order(stages.alternatives.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return stages.alternatives[i].cycles; });
    std::string text = "all inferences, by images in a slice and the stages of a pipeline of slices\n";
    for (const std::size_t i : std::span(order).first(std::min(order.size(), most_lines))) {
        const StageAlternative& alternative = stages.alternatives[i];
        const Pipeline& pipeline = alternative.pipeline;
        std::string begin;
        for (const std::uint32_t layer : pipeline.stages) begin += " " + names[layer];
        text += fmt::format("  {:>7} {:>14} cycles  {}{}{}{}\n", alternative.images, alternative.cycles,
                            begin.empty() ? "one stage" : "stages from", begin,
                            pipeline.weights_first ? ", weights first" : "",
                            stages.chosen == i ? "  chosen" : "");
    }
    if (order.size() > most_lines) text += fmt::format("  and {} more\n", order.size() - most_lines);
    return text;
}

std::string slices_text(const SliceAlternatives& slices) {
    if (slices.alternatives.size() < 2) return {};
    std::string text = "all inferences, by images in a slice of the batch\n";
    for (const SliceAlternative& alternative : slices.alternatives) {
        const bool chosen = &alternative == &slices.alternatives[slices.chosen];
        text += fmt::format("  {:>7} {:>14} cycles {}{}\n", alternative.images, alternative.cycles,
                            count_of(alternative.slices, "slice"), chosen ? "  chosen" : "");
    }
    return text;
}

}  // namespace

std::string explain(const MappedNetwork& mapped, const mapping::Batches& batches) {
    const machine::Mapping& mapping = mapped.target.mapping;
    const Comparisons& compared = mapped.compared;
    std::string text = fmt::format(
        "{}: predicted cycles of a batch of {}, by layer and pixels in a row of sums\n",
        mapped.analysed.network().name, std::min<std::uint64_t>(batches.batch, batches.inferences));
    if (!mapping.pixel_blocks && !mapping.join_by_cost) {
        return text + "  the mapping has one pixel in each row: --mapping best chooses\n";
    }
    std::string choices = joins_text(compared.layers, compared.joins);
    if (compared.channels_stay_whole) {
        choices += "channels are not cut in parts: that would not save 1 % of all cycles\n";
    }
    choices += blocks_text(compared.layers, compared.blocks);
    text += choices.empty() ? "  no layer has a choice\n" : choices;
    if (mapped.cut_images) return text + to_text(*mapped.cut_images);
    return text + slices_text(compared.slices) + stages_text(compared.layers, compared.stages);
}

std::string memory_text(const Schedule& schedule) {
    const MemoryPlan& memory = schedule.memory;
    const std::uint64_t row_bytes = schedule.target.geometry.rows;
    const std::string sizes = fmt::format("unified buffer: {} bytes allocated, {} live at once",
                                          memory.rows * row_bytes, memory.least_rows * row_bytes);
    if (memory.least_rows == 0) return sizes + "\n";  // nothing of the network is on the chip
    const double more = static_cast<double>(memory.rows) / static_cast<double>(memory.least_rows) - 1.0;
    return fmt::format("{}: {:.1f} % more\n", sizes, 100.0 * more);
}

}  // namespace systole::tpu_v1
