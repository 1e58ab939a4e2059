#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "hw/isa/host_processor.h"
#include "hw/isa/instructions/collective.h"
#include "hw/isa/program.h"
#include "sim/functional/host_memory.h"
#include "sim/functional/tensor/tensor_state.h"

namespace systole::functional {

/// Executes a program of a machine with a tensor core without time: one instruction after the other in
/// program order, which defines the meaning of a program (docs/isa.md, "Machines with a tensor core"). Tests
/// compare the timed units with it; the two share only the instruction set, and the arithmetic of one
/// element.
class TensorExecutor {
public:
    /// The program outlives the executor, and so does `host`, which computes the program's host segments; it
    /// may be null for a program without them. Throws ProgramError if the program breaks a rule (see
    /// isa::validate), is not for a tensor core, or host memory for it cannot be had.
    TensorExecutor(const isa::Program& program, const TensorSizes& sizes, isa::HostProcessor* host = nullptr);
    ~TensorExecutor();
    TensorExecutor(const TensorExecutor&) = delete;
    TensorExecutor& operator=(const TensorExecutor&) = delete;

    /// The bytes of a buffer of the program: inputs to fill before a run, outputs to read after it.
    /// Constants hold their contents, all others begin as zeros. Throws std::logic_error if the program has
    /// no such buffer.
    std::span<std::uint8_t> host_bytes(const isa::HostBuffer& buffer);

    /// Executes the program until it halts. Every run begins with a chip whose memories are zeros; host
    /// memory stays as it is. Throws ProgramError with number and text of the instruction that cannot be
    /// executed.
    void run();
    /// The same of the cores of a machine, by number: each goes on until it meets the others in a collective.
    static void run_together(std::span<TensorExecutor* const> cores);

    // The contents of the memories, row by row, until the next run.
    std::span<const std::uint32_t> vector_memory() const;
    std::span<const std::uint32_t> hbm() const;

private:
    void begin();
    /// Between host memory and high-bandwidth memory: what is there before the program, or stays behind it.
    void copy_residents(isa::ResidentSide side);
    /// Executes up to the next collective, which is returned, or up to the end.
    const isa::Collective* run_to_collective();

    const isa::Program& program_;
    const TensorSizes sizes_;
    std::size_t next_ = 0;  ///< instruction
    isa::HostProcessor* const processor_;
    HostMemory host_;
    std::unique_ptr<TensorState> state_;
};

}  // namespace systole::functional
