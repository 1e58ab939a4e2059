#include "compiler/target/tpu_v1/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/target/tpu_v1/choose/fit_memory.h"

namespace systole::tpu_v1 {

using mapping::Choice;

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

std::vector<Choice> joins(const std::vector<std::string>& names,
                          const std::vector<SiblingAlternatives>& sets) {
    std::vector<Choice> choices;
    for (const SiblingAlternatives& set : sets) {
        if (set.is_repeated) continue;
        Choice& choice = choices.emplace_back();
        choice.of = fmt::format("{} layers of the same rows, by those that go together", set.layers.size());
        for (const JoinAlternative& alternative : set.alternatives) {
            choice.alternatives.push_back(
                {.cycles = alternative.cycles,
                 .detail = fmt::format("{}  {}", count_of(alternative.tiles, "tile"),
                                       groups_text(names, set.layers, alternative.groups)),
                 .chosen = &alternative == &set.alternatives[set.chosen]});
        }
    }
    return choices;
}

std::vector<Choice> blocks(const std::vector<std::string>& names,
                           const std::vector<LayerAlternatives>& layers) {
    std::vector<Choice> choices;
    for (const LayerAlternatives& layer : layers) {
        const std::vector<std::uint32_t> together(layer.layers.size(), 0);
        Choice& choice = choices.emplace_back();
        choice.of = groups_text(names, layer.layers, together);
        for (const BlockAlternative& alternative : layer.alternatives) {
            const ChannelRest& rest = alternative.rest;
            const std::string split = rest.first_channel == 0
                                          ? ""
                                          : fmt::format("  {} x {} from channel {} on", rest.block.width,
                                                        rest.block.height, rest.first_channel);
            choice.alternatives.push_back(
                {.name = fmt::format("{:>3} x {}", alternative.block.width, alternative.block.height),
                 .cycles = alternative.cycles,
                 .detail = count_of(alternative.tiles, "tile") + split,
                 .chosen = &alternative == &layer.alternatives[layer.chosen]});
        }
    }
    return choices;
}

/// Those with the fewest cycles first.
Choice stages(const std::vector<std::string>& names, const StageAlternatives& stages) {
    constexpr std::size_t most = 12;
    std::vector<std::size_t> order(stages.alternatives.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return stages.alternatives[i].cycles; });
    Choice choice{.of = "all inferences, by images in a slice and the stages of a pipeline of slices"};
    for (const std::size_t i : std::span(order).first(std::min(order.size(), most))) {
        const StageAlternative& alternative = stages.alternatives[i];
        const Pipeline& pipeline = alternative.pipeline;
        std::string begin;
        for (const std::uint32_t layer : pipeline.stages) begin += " " + names[layer];
        choice.alternatives.push_back(
            {.name = fmt::format("{:>7}", alternative.images),
             .cycles = alternative.cycles,
             .detail = fmt::format(" {}{}{}", begin.empty() ? "one stage" : "stages from", begin,
                                   pipeline.weights_first ? ", weights first" : ""),
             .chosen = stages.chosen == i});
    }
    choice.left_out = order.size() - choice.alternatives.size();
    return choice;
}

Choice slices(const SliceAlternatives& slices) {
    Choice choice{.of = "all inferences, by images in a slice of the batch"};
    for (const SliceAlternative& alternative : slices.alternatives) {
        choice.alternatives.push_back({.name = fmt::format("{:>7}", alternative.images),
                                       .cycles = alternative.cycles,
                                       .detail = count_of(alternative.slices, "slice"),
                                       .chosen = &alternative == &slices.alternatives[slices.chosen]});
    }
    return choice;
}

}  // namespace

std::vector<Choice> choices(const MappedNetwork& mapped, const mapping::Batches& batches) {
    const machine::Mapping& mapping = mapped.target.mapping;
    const Comparisons& compared = mapped.compared;
    std::vector<Choice> all;
    const auto add = [&all](const std::vector<Choice>& choices) {
        all.insert(all.end(), choices.begin(), choices.end());
    };
    all.push_back(
        {.of = fmt::format("{}: predicted cycles of a batch of {}, by layer and pixels in a row of sums",
                           mapped.analysed.network().name,
                           std::min<std::uint64_t>(batches.batch, batches.inferences))});
    if (!mapping.pixel_blocks && !mapping.join_by_cost) {
        all.push_back({.of = "  the mapping has one pixel in each row: --mapping best chooses"});
        return all;
    }
    add(joins(compared.layers, compared.joins));
    if (compared.channels_stay_whole) {
        all.push_back({.of = "channels are not cut in parts: that would not save 1 % of all cycles"});
    }
    add(blocks(compared.layers, compared.blocks));
    if (all.size() == 1) all.push_back({.of = "  no layer has a choice"});
    if (mapped.cut_images) {
        std::string cuts = to_text(*mapped.cut_images);
        cuts.pop_back();  // the end of its last line
        all.push_back({.of = std::move(cuts)});
        return all;
    }
    if (compared.slices.alternatives.size() > 1) all.push_back(slices(compared.slices));
    if (compared.stages.alternatives.size() > 1) all.push_back(stages(compared.layers, compared.stages));
    return all;
}

Choice choice_of(const ComparedMappings& compared, std::uint64_t inferences) {
    Choice choice{.of = "all inferences, by the mapping of the whole network"};
    for (const mapping::WholeMapping& alternative : compared.alternatives) {
        const std::string what = alternative.simulated == 0 ? ", in the array alone"
                                 : alternative.simulated == inferences
                                     ? ""
                                     : fmt::format(", from {} inferences", alternative.simulated);
        choice.alternatives.push_back({.cycles = alternative.cycles,
                                       .detail = fmt::format(" {}{}", alternative.name, what),
                                       .chosen = &alternative == &compared.alternatives[compared.chosen]});
    }
    return choice;
}

Choice memory_taken(const Schedule& schedule) {
    const MemoryPlan& memory = schedule.memory;
    const std::uint64_t row_bytes = schedule.target.geometry.rows;
    std::string text = fmt::format("unified buffer: {} bytes allocated, {} live at once",
                                   memory.rows * row_bytes, memory.least_rows * row_bytes);
    if (memory.least_rows != 0) {  // otherwise nothing of the network is on the chip
        const double more = static_cast<double>(memory.rows) / static_cast<double>(memory.least_rows) - 1.0;
        text += fmt::format(": {:.1f} % more", 100.0 * more);
    }
    return {.of = text};
}

}  // namespace systole::tpu_v1
