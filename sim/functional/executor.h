#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "hw/isa/host_processor.h"
#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"

namespace systole::functional {

class HostMemory;
struct State;

/// Executes a program without time: one instruction after the other in program order, which defines the
/// meaning of a program (docs/isa.md). Tests compare the timed units with it; the two share only the
/// instruction set and the arithmetic.
///
/// The programs of several cores, which share host memory, are executed in turn, each until it waits for a
/// semaphore of the system.
class Executor {
public:
    using Programs = std::vector<const isa::Program*>;

    /// The program outlives the executor, and so does `host`, which computes the program's host segments; it
    /// may be null for a program without them. Throws ProgramError if the program breaks a rule (see
    /// isa::validate), is for another array than the machine's, or host memory for it cannot be had.
    Executor(const isa::Program& program, const machine::MachineConfig& machine,
             isa::HostProcessor* host = nullptr);
    /// The same for a program for each core. Buffers at the same place, with as many bytes,
    /// are one; other overlaps are ProgramErrors.
    Executor(const Programs& programs, const machine::MachineConfig& machine,
             isa::HostProcessor* host = nullptr);
    ~Executor();
    Executor(const Executor&) = delete;
    Executor& operator=(const Executor&) = delete;

    /// The bytes of a buffer of the program: inputs to fill before a run, outputs to read after it.
    /// Constants hold their contents, all others begin as zeros. Throws std::logic_error if the program has
    /// no such buffer.
    std::span<std::uint8_t> host_bytes(const isa::HostBuffer& buffer);

    /// Executes the programs until they halt. Every run begins with a chip whose memories are zeros, except
    /// for the programs' initial rows; host memory stays as it is. Throws ProgramError with number and text
    /// of the instruction that cannot be executed.
    void run();

    // The contents of a core's memories, row by row, until the next run.
    std::span<const std::uint8_t> unified_buffer(std::size_t core = 0) const;
    std::span<const std::int32_t> accumulators(std::size_t core = 0) const;

private:
    struct Stream;

    /// Executes up to the end, or a wait that cannot end yet. Returns whether it executed anything.
    bool advance(Stream& stream, std::size_t core);
    /// Whether the instruction has to wait for a semaphore of the system; if not, the semaphore is updated.
    bool waits(const isa::Instruction& instruction);

    const machine::MachineConfig machine_;
    std::unique_ptr<HostMemory> host_;
    std::vector<Stream> streams_;
    std::map<std::uint8_t, std::uint64_t> semaphores_;  ///< of the system
};

}  // namespace systole::functional
