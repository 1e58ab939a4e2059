#include "sim/view/area/area.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "hw/machine/floorplan.h"

namespace systole::area {
namespace {

namespace floorplan = machine::floorplan;
using machine::DieAnchor;
using machine::DiePart;

/// The factor of a process on transistors of another: with published SRAM cells; or with the square of its
/// name, which is the ideal. Pads and analog circuits do not shrink.
Estimate process_factor(double process_nm, double anchor_nm) {
    const double ideal = process_nm / anchor_nm;
    return floorplan::between(sram_cell_um2(process_nm) / sram_cell_um2(anchor_nm), {ideal * ideal});
}

/// A part in the machine's process, still in per cent of the anchor.
Estimate in_process(const DiePart& part, const Estimate& process) {
    const Estimate& percent = part.percent;
    if (!part.shrinks) return percent;
    return {percent.nominal * process.nominal, percent.low * process.low, percent.high * process.high};
}

Estimate mm2(const Estimate& percent, const DieAnchor& die) {
    const auto of = [&die](double value) { return value * die.mm2 / 100.0; };
    return {of(percent.nominal), of(percent.low), of(percent.high)};
}

/// What no unit takes: pads, and a rest that grows with the units between which it lies, or stays.
std::vector<DiePart> beside_units(const std::vector<DiePart>& units, const DieAnchor& die) {
    double core = 0.0;
    double core_of_anchor = 0.0;
    double named = 0.0;
    for (const DiePart& part : units) {
        if (part.core_percent > 0.0) core += part.percent.nominal;
        core_of_anchor += part.core_percent;
        named += part.unnamed_percent;
    }
    const double rest = die.unnamed_percent - named;
    return {{.name = "io",
             .label = "io",
             .place = 8,
             .percent = floorplan::between(die.io_percent),
             .shrinks = false},
            {.name = "other",
             .label = "other",
             .place = 10,
             .percent = floorplan::between(rest * core / core_of_anchor, {rest})}};
}

}  // namespace

double sram_cell_um2(double process_nm) {
    struct Cell {
        double process_nm;
        double um2;
    };
    constexpr std::array<Cell, 4> cells{
        {{7.0, 0.027}, {16.0, 0.07}, {28.0, floorplan::sram_cell_um2}, {45.0, 0.346}}};
    std::size_t upper = 1;
    while (upper + 1 < cells.size() && process_nm > cells[upper].process_nm) ++upper;
    const Cell& a = cells[upper - 1];
    const Cell& b = cells[upper];
    if (process_nm == b.process_nm) return b.um2;  // exactly, not by logarithms
    const double part = std::log(process_nm / a.process_nm) / std::log(b.process_nm / a.process_nm);
    return a.um2 * std::pow(b.um2 / a.um2, part);
}

bool is_known(std::span<const machine::UnitDescription> units) {
    return std::ranges::any_of(units, [](const machine::UnitDescription& unit) {
        return unit.main.has_value() && unit.die_part.has_value() && unit.die.has_value();
    });
}

namespace {

/// The same part of each core as one.
std::vector<DiePart> parts_of(std::span<const machine::UnitDescription> units) {
    std::vector<DiePart> parts;
    for (const machine::UnitDescription& unit : units) {
        if (!unit.die_part) continue;
        const auto same = std::ranges::find(parts, unit.die_part->name, &DiePart::name);
        if (same == parts.end()) {
            parts.push_back(*unit.die_part);
            continue;
        }
        same->percent.nominal += unit.die_part->percent.nominal;
        same->percent.low += unit.die_part->percent.low;
        same->percent.high += unit.die_part->percent.high;
        same->core_percent += unit.die_part->core_percent;
    }
    return parts;
}

}  // namespace

std::optional<Area> area_of(const machine::MachineConfig& machine,
                            std::span<const machine::UnitDescription> units) {
    const std::optional<double> process_nm = machine.process_nm();
    if (!process_nm || !is_known(units)) return std::nullopt;
    // One for each core that is described; those of a chip are alike, and one of them is.
    const auto has_anchor = [](const machine::UnitDescription& unit) { return unit.die.has_value(); };
    const DieAnchor anchor = *std::ranges::find_if(units, has_anchor)->die;
    const auto described = static_cast<double>(std::ranges::count_if(units, has_anchor));
    const auto times = [](const Estimate& percent, double count) {
        return Estimate{percent.nominal * count, percent.low * count, percent.high * count};
    };
    std::vector<DiePart> parts = parts_of(units);
    for (DiePart& part : beside_units(parts, anchor)) {
        part.percent = times(part.percent, described);
        parts.push_back(std::move(part));
    }
    for (DiePart& part : parts) part.percent = times(part.percent, machine.system.cores);
    std::ranges::stable_sort(parts, {}, &DiePart::place);
    const Estimate process = process_factor(*process_nm, anchor.process_nm);
    Area area{.process_nm = *process_nm, .units = {}, .die = {}, .note = anchor.note};
    if (machine.system.chips > 1) {
        area.note = fmt::format("one of {} chips. {}", machine.system.chips, area.note);
    }
    Estimate whole;  // 100 for the anchor, without rounding
    for (const DiePart& part : parts) {
        const Estimate percent = in_process(part, process);
        area.units.push_back({part.name, part.label, mm2(percent, anchor)});
        whole.nominal += percent.nominal;
        whole.low += percent.low;
        whole.high += percent.high;
    }
    area.die = mm2(whole, anchor);
    return area;
}

}  // namespace systole::area
