#include "sim/view/report/explanations.h"

#include <fmt/format.h>

#include <string_view>

#include "sim/view/report/json_values.h"
#include "sim/view/report/main_layers.h"
#include "sim/view/report/numbers.h"
#include "sim/view/terminal/layout.h"

namespace systole::report {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t text_indent = 2;

std::string paragraph(std::string_view text, std::size_t width) {
    return fmt::format("{:{}}{}\n", "", text_indent,
                       terminal::wrapped(text, width - text_indent, text_indent));
}

std::string layer_text(const Explanation& layer, std::string_view name, const terminal::Look& look) {
    return fmt::format("{} ({} of the run)\n", look.paint(terminal::Role::Heading, name),
                       percent(layer.share)) +
           paragraph(layer.text, look.width());
}

/// The layers with cycles, in the network's order; the work outside layers comes last, as in the report.
std::vector<const Explanation*> layers_with_cycles(const std::vector<Explanation>& by_tag) {
    std::vector<const Explanation*> layers;
    for (std::size_t i = 1; i <= by_tag.size(); ++i) {
        const Explanation& layer = by_tag[i % by_tag.size()];
        if (layer.cycles > 0) layers.push_back(&layer);
    }
    return layers;
}

/// Several layers without their explanations.
Explanation sum_of(const std::vector<const Explanation*>& layers, const std::vector<std::size_t>& others) {
    Explanation sum{.name = fmt::format("{} other layers", others.size()),
                    .cycles = 0,
                    .share = {},
                    .sentence = {},
                    .what_if = {},
                    .speedup = {},
                    .text = {}};
    for (const std::size_t i : others) {
        sum.cycles += layers[i]->cycles;
        if (layers[i]->share) sum.share = sum.share.value_or(0.0) + *layers[i]->share;
    }
    sum.text = fmt::format("{} cycles; --all explains each of them.", grouped(sum.cycles));
    return sum;
}

}  // namespace

OrderedJson to_json(const Explanation& explanation, const std::vector<WhatIf>& what_ifs) {
    OrderedJson json{{"text", explanation.text}, {"what_if", nullptr}};
    if (explanation.what_if) {
        json["what_if"] = {{"change", what_ifs.at(*explanation.what_if).change},
                           {"speedup", or_null(explanation.speedup)}};
    }
    return json;
}

OrderedJson to_json(const Explanations& explanations) {
    OrderedJson json = to_json(explanations.run, explanations.what_ifs);
    json["what_ifs"] = list_of(explanations.what_ifs, [](const WhatIf& what_if) -> OrderedJson {
        return {{"change", what_if.change},
                {"settings", what_if.settings},
                {"speedup", or_null(what_if.speedup)},
                {"error", what_if.error},
                {"remark", what_if.remark}};
    });
    return json;
}

std::string to_text(const Explanations& explanations, const terminal::Look& look, bool all_layers) {
    const auto heading = [&](std::string_view text) {
        return look.paint(terminal::Role::Heading, text) + '\n';
    };
    std::string text = heading("The run") + paragraph(explanations.run.text, look.width());
    const std::vector<const Explanation*> layers = layers_with_cycles(explanations.layers);
    if (layers.size() > 1) {  // a single layer would repeat the run's explanation
        std::vector<std::uint64_t> cycles;
        cycles.reserve(layers.size());
        for (const Explanation* const layer : layers) cycles.push_back(layer->cycles);
        const LayerLines lines = main_layers(cycles, all_layers);
        constexpr std::size_t share_width = 24;
        std::vector<std::string> names;
        names.reserve(layers.size());
        for (const Explanation* const layer : layers) names.push_back(layer->name);
        const std::vector<std::string> shown = terminal::told_apart(names, look.width() - share_width);
        for (const std::size_t i : lines.listed) text += layer_text(*layers[i], shown[i], look);
        if (!lines.others.empty()) {
            const Explanation others = sum_of(layers, lines.others);
            text += layer_text(others, others.name, look);
        }
    }
    if (explanations.what_ifs.empty()) return text;
    text += '\n' + heading("Simulated for this: the speed of an inference in the run");
    for (const WhatIf& what_if : explanations.what_ifs) {
        const bool is_slower = what_if.speedup.value_or(1.0) <= 1.0 - noticeable_change;
        const std::string speed = what_if.error.empty()
                                      ? times(what_if.speedup) + (is_slower ? ", slower" : "")
                                      : "cannot run: " + what_if.error;
        const std::string remark = what_if.remark.empty() ? std::string() : ", " + what_if.remark;
        text += paragraph(fmt::format("{}: {}{}", what_if.change, speed, remark), look.width());
        for (const std::string& setting : what_if.settings) {
            text += fmt::format("{:{}}--set {}\n", "", 2 * text_indent, setting);
        }
    }
    return text;
}

}  // namespace systole::report
