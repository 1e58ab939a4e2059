#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "base/cycle.h"
#include "hw/common/counter.h"
#include "hw/common/order_checker.h"
#include "hw/common/ring_queue.h"
#include "hw/isa/access_history.h"
#include "hw/isa/queue.h"

namespace systole::hw {

/// Why the matrix unit had no rows in a non-matrix cycle. Each such cycle has exactly one reason; rule 8 of
/// docs/timing.md has their order.
enum class NonMatrixReason : std::uint8_t {
    Raw,           ///< the unit that works on rows had not written them
    Input,         ///< the rows, or parameters of that unit, had not been delivered
    Accumulators,  ///< the activation unit still read the accumulators to be written
    OutputBuffer,  ///< the activation unit waited until the host had fetched the rows that it was to write
    InputBuffer,   ///< the host's read waited until the rows that it was to write were no longer in use
    VectorWork,    ///< the activation unit did vector work: counts for the layer of this work
    Setup,         ///< the data setup was still collecting a line
    Port,          ///< a memory port was taken
    NotArrived,    ///< an instruction had not arrived from the host
    QueueFull,     ///< an instruction could not be issued, because the queue of its unit was full
    Issue,         ///< the sequencer was issuing earlier instructions
    Sync,          ///< a semaphore was awaited for longer than the rows require
    ProgramBegin,  ///< the first matrix instruction had not been issued
    ProgramEnd,    ///< the last rows had entered the array
    Host,  ///< the host computed a segment whose results were awaited, or its operands were on their way
    Collective,  ///< cores exchanged rows, or waited for others to do so: counts for the layer of this work
};
inline constexpr std::size_t non_matrix_reason_count = 16;

/// What a queue is to the waits of the matrix unit: what its signals and its being full say. Its unit says it
/// (WaitHistory::set_role).
enum class QueueRole : std::uint8_t {
    Works,        ///< makes what is awaited: a wait for its signal has the reason of the wait for its results
    WorksOnRows,  ///< the same, in the unit of WaitHistory::activation
    Delivers,     ///< delivers rows, in the unit of WaitHistory::inputs
    Feeds,        ///< delivers what that unit delivers, to another memory
    Fetches,      ///< fetches results
    Host,         ///< the host's processor
    Exchanges,    ///< exchanges rows with other cores, in the unit of WaitHistory::exchanges
};

/// What a unit did in the cycles of the recent past, for the reasons of the matrix unit's waiting.
class UnitHistory {
public:
    /// What the unit did; all but the first two are waits.
    enum class Activity : std::uint8_t { Work, VectorWork, NoInstruction, Semaphore, OwnWrites, Port };

    struct Span {
        Cycle from = 0;
        Cycle until = 0;
        Cycle complete = 0;  ///< of work: its results are there
        Activity activity = Activity::Work;
        Tag tag = 0;
        /// Of work: its instruction. Of waits: the next instruction that will begin.
        InstructionNumber number = 0;
        /// Of waits for a semaphore: the queue that signals it; isa::queue_count: one of another core.
        std::size_t signaller = 0;
    };

    /// The unit waited until this cycle, from the end of the last span on; nothing if that is later.
    void waited(Activity activity, Cycle until, std::size_t signaller = 0);
    /// The unit works on an instruction from the end of the last span on.
    void worked(Activity activity, InstructionNumber number, Tag tag, Cycle until, Cycle complete);
    /// Removes the spans whose results were complete by `cycle`.
    void forget(Cycle cycle);

