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

/// The program, whose initial rows the machine has.
const isa::Program& checked(const isa::Program& program, const machine::MachineConfig& machine) {
    for (const isa::MemoryId memory : isa::initial_memories) {
        for (const isa::InitialRows& initial : program.initial[memory]) {
            check_rows(fmt::format("initial {}", isa::place_name(memory)),
                       isa::rows_of(initial, memory, program.geometry),
                       memory == isa::MemoryId::UnifiedBuffer ? machine.unified_buffer.rows
                                                              : machine.accumulators.rows);
        }
    }
    isa::check_initial_sums(program, machine.accumulators.sum_bits);
    return program;
}

}  // namespace

State::State(const isa::Program& executed, const machine::MachineConfig& machine, HostMemory& host_memory,
             isa::HostProcessor* host_processor, std::uint64_t weight_address)
    : program(executed),
      array(program.geometry),
      host(host_memory),
      processor(host_processor),
      unified_buffer(machine.unified_buffer.rows, array.rows),
      accumulators(machine.accumulators.rows, array.columns),
      sum_bits(machine.accumulators.sum_bits),
      weights(program.tiles),
      weight_memory(machine.weight_memory),
      tile_ends(isa::tile_ends(program, weight_address)),
      parameters(array.columns),
      loaded(checked(program, machine), accumulators.rows()) {
    const auto count = [this](const isa::InitialRows& initial, isa::MemoryId memory) {
        return isa::rows_of(initial, memory, array).count();
    };
    for (const isa::InitialRows& initial : program.initial[isa::MemoryId::UnifiedBuffer]) {
        const auto rows =
            unified_buffer.rows(initial.first_row, count(initial, isa::MemoryId::UnifiedBuffer));
        std::copy(initial.values.begin(), initial.values.end(), rows.begin());
    }
    for (const isa::InitialRows& initial : program.initial[isa::MemoryId::Accumulators]) {
        const auto rows = accumulators.rows(initial.first_row, count(initial, isa::MemoryId::Accumulators));
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
