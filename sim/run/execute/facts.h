#pragma once

#include <span>
#include <vector>

#include "hw/common/trace.h"
#include "hw/core/core.h"
#include "hw/isa/program.h"
#include "sim/run/record/record.h"

/// Converts the chip and its program into parts of a record. No other code knows both the chip and the
/// record.
namespace systole::run {

/// All counters of the chip, unit by unit.
Counters counters_of(const hw::Core& core);

ProgramFacts facts_of(const isa::Program& program);

/// The instructions up to `halt` with their times; `end` is the run's last cycle.
std::vector<InstructionLine> instruction_lines(const isa::Program& program,
                                               std::span<const hw::InstructionTimes> times, Cycle end);

}  // namespace systole::run