    /// The spans in the order of time; each begins where the one before ends.
    const RingQueue<Span>& spans() const { return spans_; }
    /// The place of an instruction's span; none if it was forgotten or has not begun.
    std::optional<std::size_t> find(InstructionNumber number) const;

private:
    RingQueue<Span> spans_;
    Cycle until_ = 0;
    InstructionNumber next_ = 0;
};

/// The instructions whose results a matrix instruction needs; their positions in the program, counted from 1,
/// or 0 for none.
struct MatrixNeeds {
    isa::Position activations = 0;   ///< writes rows that it reads, in the unit that works on rows
    isa::Position inputs = 0;        ///< writes rows that it reads, from the host or from HBM
    isa::Position accumulators = 0;  ///< reads accumulators that it writes
    // Of a tensor core.
    isa::Position cross_lane = 0;  ///< of the unit between lanes
    /// Writes rows that it reads, or reads rows that it writes, for other cores.
    isa::Position exchanges = 0;
    isa::Position outputs = 0;  ///< reads rows that it writes, for HBM
    Cycle own_writes = 0;       ///< earlier products have written the rows that it reads
};

/// The recent past of the units that the matrix unit waits for. The units report what they do; the matrix
/// unit asks why it waited. The unit that works on rows is the activation unit, or the vector unit of a
/// tensor core, whose rows come from HBM and go there.
class WaitHistory {
public:
    /// A wait of the matrix unit for rows: the cycles [begin, end) before a stream of a matrix instruction.
    struct Wait {
        Cycle begin = 0;
        Cycle end = 0;
        Cycle issued = 0;  ///< the matrix instruction
        Tag tag = 0;       ///< of the matrix instruction
        MatrixNeeds needs;
    };
    /// The first cycles of a wait in which a need was not met. They may overlap.
    struct Unmet {
        Cycle activations = 0;
        Cycle inputs = 0;
    };
    /// Receives cycles with their reason and the tag of the layer for which they count.
    using Count = std::function<void(NonMatrixReason reason, Cycle cycles, Tag tag)>;

    /// Of a queue of which no unit says anything, the role is Works.
    void set_role(isa::QueueId queue, QueueRole role);

    UnitHistory& inputs() { return inputs_; }
    UnitHistory& activation() { return activation_; }
    // Of a tensor core.
    UnitHistory& cross_lane() { return cross_lane_; }
    UnitHistory& outputs() { return outputs_; }
    UnitHistory& exchanges() { return exchanges_; }
    UnitHistory& host() { return host_; }
    /// In these cycles the sequencer could not issue an instruction, which had not arrived.
    void not_arrived(Cycle from, Cycle until) { not_issued(from, until, std::nullopt); }
    /// In these cycles the sequencer could not issue an instruction, because the queue of its unit was full.
    void queue_full(Cycle from, Cycle until, isa::QueueId unit) { not_issued(from, until, unit); }

    Unmet unmet(const Wait& wait) const;
    /// Counts each cycle of a wait once.
    void explain(const Wait& wait, const Count& count) const;
    /// Counts the cycles [begin, end) after the last stream, the program's end, with the program's last tag:
    /// those in which the host worked, and the rest. Those in which the vector unit of a tensor core or its
    /// unit between lanes worked count for the layer of this work; so do, of the others, those of a
    /// collective.
    void explain_end(Cycle begin, Cycle end, Tag tag, const Count& count) const;
    /// No later wait begins before this cycle.
    void forget(Cycle cycle);

private:
    struct NotIssued {
        Cycle from = 0;
        Cycle until = 0;
        std::optional<isa::QueueId> full;  ///< the unit whose queue was full
    };
    class Explanation;

    void not_issued(Cycle from, Cycle until, std::optional<isa::QueueId> full) {
        if (from < until) not_issued_.push_back({from, until, full});
    }
    /// `signaller`: as in UnitHistory::Span.
    QueueRole role_of(std::size_t signaller) const {
        return signaller < roles_.size() ? roles_[signaller] : QueueRole::Works;
    }
    QueueRole role_of(isa::QueueId queue) const { return role_of(static_cast<std::size_t>(queue)); }

    std::array<QueueRole, isa::queue_count> roles_{};
    bool is_fed_ = false;  ///< a queue feeds the memory from which rows come
    UnitHistory inputs_;
    UnitHistory activation_;
    UnitHistory cross_lane_;
    UnitHistory outputs_;
    UnitHistory exchanges_;
    UnitHistory host_;
    RingQueue<NotIssued> not_issued_;
};

}  // namespace systole::hw
