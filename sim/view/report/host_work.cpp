// What the host does: inputs and outputs beside the run's time, and segments of the network in it.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "base/arithmetic.h"
#include "sim/view/report/figures.h"
#include "sim/view/report/json_values.h"
#include "sim/view/report/main_layers.h"
#include "sim/view/report/name_patterns.h"
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
    // One more takes no more room than "and 1 more".
    const bool are_few = names.size() <= named_layers + 1;
    std::vector<NameGroup> groups;
    if (are_few) {
        for (const std::string& name : names) groups.push_back({.pattern = name, .count = 1});
    } else {
        groups = groups_of(names);
    }
    const std::size_t named =
        groups.size() == named_layers + 1 ? groups.size() : std::min(groups.size(), named_layers);
    std::vector<std::string> patterns;
    std::size_t more = names.size();
    for (const NameGroup& group : std::span(groups).first(named)) {
        patterns.push_back(group.pattern);
        more -= group.count;
    }
    const std::vector<std::string> shown = in_few_columns(patterns);
    std::string text;
    for (std::size_t i = 0; i < named; ++i) {
        const std::string_view between = i == 0 ? "" : i + 1 == groups.size() ? " and " : ", ";
        text += fmt::format("{}{}", between, shown[i]);
        if (groups[i].count > 1) text += fmt::format(" x{}", groups[i].count);
    }
    if (more > 0) text += fmt::format(" and {} more", grouped(more));
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
    const std::string text = host_layers_text({{"layers", layers}});
    return {{"layers", std::move(layers)},
            {"text", text},
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
             {"name", work.name},
             {"seconds", seconds},
             {"layers", work.layers},
             {"share", or_null(ratio(seconds, record.seconds()))},
             {"images", work.images}});
    }
    return operations;
}

std::string segment_text(const Json& operation) {
    const std::string layers = operation["layer"];
    const std::string name = operation.value("name", layers);
    const Json all = operation.value("layers", Json::array());
    return all.empty() || all.front() == name ? layers : name;
}

Json repeated_host_work_json(const Json& operations) {
    std::map<std::string, std::size_t> places;
    std::vector<std::vector<const Json*>> groups;
    std::size_t segments = 0;
    for (const Json& operation : operations) {
        if (operation["kind"] != "segment") continue;
        ++segments;
        const auto [found, is_new] =
            places.try_emplace(without_numbers(segment_text(operation)), groups.size());
        if (is_new) groups.emplace_back();
        groups[found->second].push_back(&operation);
    }
    if (segments <= most_listed_layers + 1 || groups.size() == segments) return Json::array();
    return list_of(groups, [](const std::vector<const Json*>& group) -> Json {
        std::vector<std::string> names;
        std::vector<double> seconds;
        double share = 0.0;
        std::uint64_t images = 0;
        for (const Json* const operation : group) {
            names.push_back(segment_text(*operation));
            seconds.push_back((*operation)["seconds"]);
            share += number_at(*operation, "share").value_or(0.0);
            images = std::max(images, (*operation)["images"].get<std::uint64_t>());
        }
        const auto [least, most] = std::ranges::minmax(seconds);
        return {{"name", pattern_of(names)},
                {"count", group.size()},
                {"seconds", std::accumulate(seconds.begin(), seconds.end(), 0.0)},
                {"least_seconds", least},
                {"most_seconds", most},
                {"share", share},
                {"images", images}};
    });
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
