#include "sim/view/report/explanations.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "sim/view/report/json_values.h"
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

std::string layer_text(const Explanation& layer, const terminal::Look& look) {
    if (layer.cycles == 0) return {};
    constexpr std::size_t share_width = 24;
    const std::string name = terminal::fitted(layer.name, look.width() - share_width);
    return fmt::format("{} ({} of the run)\n", look.paint(terminal::Role::Heading, name),
                       percent(layer.share)) +
           paragraph(layer.text, look.width());
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
                {"error", what_if.error}};
    });
    return json;
}

std::string to_text(const Explanations& explanations, const terminal::Look& look) {
    const auto heading = [&](std::string_view text) {
        return look.paint(terminal::Role::Heading, text) + '\n';
    };
    std::string text = heading("The run") + paragraph(explanations.run.text, look.width());
    const std::vector<Explanation>& by_tag = explanations.layers;
    const auto with_cycles = std::count_if(by_tag.begin(), by_tag.end(),
                                           [](const Explanation& layer) { return layer.cycles > 0; });
    if (with_cycles > 1) {  // a single layer would repeat the run's explanation
        for (std::size_t i = 1; i < by_tag.size(); ++i) text += layer_text(by_tag[i], look);
        text += layer_text(by_tag.front(), look);  // cycles outside layers come last, as in the report
    }
    if (explanations.what_ifs.empty()) return text;
    text += '\n' + heading("Simulated for this: the speed of an inference in the run");
    for (const WhatIf& what_if : explanations.what_ifs) {
        constexpr double shown_below_one = 0.995;  // larger factors are printed as 1.00
        const bool is_slower = what_if.speedup.value_or(1.0) < shown_below_one;
        const std::string speed = what_if.error.empty()
                                      ? times(what_if.speedup) + (is_slower ? ", slower" : "")
                                      : "cannot run: " + what_if.error;
        text += paragraph(fmt::format("{}: {}", what_if.change, speed), look.width());
        for (const std::string& setting : what_if.settings) {
            text += fmt::format("{:{}}--set {}\n", "", 2 * text_indent, setting);
        }
    }
    return text;
}

}  // namespace systole::report
