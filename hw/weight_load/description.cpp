// What the unit says of itself.
#include <fmt/format.h>

#include <variant>

#include "hw/isa/instruction.h"
#include "hw/timing/matrix_unit.h"
#include "hw/weight_load/weight_load.h"

namespace systole::hw {

void WeightLoad::describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const {
    const machine::MatrixUnitConfig& array = machine.matrix_unit;
    unit.box = {.title = "Weight load",
                .column = 4,
                .row = 1,
                .lines = {{fmt::format("{} x {} in {} cycles", array.rows, array.columns, shift_cycles_)}},
                .busy_counter = "weight_load.busy_cycles",
                .word = "shifting"};
    // A row of the array a cycle.
    const std::uint64_t row_bytes = std::uint64_t{array.columns} * isa::word_bytes;
    unit.paths = {{.from = "vector_memory",
                   .to = "weight_load",
                   .counters = {"weight_load.bytes"},
                   .unit = "bytes",
                   .most = {row_bytes, 1},
                   .traffic = "weight",
                   .label = "weights",
                   .shift_y = -30},
                  {.from = "weight_load",
                   .to = "matrix_unit",
                   .counters = {"weight_load.bytes"},
                   .unit = "bytes",
                   .most = {row_bytes, 1}}};
}

std::vector<UnitBound> WeightLoad::bounds(const machine::MachineConfig& machine) const {
    return {{.name = "weight_shift",
             .part = "shadow plane",
             .meaning = "weights shift into the array",
             .place = 4,
             .cycles = [this, &machine](const Amounts& amounts) {
                 return amounts.of(counters().matrices) * timing::shift_cycles(machine);
             }}};
}

std::optional<AwaitedWork> WeightLoad::awaited(isa::QueueId queue) const {
    if (queue != isa::QueueId::Weights) return std::nullopt;
    const auto takes = [](const isa::Instruction& instruction) {
        const auto* const product = std::get_if<isa::Product>(&instruction);
        return product != nullptr && !product->keep_weights;
    };
    return AwaitedWork{.from = isa::QueueId::Matrix,
                       .gives = takes,
                       .words = "for the array's shadow plane, whose weights {} takes",
                       .nobody = "no instruction"};
}

}  // namespace systole::hw
