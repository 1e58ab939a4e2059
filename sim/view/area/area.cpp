#include "sim/view/area/area.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "hw/machine/floorplan.h"

namespace systole::area {
namespace {

namespace floorplan = machine::floorplan;
using machine::DiePart;

/// Of TPU v1's die, in per cent: pads besides those of links and memories, and what is not named.
constexpr double io_percent = 1.0;
constexpr double unnamed_percent = 21.0;

/// The factor of a process on transistors: with published SRAM cells; or with the square of its name, which
/// is the ideal. Pads and analog circuits do not shrink.
Estimate process_factor(double process_nm) {
    const double ideal = process_nm / floorplan::process_nm;
    return floorplan::between(sram_cell_um2(process_nm) / floorplan::sram_cell_um2, {ideal * ideal});
}

/// A part in the machine's process, still in per cent of TPU v1's die.
Estimate in_process(const DiePart& part, const Estimate& process) {
    const Estimate& percent = part.percent;
    if (!part.shrinks) return percent;
    return {percent.nominal * process.nominal, percent.low * process.low, percent.high * process.high};
}

Estimate mm2(const Estimate& percent) {
    const auto of = [](double value) { return value * floorplan::die_mm2 / 100.0; };
    return {of(percent.nominal), of(percent.low), of(percent.high)};
}

/// What no unit takes: pads, and a rest that grows with the units between which it lies, or stays.
std::vector<DiePart> beside_units(const std::vector<DiePart>& units) {
    double core = 0.0;
    double core_of_v1 = 0.0;
    double named = 0.0;
    for (const DiePart& part : units) {
        if (part.core_percent > 0.0) core += part.percent.nominal;
        core_of_v1 += part.core_percent;
        named += part.unnamed_percent;
    }
    const double rest = unnamed_percent - named;
    return {{.name = "io",
             .label = "io",
             .place = 8,
             .percent = floorplan::between(io_percent),
             .shrinks = false},
            {.name = "other",
             .label = "other",
             .place = 10,
             .percent = floorplan::between(rest * core / core_of_v1, {rest})}};
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
        return unit.main.has_value() && unit.die_part.has_value();
    });
}

std::optional<Area> area_of(const machine::MachineConfig& machine,
                            std::span<const machine::UnitDescription> units) {
    if (!machine.energy || !is_known(units)) return std::nullopt;
    std::vector<DiePart> parts;
    for (const machine::UnitDescription& unit : units) {
        if (unit.die_part) parts.push_back(*unit.die_part);
    }
    std::ranges::sort(parts, {}, &DiePart::place);
    for (DiePart& part : beside_units(parts)) parts.push_back(std::move(part));
    std::ranges::sort(parts, {}, &DiePart::place);
    const Estimate process = process_factor(machine.energy->process_nm);
    Area area{.process_nm = machine.energy->process_nm, .units = {}, .die = {}};
    Estimate whole;  // 100 for TPU v1, without rounding
    for (const DiePart& part : parts) {
        const Estimate percent = in_process(part, process);
        area.units.push_back({part.name, part.label, mm2(percent)});
        whole.nominal += percent.nominal;
        whole.low += percent.low;
        whole.high += percent.high;
    }
    area.die = mm2(whole);
    return area;
}

}  // namespace systole::area
