#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "hw/common/clock.h"
#include "hw/common/counter.h"
#include "hw/common/order_checker.h"

namespace systole::hw {

class UnitModule;

/// The weight tiles that a unit fetches, as the timeline names their tracks and counters, and a record the
/// work that they are.
struct TileTracks {
    std::string_view fetch = {};  ///< their transfers: "weight memory"
    std::string_view shift = {};  ///< into the array: "weight shift"
    std::string_view held = {};   ///< counts those on their way: "weight FIFO"
    std::string_view bytes = {};  ///< counts what came from the memory: "weight memory read"
    // Of energy (machine::EnergyRow::during).
    std::string_view fetching = {};  ///< "weight_fetch"
    std::string_view shifting = {};  ///< "weight_shift"

    bool operator==(const TileTracks&) const = default;
};

/// How traces show a queue and its unit. The unit gives it to its QueueLoop. Texts are constants.
struct QueueTraces {
    std::string_view track = {};      ///< of its unit in the timeline: "matrix unit"
    std::string_view signals = {};    ///< how its signals' names begin in waves: "host_interface.read_"
    std::string_view works = "busy";  ///< ends the name of the one that says that the unit works
    /// Reports count the cycles of this unit by layer.
    bool is_main = false;
    /// Its unit makes results, and does not only move them.
    bool computes = false;
    /// Its unit tells the cycles in which no stream enters, with `matrix_idle`.
    bool tells_idle = false;
    std::string_view bytes = {};  ///< counts what its instructions move: "host read"; empty for no counter
    std::optional<TileTracks> tiles = {};

    bool operator==(const QueueTraces&) const = default;
};

/// A queue of the core.
struct TracedQueue {
    std::size_t unit = 0;   ///< its number in events: its isa::QueueId
    std::string_view name;  ///< of the queue: "matrix"
    QueueTraces traces;

    bool operator==(const TracedQueue&) const = default;
};

/// A core, as traces show it: its queues and its units in the order of the data path. The host's queue is
/// left out if the program does not use it.
struct TracedCore {
    std::vector<TracedQueue> queues;
    std::vector<const UnitModule*> units = {};  ///< describe their waves; not read after `begun`
};

/// The times of an instruction in the sequencer.
struct IssueTimes {
    InstructionNumber number = 0;
    Tag tag = 0;        ///< in force after it; for a `tag` instruction, the tag that it sets
    Cycle asked = 0;    ///< the sequencer could have issued it
    Cycle arrived = 0;  ///< that, and it was in the instruction buffer
    Cycle issued = 0;   ///< that, and its queue had a place; for `halt`: it began to wait for the units

    bool operator==(const IssueTimes&) const = default;
};

/// The times of a command, an instruction or a `sync`, in its unit's queue.
struct QueueTimes {
    std::size_t unit = 0;
    InstructionNumber number = 0;
    Tag tag = 0;
    Cycle issued = 0;  ///< put into the queue
    Cycle first = 0;   ///< became the first in the queue
    Cycle taken = 0;   ///< its unit took it; for a `sync`: was executed

    bool operator==(const QueueTimes&) const = default;
};

/// The times of one instruction in its unit; in the matrix unit, of one repetition.
struct InstructionTimes {
    std::size_t unit = 0;
    InstructionNumber number = 0;
    Tag tag = 0;
    Cycle issued = 0;    ///< put into the unit's queue
    Cycle begun = 0;     ///< its first row moved
    Cycle released = 0;  ///< the unit could begin the next
    Cycle complete = 0;  ///< its last result was in its place
    Cycle loaded = 0;    ///< activation unit only: parameters and tables are read, and the first row follows
    std::optional<std::uint64_t> bytes = {};  ///< that it moved between the chip and its host

    bool operator==(const InstructionTimes&) const = default;
};

/// A wait in the middle of an instruction.
struct StallTimes {
    std::size_t unit = 0;
    InstructionNumber number = 0;
    Tag tag = 0;
    Cycle from = 0;
    Cycle until = 0;
    std::string_view reason;  ///< the name of its counter: "ring_stall_cycles"

    bool operator==(const StallTimes&) const = default;
};

/// The times of a weight tile in the FIFO.
struct TileTimes {
    InstructionNumber number = 0;  ///< number of the `read_weights` that fetched it
    std::uint32_t tile = 0;        ///< its number in the program
    Tag tag = 0;
    std::uint64_t bytes = 0;  ///< fetched for it
    bool spilled = false;     ///< from host memory, over the host link
    Cycle fetched = 0;        ///< took a slot, and its fetch was issued
    Cycle whole = 0;          ///< its last byte arrived
    Cycle shifting = 0;       ///< began to shift into the array
    Cycle shifted = 0;        ///< whole in the array's shadow plane; its slot is free

