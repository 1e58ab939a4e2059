#include "hw/isa/loaded_values.h"

#include <fmt/format.h>

#include <algorithm>

#include "hw/isa/program_error.h"

namespace systole::isa {
namespace {

std::vector<bool>::iterator row_of(std::vector<bool>& rows, std::uint64_t row) {
    return rows.begin() + static_cast<std::ptrdiff_t>(row);
}

}  // namespace

LoadedValues::LoadedValues(const Program& program, std::uint64_t accumulator_rows)
    : written_(accumulator_rows) {
    for (const InitialRows& initial : program.initial[MemoryId::Accumulators]) {
        const RowRange rows = rows_of(initial, MemoryId::Accumulators, program.geometry);
        std::fill(row_of(written_, rows.first), row_of(written_, rows.last), true);
    }
}

void LoadedValues::follow(const Instruction& instruction, const Registers& registers,
                          const Footprint& footprint) {
    if (const auto* activate = std::get_if<Activate>(&instruction)) {
        const std::uint64_t columns = registers[Register::ActivationColumns];
        if (activate->load_parameters) load(*activate, columns);
        if (activate->length > 0) check(*activate, columns);
    }
    const RowRange sums = footprint.written_rows(MemoryId::Accumulators);
    if (!sums.empty()) std::fill(row_of(written_, sums.first), row_of(written_, sums.last), true);
}

void LoadedValues::load(const Activate& activate, std::uint64_t columns) {
    columns_ = columns;
    multipliers_ = activate.multipliers;
    if (!activate.looks_up()) return;
    (bytes_of(activate.output) == 2 ? has_wide_table_ : has_table_) = true;
}

void LoadedValues::check(const Activate& activate, std::uint64_t columns) const {
    const auto first = written_.begin() + activate.accumulator_row;
    const auto missing = std::find(first, first + activate.length, false);
    if (missing != first + activate.length) {
        throw ProgramError(
            fmt::format("nothing has written accumulator row {}; a product or .accumulators must come before",
                        missing - written_.begin()));
    }
    if (columns_ == 0) {
        throw ProgramError("there are no parameters in the activation unit; load must be given first");
    }
    if (columns > columns_) {
        throw ProgramError(
            fmt::format("activation.columns is {}; the last load was of {} columns", columns, columns_));
    }
    const bool has_loaded_real = are_real(multipliers_);
    if (are_real(activate.multipliers) != has_loaded_real) {
        throw ProgramError(fmt::format("the last load was of {} multipliers; this instruction {} `real`",
                                       has_loaded_real ? "real" : "fixed-point",
                                       has_loaded_real ? "is without" : "has"));
    }
    if (!activate.looks_up()) return;
    const bool is_wide = bytes_of(activate.output) == 2;
    if (is_wide ? has_wide_table_ : has_table_) return;
    throw ProgramError(
        fmt::format("there is no table for {} bits in the activation unit; lookup must be given "
                    "with load first",
                    is_wide ? 16 : 8));
}

}  // namespace systole::isa
