#pragma once

#include "hw/isa/instruction.h"
#include "sim/functional/state.h"

// The execution of each instruction, as docs/isa.md defines it. The caller has checked that its footprint
// lies in the memories of the state. The message of a ProgramError does not name the instruction; the caller
// does.
namespace systole::functional {

// These instructions only order others; without time they have no effect.
inline void execute(const isa::Nop& /*instruction*/, State& /*state*/) {}
inline void execute(const isa::Halt& /*instruction*/, State& /*state*/) {}
inline void execute(const isa::SyncWait& /*instruction*/, State& /*state*/) {}
inline void execute(const isa::SyncSignal& /*instruction*/, State& /*state*/) {}
inline void execute(const isa::InterruptHost& /*instruction*/, State& /*state*/) {}
inline void execute(const isa::DebugTag& /*instruction*/, State& /*state*/) {}

inline void execute(const isa::SetConfig& set, State& state) {
    state.registers.set(set.reg, set.value);
}

void execute(const isa::ReadHostMemory& read, State& state);
void execute(const isa::WriteHostMemory& write, State& state);
void execute(const isa::HostWork& work, State& state);

void execute(const isa::ReadWeights& read, State& state);
void execute(const isa::WriteWeights& write, State& state);
void execute(const isa::MatrixMultiply& matmul, State& state);
void execute(const isa::Convolve& convolve, State& state);

void execute(const isa::Activate& activate, State& state);

/// All operands are read before the first result is written, also where the two overlap.
void execute(const isa::Vector& vector, State& state);

}  // namespace systole::functional
