#include "sim/view/report/baseline_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/view/terminal/layout.h"

namespace systole::baselines {
namespace {

using Json = nlohmann::ordered_json;

std::string shown(const Json& value) {
    if (value.is_string()) return value.get<std::string>();
    return value.is_number_integer() ? value.dump() : fmt::format("{:.6g}", value.get<double>());
}

/// Prints the keys of the file with their values; the names of keys contain the units.
void add_figures(std::string& text, const Json& object, const std::string& path, const Baseline& baseline,
                 const terminal::Look& look) {
    for (const auto& [key, value] : object.items()) {
        if (value.is_object()) {
            if (key != "sources") add_figures(text, value, path + key + ".", baseline, look);
            continue;
        }
        if (path.empty() && (key == "schema" || key == "name" || key == "description")) continue;
        const std::string full = path + key;
        const auto source = baseline.sources.find(full);
        const std::string figure = fmt::format("  {:<40} {:>12}   ", full, shown(value));
        const std::string origin = source == baseline.sources.end() ? std::string() : source->second;
        const std::string line =
            look.columns ? terminal::beside(figure, origin, *look.columns) : figure + origin;
        text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
    }
}

}  // namespace

std::string to_text(const Baseline& baseline, const terminal::Look& look) {
    std::string text = look.paint(terminal::Role::Heading, baseline.name);
    if (!baseline.description.empty()) text += ": " + baseline.description;
    if (look.columns) text = terminal::wrapped(text, *look.columns);
    text += '\n';
    add_figures(text, to_json(baseline), "", baseline, look);
    const auto absent = [&](bool known, const char* what) {
        if (!known) text += terminal::beside("  ", what, look.width()) + '\n';
    };
    absent(baseline.server.tdp_watts > 0.0, "no server's watts: performance per watt is not compared");
    absent(baseline.peak_int8_gops > 0.0, "no peak in 8-bit integers");
    absent(baseline.efficiency.known(), "no efficiency: only upper bounds are compared");
    return text;
}

}  // namespace systole::baselines
