#pragma once

#include <span>

#include "hw/isa/instruction.h"
#include "sim/functional/host_segment.h"
#include "sim/functional/tensor/tensor_state.h"

// The execution of each instruction of a machine with a tensor core, as docs/isa.md defines it, an element at
// a time. The caller has checked that the footprint lies in the memories of the state. The message of a
// ProgramError does not name the instruction; the caller does.
namespace systole::functional {

// These instructions only order others.
inline void execute(const isa::Nop& /*instruction*/, TensorState& /*state*/) {}
inline void execute(const isa::Halt& /*instruction*/, TensorState& /*state*/) {}
inline void execute(const isa::SyncWait& /*instruction*/, TensorState& /*state*/) {}
inline void execute(const isa::SyncSignal& /*instruction*/, TensorState& /*state*/) {}
inline void execute(const isa::InterruptHost& /*instruction*/, TensorState& /*state*/) {}
inline void execute(const isa::DebugTag& /*instruction*/, TensorState& /*state*/) {}

inline void execute(const isa::SetConfig& set, TensorState& state) {
    state.registers.set(set.reg, set.value);
}

inline void execute(const isa::HostWork& work, TensorState& state) {
    compute_segment(work, state.program, state.host, state.processor);
}

void execute(const isa::Infeed& infeed, TensorState& state);
void execute(const isa::Outfeed& outfeed, TensorState& state);
void execute(const isa::DmaIn& dma, TensorState& state);
void execute(const isa::GatherRows& gather, TensorState& state);
void execute(const isa::DmaOut& dma, TensorState& state);
void execute(const isa::LoadWeights& load, TensorState& state);
void execute(const isa::Product& product, TensorState& state);
void execute(const isa::RunChain& run, TensorState& state);
void execute(const isa::ReduceRows& reduce, TensorState& state);
void execute(const isa::ReduceLanes& reduce, TensorState& state);
void execute(const isa::Transpose& transpose, TensorState& state);
void execute(const isa::MoveLanes& move, TensorState& state);

/// A collective of all cores, by number: their instructions and states.
void execute_together(std::span<const isa::Collective* const> collectives,
                      std::span<TensorState* const> cores);

}  // namespace systole::functional
