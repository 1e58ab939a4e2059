#include "sim/functional/state.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "hw/isa/program_error.h"
#include "hw/isa/program_rules.h"

namespace systole::functional {
namespace {

/// `row`: what a message calls one.
void check_rows(std::string_view row, const isa::RowRange& touched, std::uint64_t rows) {
    if (touched.empty() || touched.last <= rows) return;
    throw isa::ProgramError(
        fmt::format("{}s {} to {}; the machine has {} rows", row, touched.first, touched.last - 1, rows));
}

isa::RowRange rows_of(const isa::InitialRows& initial, std::uint64_t row_bytes) {
    return {.first = initial.first_row, .last = initial.first_row + isa::row_count(initial, row_bytes)};
}

/// The program, whose initial rows the machine has.
const isa::Program& checked(const isa::Program& program, const machine::MachineConfig& machine) {
    for (const isa::InitialRows& initial : program.unified_buffer) {
        check_rows("initial unified-buffer row", rows_of(initial, program.geometry.rows),
                   machine.unified_buffer.rows);
    }
    for (const isa::InitialRows& initial : program.accumulators) {
        check_rows("initial accumulator row", rows_of(initial, isa::accumulator_row_bytes(program.geometry)),
                   machine.accumulators.rows);
    }
    isa::check_initial_sums(program, machine.accumulators.sum_bits);
    return program;
}

}  // namespace

State::State(const isa::Program& executed, const machine::MachineConfig& machine, HostMemory& host_memory,
             isa::HostProcessor* host_processor)
    : program(executed),
      array(program.geometry),
      host(host_memory),
      processor(host_processor),
      unified_buffer(machine.unified_buffer.rows, array.rows),
      accumulators(machine.accumulators.rows, array.columns),
      sum_bits(machine.accumulators.sum_bits),
      weights(program.tiles),
      parameters(array.columns),
      loaded(checked(program, machine), accumulators.rows()) {
    for (const isa::InitialRows& initial : program.unified_buffer) {
        const auto rows = unified_buffer.rows(initial.first_row, isa::row_count(initial, row_bytes()));
        std::copy(initial.values.begin(), initial.values.end(), rows.begin());
    }
    const std::uint64_t sums_bytes = isa::accumulator_row_bytes(array);
    for (const isa::InitialRows& initial : program.accumulators) {
        const auto rows = accumulators.rows(initial.first_row, isa::row_count(initial, sums_bytes));
        for (std::size_t i = 0; i < rows.size(); ++i) {
            rows[i] = little_endian_word(std::span(initial.values).subspan(i * sizeof(std::int32_t)));
        }
    }
}

void State::check_fits(const isa::Footprint& touched) const {
    for (const auto& [memory, access, rows] : touched) {
        if (memory == isa::MemoryId::UnifiedBuffer) {
            check_rows(isa::place_name(memory), rows, unified_buffer.rows());
        } else if (memory == isa::MemoryId::Accumulators) {
            check_rows(isa::place_name(memory), rows, accumulators.rows());
        }
    }
}

}  // namespace systole::functional
