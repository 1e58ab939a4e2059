#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "hw/isa/instruction.h"
#include "hw/isa/memory.h"
#include "hw/isa/program.h"
#include "hw/isa/registers.h"
#include "hw/isa/row_range.h"

namespace systole::isa {

enum class Access : std::uint8_t { Read, Write };

/// Rows of a memory, in the memory's unit, that an instruction reads or writes.
struct MemoryRows {
    MemoryId memory = MemoryId::UnifiedBuffer;
    Access access = Access::Read;
    RowRange rows;

    bool operator==(const MemoryRows&) const = default;
};

/// What an instruction touches: a range for each operand, from its lowest row to its highest. The order
/// between instructions is checked with it.
class Footprint {
public:
    /// So many ranges lie in the footprint itself.
    static constexpr std::size_t most_operands = 4;

    Footprint() = default;
    /// As many ranges as given.
    explicit Footprint(std::vector<MemoryRows> ranges)
        : many_(std::make_shared<const std::vector<MemoryRows>>(std::move(ranges))) {}

    /// Adds the range of the next operand, of which there are at most most_operands.
    void read(MemoryId memory, const RowRange& rows) { add({memory, Access::Read, rows}); }
    void write(MemoryId memory, const RowRange& rows) { add({memory, Access::Write, rows}); }

    /// The ranges that are read in a memory, or written, by their places among those: 0 is the first that the
    /// instruction adds. Empty if there are fewer.
    RowRange read_rows(MemoryId memory, std::size_t place = 0) const {
        return find(memory, Access::Read, place);
    }
    RowRange written_rows(MemoryId memory, std::size_t place = 0) const {
        return find(memory, Access::Write, place);
    }

    const MemoryRows* begin() const { return many_ ? many_->data() : ranges_.data(); }
    const MemoryRows* end() const { return begin() + (many_ ? many_->size() : count_); }

private:
    void add(const MemoryRows& rows) { ranges_.at(count_++) = rows; }

    RowRange find(MemoryId memory, Access access, std::size_t place) const {
        for (const MemoryRows& each : *this) {
            if (each.memory == memory && each.access == access && place-- == 0) return each.rows;
        }
        return {};
    }

    std::array<MemoryRows, most_operands> ranges_;
    std::size_t count_ = 0;
    std::shared_ptr<const std::vector<MemoryRows>> many_;  ///< null for most instructions
};

/// The footprint of all repetitions of an instruction together, with these register values. Throws
/// ProgramError if the fields are invalid with these values (lines outside the image, zero sizes); the sizes
/// of the memories are not checked here.
Footprint footprint(const Instruction& instruction, const Registers& registers, const Geometry& geometry);

/// The footprint of an instruction of a program. That of host_work has the images of each tensor of its
/// segment, and that of chain has results and sources of its chain. Throws ProgramError for what the other
/// footprint says, if the program has no such segment or chain, and if the images lie beyond a buffer.
Footprint footprint(const Instruction& instruction, const Registers& registers, const Program& program);

/// The queue that takes the instruction; nullopt for instructions that the sequencer executes itself
/// (nop, halt, tag, set).
std::optional<QueueId> queue_of(const Instruction& instruction);

/// An instruction as the sequencer issues it: with the register values that apply to it and the rows that it
/// touches.
struct BoundInstruction {
    Instruction instruction;
    std::shared_ptr<const Registers> registers;
    Footprint footprint;
};

}  // namespace systole::isa