    bool operator==(const TileTimes&) const = default;
};

/// The idle cycles of the matrix unit between two streams. Each cycle counts for the first condition that the
/// later stream was missing; the conditions come true in this order.
struct IdleCycles {
    Cycle without_rows = 0;  ///< not issued, or its rows were not there
    Cycle without_tile = 0;  ///< its tile was not whole in the FIFO
    Cycle shifting = 0;      ///< its tile was not in the shadow plane
    Cycle without_port = 0;  ///< a memory port was taken

    Cycle sum() const { return without_rows + without_tile + shifting + without_port; }
    bool operator==(const IdleCycles&) const = default;
};

/// The idle cycles of a stream: those before it, from `begin` to its first cycle, and the gaps inside it.
struct MatrixIdleTimes {
    InstructionNumber number = 0;
    Tag tag = 0;
    Cycle begin = 0;
    IdleCycles idle;
    // Stalls as the ISCA 2017 paper counts them, in cycles from `begin`. They may overlap.
    Cycle activations = 0;      ///< the activation unit still wrote them
    Cycle inputs = 0;           ///< the host still delivered them
    Cycle gaps = 0;             ///< after its first row: the data setup was still collecting a line
    bool keep_weights = false;  ///< the stream's weights are those of the stream before it

    bool operator==(const MatrixIdleTimes&) const = default;
};

/// A stream as it enters the array: `lines` lines of `line_rows` rows. A line begins every `line_cycles`
/// cycles; inside a line, a row enters every `passes` cycles.
struct StreamTimes {
    InstructionNumber number = 0;
    Tag tag = 0;
    Cycle begun = 0;  ///< its first row entered
    Cycle summed =
        0;  ///< the sums of its first pass were written; later passes follow at the distances of their entry
    std::uint64_t lines = 0;
    std::uint64_t line_rows = 1;
    std::uint64_t passes = 1;
    std::uint64_t line_cycles = 1;
    std::uint64_t accumulator_row = 0;
    std::uint32_t repetition = 0;  ///< of its instruction
    bool keep_weights = false;

    bool operator==(const StreamTimes&) const = default;
};

/// The state of a failed program.
struct FailureTimes {
    Cycle at = 0;  ///< the last cycle in which something happened
    Tag tag = 0;   ///< in force in the sequencer
    /// The instruction that the sequencer had not issued yet; its `issued` equals `at`.
    std::optional<IssueTimes> issue;
    /// The first command of each queue that was not empty; its `taken` equals `at`.
    std::vector<QueueTimes> queues;

    bool operator==(const FailureTimes&) const = default;
};

/// Receives the events of a run as their times become known: every instruction in the sequencer, in its queue
/// and in its unit, every tile that enters or leaves the FIFO, and every stream that enters the array. Events
/// of one kind come in the order of their unit; between units and kinds there is no order. For traces and
/// tests; a run without a sink pays one comparison with null for each event.
///
/// Forwarders implement every event; the pure virtual functions catch omissions. Listeners derive from
/// TraceListener.
class TraceSink {
public:
    virtual ~TraceSink() = default;
    /// The run begins: comes before all other events.
    virtual void begun(const TracedCore& core) = 0;
    virtual void instruction(const InstructionTimes& times) = 0;
    virtual void issued(const IssueTimes& times) = 0;
    virtual void queued(const QueueTimes& times) = 0;
    /// Comes before the `instruction` that waited.
    virtual void stalled(const StallTimes& times) = 0;
    /// A tile's fetch was issued; the tile has not been shifted in yet.
    virtual void tile_fetched(const TileTimes& times) = 0;
    virtual void tile(const TileTimes& times) = 0;
    virtual void matrix_idle(const MatrixIdleTimes& times) = 0;
    /// Comes after the `matrix_idle` of the cycles before it, with every engine.
    virtual void stream(const StreamTimes& times) = 0;
    /// The program has ended at this cycle, under this tag. No event follows. Not sent if the program fails.
    virtual void ended(Cycle end, Tag tag) = 0;
    /// The program has failed. No event follows.
    virtual void failed(const FailureTimes& where) = 0;
};

/// A sink that ignores all events; a listener overrides those it needs.
class TraceListener : public TraceSink {
public:
    void begun(const TracedCore& /*core*/) override {}
    void instruction(const InstructionTimes& /*times*/) override {}
    void issued(const IssueTimes& /*times*/) override {}
    void queued(const QueueTimes& /*times*/) override {}
    void stalled(const StallTimes& /*times*/) override {}
    void tile_fetched(const TileTimes& /*times*/) override {}
    void tile(const TileTimes& /*times*/) override {}
    void matrix_idle(const MatrixIdleTimes& /*times*/) override {}
    void stream(const StreamTimes& /*times*/) override {}
    void ended(Cycle /*end*/, Tag /*tag*/) override {}
    void failed(const FailureTimes& /*where*/) override {}
};

}  // namespace systole::hw
