// What the host does: inputs and outputs beside the run's time, and segments of the network in it.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>

#include "base/arithmetic.h"
#include "sim/view/report/json_values.h"
#include "sim/view/report/numbers.h"
#include "sim/view/report/sections.h"
#include "sim/view/terminal/layout.h"

namespace systole::report {
namespace {

/// So many layers of the host are named.
constexpr std::size_t named_layers = 3;

/// Names in few columns each; in more where they would look the same.
std::vector<std::string> in_few_columns(std::span<const std::string> names) {
    constexpr std::size_t preferred = 24;
    constexpr std::size_t most = 96;
    constexpr std::size_t step = 4;
    const std::set<std::string> different(names.begin(), names.end());
    for (std::size_t width = preferred; width <= most; width += step) {
        std::vector<std::string> shown;
        for (const std::string& name : names) shown.push_back(terminal::with_both_ends(name, width));
        if (std::set(shown.begin(), shown.end()).size() == different.size()) return shown;
    }
    return terminal::told_apart(names, most);
}

/// Whether a layer of the network, or an instruction of a program without layers, computes on the chip.
/// Moving data is not enough, neither is what the chip does for a layer of the host.
bool chip_computes(const run::RunRecord& record) {
    const auto works = [&](const auto& value) {
        return std::ranges::any_of(record.main_unit().main->works, [&](const std::string& path) {
            return value(record.counters.at(path)) > 0;
        });
    };
    const run::ProgramFacts& program = record.program;
    if (program.layers.empty()) return works([](const run::Counter& counter) { return counter.value(); });
    const std::size_t last_tag = std::max(program.layers.size(), program.tags.size() - 1);
    for (std::size_t number = 1; number <= last_tag; ++number) {
        const auto tag = static_cast<run::Tag>(number);
        // A segment may have the name of a layer of which it does a part.
        if (number <= program.layers.size() && program.layers[number - 1].kind == "host") continue;
        if (works([tag](const run::Counter& counter) { return counter.value(tag); })) return true;
    }
    return false;
}

}  // namespace

std::string layers_text(std::span<const std::string> names) {
    std::string text;
    const std::size_t count = names.size();
    // One more takes no more room than "and 1 more".
    const std::size_t named = count == named_layers + 1 ? count : std::min(count, named_layers);
    const std::vector<std::string> shown = in_few_columns(names.first(named));
    for (std::size_t i = 0; i < named; ++i) {
        const std::string_view between = i == 0 ? "" : i + 1 == count ? " and " : ", ";
        text += fmt::format("{}{}", between, shown[i]);
    }
    if (named < count) text += fmt::format(" and {} more", grouped(count - named));
    return text;
}

std::string host_layers_text(const Json& host_share) {
    std::vector<std::string> names;
    for (const Json& layer : host_share["layers"]) names.push_back(layer["name"]);
    return layers_text(names);
}

Json host_share_json(const run::RunRecord& record) {
    Json layers = Json::array();
    std::uint64_t macs = 0;
    Cycle cycles = 0;
    for (const run::SegmentWork& work : record.host_segments) {
        if (work.macs.empty()) continue;
        cycles += work.cycles;
        for (std::size_t i = 0; i < work.macs.size(); ++i) {
            if (work.macs[i] == 0) continue;
            layers.push_back({{"name", work.layers.at(i)}, {"macs_per_inference", work.macs[i]}});
            macs = saturating_sum(macs, work.macs[i]);
        }
    }
    if (layers.empty()) return nullptr;
    const auto of_host = static_cast<double>(macs);
    const double seconds = seconds_of(cycles, record.spec.machine);
    return {{"layers", std::move(layers)},
            {"macs_per_inference", macs},
            {"macs_share", of_host / (of_host + static_cast<double>(record.program.macs()))},
            {"seconds", seconds},
            {"seconds_share", or_null(ratio(seconds, record.seconds()))}};
}

Json host_operations_json(const run::RunRecord& record) {
    Json operations = Json::array();
    for (const run::HostWork& work : record.host_work) {
        operations.push_back(
            {{"kind", work.kind}, {"layer", work.layer}, {"seconds", or_null(work.seconds)}});
    }
    for (const run::SegmentWork& work : record.host_segments) {
        const double seconds = seconds_of(work.cycles, record.spec.machine);
        operations.push_back(
            {{"kind", "segment"},
             {"layer", work.layers.empty() ? work.name : fmt::format("{}", fmt::join(work.layers, ", "))},
             {"seconds", seconds},
             {"layers", work.layers},
             {"share", or_null(ratio(seconds, record.seconds()))},
             {"images", work.images}});
    }
    return operations;
}

std::string why_no_speed(const run::RunRecord& record, const Json& host_share) {
    if (record.program.inferences == 0) return {};  // a bare program: cycles are all that it has
    if (!host_share.is_null() && record.program.macs() == 0) {
        return fmt::format("all multiply-accumulates run on the host: {}", host_layers_text(host_share));
    }
    if (chip_computes(record)) return {};
    std::vector<std::string> of_host;
    for (const run::SegmentWork& work : record.host_segments) {
        of_host.insert(of_host.end(), work.layers.begin(), work.layers.end());
    }
    for (const run::HostWork& work : record.host_work) {
        if (work.kind != "quantize_input") of_host.push_back(work.layer);
    }
    if (of_host.empty()) return "the chip computes nothing";
    return fmt::format("the chip computes nothing; on the host: {}", layers_text(of_host));
}

}  // namespace systole::report
