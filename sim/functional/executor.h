#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "hw/isa/host_processor.h"
#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"

namespace systole::functional {

class HostMemory;
struct State;

/// Executes a program without time: one instruction after the other in program order, which defines the
/// meaning of a program (docs/isa.md). Tests compare the timed units with it; the two share only the
/// instruction set and the arithmetic.
class Executor {
public:
    /// The program outlives the executor, and so does `host`, which computes the program's host segments; it
    /// may be null for a program without them. Throws ProgramError if the program breaks a rule (see
    /// isa::validate), is for another array than the machine's, or host memory for it cannot be had.
    Executor(const isa::Program& program, const machine::MachineConfig& machine,
             isa::HostProcessor* host = nullptr);
    ~Executor();
    Executor(const Executor&) = delete;
    Executor& operator=(const Executor&) = delete;

    /// The bytes of a buffer of the program: inputs to fill before a run, outputs to read after it.
    /// Constants hold their contents, all others begin as zeros. Throws std::logic_error if the program has
    /// no such buffer.
    std::span<std::uint8_t> host_bytes(const isa::HostBuffer& buffer);

    /// Executes the program until it halts. Every run begins with a chip whose memories are zeros, except
    /// for the program's initial rows; host memory stays as it is. Throws ProgramError with number and text
    /// of the instruction that cannot be executed.
    void run();

    // The contents of the chip's memories, row by row, until the next run.
    std::span<const std::uint8_t> unified_buffer() const;
    std::span<const std::int32_t> accumulators() const;

private:
    const isa::Program& program_;
    const machine::MachineConfig machine_;
    isa::HostProcessor* const processor_;
    std::unique_ptr<HostMemory> host_;
    std::unique_ptr<State> state_;
};

}  // namespace systole::functional
