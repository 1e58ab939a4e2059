// The layers of a report: cycles of the main unit, bounds, energy and place on the roofline of each.
#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

#include "sim/view/report/json_values.h"
#include "sim/view/report/main_unit.h"
#include "sim/view/report/sections.h"

namespace systole::report {
namespace {

using run::Tag;

/// The name of a tag that the program does not set: that of the layer, which has no cycles. That of tag 0 is
/// "(outside layers)": transfers to and from the host.
std::string name_under(const run::ProgramFacts& program, Tag tag) {
    return tag < program.tags.size() ? program.tags[tag].name : program.layers[tag - 1U].name;
}

std::size_t last_tag(const run::ProgramFacts& program) {
    return std::max(program.layers.size(), program.tags.size() - 1);
}

Cycle bound_at(const run::RunRecord& record, std::string_view name, std::optional<Tag> tag) {
    const auto found = std::ranges::find(record.bounds, name, &machine::Bound::name);
    if (found == record.bounds.end()) throw std::logic_error("there is no bound " + std::string(name));
    return tag ? found->value(*tag) : found->value();
}

Cycle largest_cycles(const run::RunRecord& record, Tag tag) {
    const machine::Bound* const largest = largest_bound(record.bounds, tag);
    return largest == nullptr ? 0 : largest->value(tag);
}

/// The bounds of the run, or of one tag. `ratio` is the cycles over the sum, over the layers, of each layer's
/// largest bound besides `macs`: how much the schedule leaves unhidden, below 1 where layers overlap; `fill`
/// is `macs` over `array`: how much of the array the mapping fills.
Json bounds_of(const run::RunRecord& record, std::optional<Tag> tag, std::optional<double> ratio_of_cycles) {
    Json object = Json::object();
    for (const machine::Bound& each : record.bounds) {
        object[each.name] = tag ? each.value(*tag) : each.value();
    }
    object["ratio"] = or_null(ratio_of_cycles);
    object["fill"] = or_null(ratio(bound_at(record, "macs", tag), bound_at(record, "array", tag)));
    return object;
}

Json energy_of(const std::optional<energy::Joules>& joules) {
    if (!joules) return nullptr;
    Json by_unit = Json::object();
    for (std::size_t i = 0; i < joules->size(); ++i) by_unit[joules->name(i)] = (*joules)[i];
    return {{"joules", joules->total()},
            {"static_joules", joules->of_static_power()},
            {"dynamic_joules", joules->dynamic()},
            {"by_unit", std::move(by_unit)}};
}

/// Absent if nothing fell to a tag that is no layer of the network.
std::optional<Json> layer_json(const Basis& basis, Tag tag, const Explanations* explanations) {
    const run::RunRecord& record = basis.record;
    const run::ProgramFacts& program = record.program;
    const MainUnit unit = main_unit(basis.main, record.counters, tag);
    const Cycle cycles = record.cycles_under(tag);
    const std::optional<energy::Joules> joules = energy_under(record, tag, cycles);
    const Cycle largest = largest_cycles(record, tag);
    const bool is_layer = tag > 0 && tag <= program.layers.size();
    const bool has_work = cycles > 0 || unit.cycles() > 0 || largest > 0 || (joules && joules->total() > 0.0);
    if (!is_layer && !has_work) return std::nullopt;
    const run::LayerFacts facts = is_layer ? program.layers[tag - 1U] : run::LayerFacts();
    const std::uint64_t macs = record.needed_macs(tag);
    const std::uint64_t fetched = weight_bytes(record, tag);
    Json object{{"name", name_under(program, tag)},
                {"kind", facts.kind},
                {"cycles", cycles},
                {"share", or_null(ratio(cycles, record.cycles))},
                {"array_utilization", or_null(ratio(unit.useful_macs, unit.useful_macs + unit.unused_macs))},
                {"macs_per_inference", facts.macs},
                {"weight_bytes", fetched},
                {"achieved_tops", or_null(tops(macs, seconds_of(cycles, basis.machine)))}};
    if (basis.parts.weight_memory) object["roofline"] = roofline_json(basis.machine, macs, fetched);
    // Most cycles outside layers are the end of the last one.
    object["bounds"] = bounds_of(record, tag, tag > 0 ? ratio(cycles, largest) : std::optional<double>());
    object[basis.main.name] = to_json(unit);
    object["energy"] = energy_of(joules);
    if (explanations == nullptr || tag >= explanations->layers.size()) return object;
    const Json why = to_json(explanations->layers[tag], explanations->what_ifs);
    object["explanation"] = why["text"];
    object["what_if"] = why["what_if"];
    return object;
}

}  // namespace

Json bounds_json(const Basis& basis) {
    Cycle largest = 0;
    for (std::size_t tag = 0; tag <= last_tag(basis.record.program); ++tag) {
        largest += largest_cycles(basis.record, static_cast<Tag>(tag));
    }
    return bounds_of(basis.record, std::nullopt, ratio(basis.record.cycles, largest));
}

Json layers_json(const Basis& basis, const Explanations* explanations) {
    Json layers = Json::array();
    const auto add = [&](std::size_t tag) {
        if (auto layer = layer_json(basis, static_cast<Tag>(tag), explanations)) {
            layers.push_back(*std::move(layer));
        }
    };
    for (std::size_t tag = 1; tag <= last_tag(basis.record.program); ++tag) add(tag);
    add(0);
    return layers;
}

Json instruction_kinds_json(const Basis& basis) {
    const run::RunRecord& record = basis.record;
    const auto cycles_of = [&](const InstructionKind& kind) {
        Cycle cycles = 0;
        for (std::size_t tag = 0; tag < record.program.tags.size(); ++tag) {
            if (record.program.tags[tag].instruction == kind.instruction)
                cycles += record.cycles_under(static_cast<Tag>(tag));
        }
        return cycles;
    };
    return list_of(by_instruction_kind(record.program.tags, basis.main, record.counters),
                   [&](const InstructionKind& kind) -> Json {
                       return {{"instruction", kind.instruction},
                               {"executed", kind.executed},
                               {"cycles", cycles_of(kind)},
                               {basis.main.name, to_json(kind.main_unit)}};
                   });
}

}  // namespace systole::report
