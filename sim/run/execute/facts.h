#pragma once

#include <span>
#include <vector>

#include "hw/common/trace.h"
#include "hw/core/core.h"
#include "hw/isa/program.h"
#include "sim/run/record/record.h"

/// From the chip and its program to what a record says of them: the only place where these meet.
namespace systole::run {

/// All counters of the chip, unit by unit.
Counters counters_of(const hw::Core& core);

ProgramFacts facts_of(const isa::Program& program);

/// The instructions up to `halt` with their times; `end` is the run's last cycle.
std::vector<InstructionLine> instruction_lines(const isa::Program& program,
                                               std::span<const hw::InstructionTimes> times, Cycle end);

}  // namespace systole::run
