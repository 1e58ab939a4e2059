#pragma once

#include <cstddef>
#include <cstdint>

#include "hw/common/clock.h"
#include "hw/common/command_queue.h"

namespace systole::hw {

/// When one instruction (one repetition of it, in the matrix unit) passed through its unit.
struct InstructionTimes {
    std::size_t unit = 0;
    InstructionNumber number = 0;
    Tag tag = 0;
    Cycle issued = 0;    ///< put into the unit's queue
    Cycle begun = 0;     ///< its first row moved
    Cycle released = 0;  ///< the unit could begin the next
    Cycle complete = 0;  ///< its last result in its place

    bool operator==(const InstructionTimes&) const = default;
};

/// A weight tile on its way through the FIFO.
struct TileTimes {
    InstructionNumber number = 0;  ///< of the `read_weights` that fetched it
    std::uint32_t tile = 0;        ///< of the program
    Tag tag = 0;
    Cycle fetched = 0;  ///< took a slot, and its fetch was issued
    Cycle whole = 0;    ///< its last byte arrived
    Cycle shifted = 0;  ///< whole in the array's shadow plane; its slot is free

    bool operator==(const TileTimes&) const = default;
};

/// The matrix unit's cycles between two streams, by the first condition that the later one lacked in each.
/// They follow each other in this order.
struct IdleCycles {
    Cycle without_rows = 0;  ///< not issued, or its rows were not there
    Cycle without_tile = 0;  ///< its tile was not whole in the FIFO
    Cycle shifting = 0;      ///< its tile was not in the shadow plane
    Cycle without_port = 0;  ///< a memory port was taken

    Cycle sum() const { return without_rows + without_tile + shifting + without_port; }
    bool operator==(const IdleCycles&) const = default;
};

/// The idle cycles before a stream, from `begin` to its first cycle.
struct MatrixIdleTimes {
    InstructionNumber number = 0;
    Tag tag = 0;
    Cycle begin = 0;
    IdleCycles idle;

    bool operator==(const MatrixIdleTimes&) const = default;
};

/// Hears of every instruction, of every tile that leaves the FIFO and of every stream that enters the
/// array, as its times become known. For traces and tests; a run without one costs a comparison with
/// null an instruction.
class TraceSink {
public:
    virtual ~TraceSink() = default;
    virtual void instruction(const InstructionTimes& times) = 0;
    virtual void tile(const TileTimes& /*times*/) {}
    virtual void matrix_idle(const MatrixIdleTimes& /*times*/) {}
};

}  // namespace systole::hw
