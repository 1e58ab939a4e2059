#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "hw/isa/instruction.h"
#include "hw/isa/program.h"
#include "hw/isa/registers.h"

namespace systole::isa {

/// Rows [first, last) of a memory.
struct RowRange {
    std::uint64_t first = 0;
    std::uint64_t last = 0;

    bool empty() const { return first >= last; }
    std::uint64_t count() const { return empty() ? 0 : last - first; }
    bool overlaps(const RowRange& other) const { return first < other.last && other.first < last; }
    bool operator==(const RowRange&) const = default;
};

/// Bytes of host memory that a segment of the host's reads or writes.
struct HostRange {
    RowRange bytes;
    bool is_written = false;

    bool operator==(const HostRange&) const = default;
};

/// The rows that an instruction touches, from the lowest to the highest of each kind. The order between
/// instructions is checked with it.
struct Footprint {
    RowRange buffer_read;        ///< unified buffer
    RowRange buffer_read_other;  ///< unified buffer: second operand, parameters
    RowRange buffer_read_table;  ///< unified buffer: lookup table
    RowRange buffer_write;       ///< unified buffer
    RowRange accumulator_read;
    RowRange accumulator_write;  ///< an accumulating instruction also reads them
    RowRange host_read;          ///< bytes of host memory
    RowRange host_write;         ///< bytes of host memory
    std::shared_ptr<const std::vector<HostRange>> host_work = {};  ///< of host_work; null for others

    /// The ranges of host_work, besides host_read and host_write.
    std::span<const HostRange> host_ranges() const {
        return host_work ? std::span<const HostRange>(*host_work) : std::span<const HostRange>();
    }
};

/// The footprint of all repetitions of an instruction together, with these register values. Throws
/// ProgramError if the fields are invalid with these values (lines outside the image, zero sizes); the sizes
/// of the memories are not checked here.
Footprint footprint(const Instruction& instruction, const Registers& registers, const Geometry& geometry);

/// The ranges of host memory that host_work touches: the images of each tensor of the segment. Throws
/// ProgramError if the program has no such segment or the images lie beyond a buffer.
std::vector<HostRange> host_ranges(const HostWork& work, const Program& program);

/// The footprint of an instruction of a program, with the host_ranges of host_work.
Footprint footprint(const Instruction& instruction, const Registers& registers, const Program& program);

/// The unit whose queue takes the instruction; nullopt for instructions that the sequencer executes itself
/// (nop, halt, tag, set).
std::optional<Unit> unit_of(const Instruction& instruction);

/// An instruction as the sequencer issues it: with the register values that apply to it and the rows that it
/// touches.
struct BoundInstruction {
    Instruction instruction;
    std::shared_ptr<const Registers> registers;
    Footprint footprint;
};

}  // namespace systole::isa
