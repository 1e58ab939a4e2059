// What the unit says of itself.
#include <fmt/format.h>

#include "hw/cross_lane_unit/cross_lane_unit.h"

namespace systole::hw {

void CrossLaneUnit::describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const {
    const machine::CrossLaneUnitConfig& config = machine.cross_lane_unit;
    unit.box = {.title = "Cross-lane unit",
                .column = 5,
                .row = 2,
                .lines = {{fmt::format("{} vector{} a cycle", config.vectors_per_cycle,
                                       config.vectors_per_cycle == 1 ? "" : "s")},
                          machine::latency_line(config.latency_cycles, 0.0)},
                .busy_counter = "cross_lane_unit.busy_cycles",
                .word = "working"};
    unit.paths = {{.from = "vector_memory",
                   .to = "cross_lane_unit",
                   .counters = {"cross_lane_unit.vectors"},
                   .unit = "vectors",
                   .most = {config.vectors_per_cycle, 1},
                   .figures = machine::Side::Below,
                   .shift_y = 30}};
    unit.what_ifs = {{"cross_lane",
                      "2x the rate of the unit between lanes",
                      {{"cross_lane_unit.vectors_per_cycle", config.vectors_per_cycle * 2}}}};
}

std::vector<UnitBound> CrossLaneUnit::bounds(const machine::MachineConfig& /*machine*/) const {
    return {{.name = "cross_lane",
             .part = "cross-lane unit",
             .meaning = "words move between lanes",
             .place = 4,
             .computes = true,
             .cycles = [this](const Amounts& amounts) { return amounts.of(counters().busy_cycles); }}};
}

}  // namespace systole::hw
