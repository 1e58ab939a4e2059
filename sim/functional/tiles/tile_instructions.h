#pragma once

#include "hw/isa/instruction.h"
#include "sim/functional/host_segment.h"
#include "sim/functional/tiles/tile_state.h"

// The execution of each instruction of a machine with tiles, as docs/isa.md defines it: over the pixels of
// whole images, one after the other. The caller has checked that the footprint lies in the memories of the
// state. The message of a ProgramError does not name the instruction; the caller does.
namespace systole::functional {

// These instructions only order others, or only take time.
inline void execute(const isa::Nop& /*instruction*/, TileState& /*state*/) {}
inline void execute(const isa::Halt& /*instruction*/, TileState& /*state*/) {}
inline void execute(const isa::SyncWait& /*instruction*/, TileState& /*state*/) {}
inline void execute(const isa::SyncSignal& /*instruction*/, TileState& /*state*/) {}
inline void execute(const isa::InterruptHost& /*instruction*/, TileState& /*state*/) {}
inline void execute(const isa::DebugTag& /*instruction*/, TileState& /*state*/) {}
inline void execute(const isa::ReadProgram& /*instruction*/, TileState& /*state*/) {}

inline void execute(const isa::SetConfig& set, TileState& state) {
    state.registers.set(set.reg, set.value);
}

inline void execute(const isa::HostWork& work, TileState& state) {
    compute_segment(work, state.program, state.host, state.processor);
}

void execute(const isa::ReadParameters& read, TileState& state);
void execute(const isa::ReadTensor& read, TileState& state);
void execute(const isa::WriteTensor& write, TileState& state);

// Blocks have no values of their own: `tile_multiply` reads its parameters at their source. Only their order
// is kept.
void execute(const isa::StreamParameters& stream, TileState& state);
void execute(const isa::Multicast& multicast, TileState& state);

void execute(const isa::Collect& collect, TileState& state);
void execute(const isa::Exchange& exchange, TileState& state);
void execute(const isa::Move& move, TileState& state);
void execute(const isa::Permute& permute, TileState& state);

void execute(const isa::TileMultiply& multiply, TileState& state);
void execute(const isa::TileVector& vector, TileState& state);

}  // namespace systole::functional
