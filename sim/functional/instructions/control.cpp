#include "sim/functional/instructions/instructions.h"

namespace systole::functional {

void execute(const isa::Nop& /*instruction*/, State& /*state*/) {}

void execute(const isa::Halt& /*instruction*/, State& /*state*/) {}

void execute(const isa::SyncWait& /*instruction*/, State& /*state*/) {}

void execute(const isa::SyncSignal& /*instruction*/, State& /*state*/) {}

void execute(const isa::InterruptHost& /*instruction*/, State& /*state*/) {}

void execute(const isa::DebugTag& /*instruction*/, State& /*state*/) {}

void execute(const isa::SetConfig& set, State& state) {
    state.registers.set(set.reg, set.value);
}

}  // namespace systole::functional
