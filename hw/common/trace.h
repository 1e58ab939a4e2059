#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "hw/common/clock.h"
#include "hw/common/counter.h"
#include "hw/common/order_checker.h"

namespace systole::hw {

/// When the sequencer dealt with an instruction.
struct IssueTimes {
    InstructionNumber number = 0;
    Tag tag = 0;        ///< in force behind it: of a `debug_tag`, its own
    Cycle asked = 0;    ///< the sequencer could have issued it
    Cycle arrived = 0;  ///< it was in the instruction buffer as well
    Cycle issued = 0;   ///< its queue had a place as well; of `halt`, when it began to wait for the units

    bool operator==(const IssueTimes&) const = default;
};

/// When a command, an instruction or a `sync`, passed through its unit's queue.
struct QueueTimes {
    std::size_t unit = 0;
    InstructionNumber number = 0;
    Tag tag = 0;
    Cycle issued = 0;  ///< put into the queue
    Cycle first = 0;   ///< nothing in the queue was before it
    Cycle taken = 0;   ///< its unit took it; a `sync` was carried out

    bool operator==(const QueueTimes&) const = default;
};

/// When one instruction (one repetition of it, in the matrix unit) passed through its unit.
struct InstructionTimes {
    std::size_t unit = 0;
    InstructionNumber number = 0;
    Tag tag = 0;
    Cycle issued = 0;    ///< put into the unit's queue
    Cycle begun = 0;     ///< its first row moved
    Cycle released = 0;  ///< the unit could begin the next
    Cycle complete = 0;  ///< its last result in its place
    Cycle loaded = 0;    ///< of the activation unit: tables are read, and the rows' turn begins

    bool operator==(const InstructionTimes&) const = default;
};

/// A weight tile on its way through the FIFO.
struct TileTimes {
    InstructionNumber number = 0;  ///< of the `read_weights` that fetched it
    std::uint32_t tile = 0;        ///< of the program
    Tag tag = 0;
    std::uint64_t bytes = 0;  ///< that were fetched
    Cycle fetched = 0;        ///< took a slot, and its fetch was issued
    Cycle whole = 0;          ///< its last byte arrived
    Cycle shifting = 0;       ///< began to shift into the array
    Cycle shifted = 0;        ///< whole in the array's shadow plane; its slot is free

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

/// The cycles that a stream did not use: those before it, from `begin` to its first cycle, and those inside
/// it.
struct MatrixIdleTimes {
    InstructionNumber number = 0;
    Tag tag = 0;
    Cycle begin = 0;
    IdleCycles idle;
    // What its rows waited for in the cycles without them, counted from `begin`. Reasons: they may overlap.
    Cycle activations = 0;  ///< the activation unit still wrote them
    Cycle inputs = 0;       ///< the host still delivered them
    Cycle gaps = 0;         ///< after its first row: the data setup was still collecting a line

    bool operator==(const MatrixIdleTimes&) const = default;
};

/// A stream as it enters the array: `lines` lines of `line_rows` rows, a row in each `passes` cycles from the
/// beginning of its line on, a line in each `line_cycles`.
struct StreamTimes {
    InstructionNumber number = 0;
    Tag tag = 0;
    Cycle begun = 0;   ///< its first row entered
    Cycle summed = 0;  ///< the sums of its first pass are written; those of the others as they entered
    std::uint64_t lines = 0;
    std::uint64_t line_rows = 1;
    std::uint64_t passes = 1;
    std::uint64_t line_cycles = 1;
    std::uint64_t accumulator_row = 0;
    bool keep_weights = false;

    bool operator==(const StreamTimes&) const = default;
};

/// Where a program stood that failed.
struct FailureTimes {
    Cycle at = 0;  ///< the last cycle in which something happened
    Tag tag = 0;   ///< in force in the sequencer
    /// What the sequencer was dealing with. `issued` is `at`: it was not.
    std::optional<IssueTimes> issue;
    /// What was first in each queue that was not empty. `taken` is `at`: it was not.
    std::vector<QueueTimes> queues;

    bool operator==(const FailureTimes&) const = default;
};

/// Hears of every instruction in the sequencer, in its queue and in its unit, of every tile that enters or
/// leaves the FIFO and of every stream that enters the array, as the times become known. Each kind comes in
/// the order of the unit it is about, between units and kinds there is none. For traces and tests; a run
/// without one costs a comparison with null an event.
///
/// Who passes events on derives from this class: the compiler finds the event that it would lose. Who only
/// listens derives from TraceListener.
class TraceSink {
public:
    virtual ~TraceSink() = default;
    virtual void instruction(const InstructionTimes& times) = 0;
    virtual void issued(const IssueTimes& times) = 0;
    virtual void queued(const QueueTimes& times) = 0;
    /// A tile's fetch was issued; it has not been shifted yet.
    virtual void tile_fetched(const TileTimes& times) = 0;
    virtual void tile(const TileTimes& times) = 0;
    virtual void matrix_idle(const MatrixIdleTimes& times) = 0;
    /// Comes behind the idle cycles before it, whichever the engine.
    virtual void stream(const StreamTimes& times) = 0;
    /// The program has ended at this cycle, under this tag. Nothing comes behind it; a program that fails
    /// does not get there.
    virtual void ended(Cycle end, Tag tag) = 0;
    /// The program has failed. Nothing comes behind it.
    virtual void failed(const FailureTimes& where) = 0;
};

/// Hears of some events, and of the others nothing.
class TraceListener : public TraceSink {
public:
    void instruction(const InstructionTimes& /*times*/) override {}
    void issued(const IssueTimes& /*times*/) override {}
    void queued(const QueueTimes& /*times*/) override {}
    void tile_fetched(const TileTimes& /*times*/) override {}
    void tile(const TileTimes& /*times*/) override {}
    void matrix_idle(const MatrixIdleTimes& /*times*/) override {}
    void stream(const StreamTimes& /*times*/) override {}
    void ended(Cycle /*end*/, Tag /*tag*/) override {}
    void failed(const FailureTimes& /*where*/) override {}
};

}  // namespace systole::hw
