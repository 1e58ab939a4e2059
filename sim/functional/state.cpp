#include "sim/functional/state.h"

#include <fmt/format.h>

#include <string_view>

#include "hw/isa/program_error.h"

namespace systole::functional {
namespace {

void check_rows(std::string_view memory, const isa::RowRange& touched, std::uint64_t rows) {
    if (touched.empty() || touched.last <= rows) return;
    throw isa::ProgramError(fmt::format("{} rows {} to {}; the machine has {} rows", memory, touched.first,
                                        touched.last - 1, rows));
}

}  // namespace

State::State(const isa::Program& program, const machine::MachineConfig& machine, HostMemory& host_memory)
    : array(program.geometry),
      host(host_memory),
      unified_buffer(machine.unified_buffer.rows, array.rows),
      accumulators(machine.accumulators.rows, array.columns),
      weights(program.tiles),
      parameters(array.columns) {}

void State::check_fits(const isa::Footprint& touched) const {
    for (const isa::RowRange& range :
         {touched.buffer_read, touched.buffer_read_other, touched.buffer_read_table, touched.buffer_write}) {
        check_rows("unified-buffer", range, unified_buffer.rows());
    }
    for (const isa::RowRange& range : {touched.accumulator_read, touched.accumulator_write}) {
        check_rows("accumulator", range, accumulators.rows());
    }
}

}  // namespace systole::functional
