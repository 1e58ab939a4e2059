#include "sim/report/explanations.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "sim/report/json_values.h"
#include "sim/report/numbers.h"

namespace systole::report {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t indent = 2;

/// The text in lines of at most `width` characters, broken at blanks, each behind `indent` of them.
std::string paragraph(std::string_view text, std::size_t width) {
    std::string lines;
    const std::size_t most = width - indent;
    while (!text.empty()) {
        std::size_t end = text.size();
        if (end > most) {
            end = text.rfind(' ', most);
            if (end == std::string_view::npos) end = std::min(text.find(' '), text.size());
        }
        lines += fmt::format("{:{}}{}\n", "", indent, text.substr(0, end));
        text.remove_prefix(std::min(text.size(), end + 1));
    }
    return lines;
}

std::string layer_text(const Explanation& layer, std::size_t width) {
    if (layer.cycles == 0) return {};
    constexpr std::size_t share_width = 24;
    return fmt::format("{} ({} of the run)\n", fitted(layer.name, width - share_width),
                       percent(layer.share)) +
           paragraph(layer.text, width);
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
    json["what_ifs"] = OrderedJson::array();
    for (const WhatIf& what_if : explanations.what_ifs) {
        json["what_ifs"].push_back({{"change", what_if.change},
                                    {"settings", what_if.settings},
                                    {"speedup", or_null(what_if.speedup)},
                                    {"error", what_if.error}});
    }
    return json;
}

std::string to_text(const Explanations& explanations, std::size_t width) {
    std::string text = "The run\n" + paragraph(explanations.run.text, width);
    const std::vector<Explanation>& by_tag = explanations.layers;
    const auto with_cycles = std::count_if(by_tag.begin(), by_tag.end(),
                                           [](const Explanation& layer) { return layer.cycles > 0; });
    if (with_cycles > 1) {  // one would repeat the run's
        for (std::size_t i = 1; i < by_tag.size(); ++i) text += layer_text(by_tag[i], width);
        text += layer_text(by_tag.front(), width);  // last, as in the report
    }
    if (explanations.what_ifs.empty()) return text;
    text += "\nSimulated for this: the speed of the run, an inference\n";
    for (const WhatIf& what_if : explanations.what_ifs) {
        const std::string speed =
            what_if.error.empty() ? times(what_if.speedup) : "cannot run: " + what_if.error;
        text += paragraph(fmt::format("{}: {}", what_if.change, speed), width);
        for (const std::string& setting : what_if.settings) {
            text += fmt::format("{:{}}--set {}\n", "", 2 * indent, setting);
        }
    }
    return text;
}

}  // namespace systole::report
