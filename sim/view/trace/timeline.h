#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hw/common/trace.h"
#include "hw/isa/assembly/instruction_text.h"
#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"
#include "sim/view/energy/power_over_time.h"
#include "sim/view/occupancy/occupancy.h"
#include "sim/view/trace/chrome_events.h"
#include "sim/view/trace/output_file.h"
#include "sim/view/trace/window.h"

namespace systole::trace {

/// What a memory holds over time, as a counter.
struct OccupiedTrack {
    std::string track;
    std::string places;  ///< that are counted: "rows"
    occupancy::Changes changes;
};

/// Watts by consumer, as counters.
void show_power(ChromeEvents& events, const Window& window, const energy::PowerOverTime& power);

/// A core's run as slices on tracks, counters and arrows, in Chrome's trace-event format; docs/traces.md says
/// what each means. Events are written as soon as they are known. Those of one track are in the order of
/// time; the file is not sorted otherwise.
class Timeline final : public hw::TraceListener {
public:
    /// Program and window must outlive the timeline. `name`: of its process in the file.
    Timeline(ChromeEvents events, std::string_view name, const Window& window, const isa::Program& program,
             const machine::MachineConfig& machine);

    void begun(const hw::TracedCore& core) override;
    void instruction(const hw::InstructionTimes& times) override;
    void issued(const hw::IssueTimes& times) override;
    void queued(const hw::QueueTimes& times) override;
    void stalled(const hw::StallTimes& times) override { units_.at(times.unit).stalls.push_back(times); }
    void tile_fetched(const hw::TileTimes& times) override;
    void tile(const hw::TileTimes& times) override;
    void matrix_idle(const hw::MatrixIdleTimes& times) override;
    void ended(Cycle end, hw::Tag tag) override;
    void failed(const hw::FailureTimes& where) override;

    void memory(const OccupiedTrack& memory);
    /// Completes the file: no call may follow, not to the timelines of other processes either.
    void finish();

private:
    /// A unit with a queue: its tracks, and the known times of its latest instructions.
    struct UnitState {
        hw::QueueTraces traces;
        Track queue_track{};
        Track track{};
        std::optional<CounterTrack> bytes;   ///< moved between the chip and its host
        std::deque<hw::QueueTimes> taken;    ///< taken from the queue; the unit has not reported them yet
        std::vector<hw::StallTimes> stalls;  ///< of the instruction under way
        std::uint32_t repetition = 0;
        Cycle taken_at = 0;
        Cycle released = 0;
    };
    struct Stream {
        hw::InstructionTimes times;
        std::uint32_t repetition = 0;
    };
    /// The position of the slice of a tile's fetch.
    struct Fetch {
        Cycle begun = 0;
        Cycle end = 0;
    };
    /// A tile on its way to the multiplies that use it.
    struct ShiftedTile {
        hw::TileTimes times;
        Fetch fetch;
    };

    /// The tracks and counters of weight tiles.
    struct TileStates {
        Track fetch{};
        Track shift{};
        CounterTrack held;
        CounterTrack bytes;
    };

    /// The unit to whose cycles the track of layers belongs.
    const UnitState& main_unit() const { return units_.at(main_unit_); }
    const isa::Instruction& instruction_of(hw::InstructionNumber number) const {
        return program_.instructions[number];
    }
    /// Adds a track below all others.
    Track add_track(std::string_view name);
    /// The slice of an instruction of a unit or of the sequencer, with its fields; details may follow.
    TextBuffer& begin_instruction(Track track, Cycle begin, Cycle end, hw::InstructionNumber number,
                                  hw::Tag tag, std::string_view color = {});
    /// A slice of cycles in which something waited for something.
    TextBuffer& begin_wait(Track track, Cycle begin, Cycle end, std::string_view name,
                           hw::InstructionNumber number, hw::Tag tag, std::string_view color = {});
    void wait(Track track, Cycle begin, Cycle end, std::string_view name, hw::InstructionNumber number,
              hw::Tag tag);
    /// Shows the work that is unfinished when a program fails, up to the failure.
    void unfinished(Track track, Cycle begin, Cycle end, hw::InstructionNumber number, hw::Tag tag);
    void unfinished_wait(Track track, Cycle begin, Cycle end, std::string_view name,
                         hw::InstructionNumber number, hw::Tag tag, std::string_view color = {});
    void unfinished_issue(const hw::IssueTimes& times);
    void unfinished_stream(const hw::FailureTimes& where);
    void finish_counters();
    /// Counts a repetition, or moves on to the next instruction that the unit has taken.
    void step(UnitState& state, const hw::InstructionTimes& times);
    /// Shows the streams for which both the times and the gaps are known.
    void show_streams();
    void show_stream(const Stream& stream, const hw::MatrixIdleTimes& entered);
    /// The arrow from a tile's fetch over its shift to the multiply that uses it.
    void arrow(const ShiftedTile& tile, const hw::InstructionTimes& multiply);
    /// The layer that the matrix unit's cycles belong to from now on.
    void layer(Cycle begin, hw::Tag tag);
    void close_layer(Cycle end);
    /// The layer's name as a JSON string.
    const std::string& layer_text(hw::Tag tag);

    const Window& window_;
    const isa::Program& program_;
    const isa::HostLabels labels_;
    const Cycle issue_cycles_;
    ChromeEvents events_;

    std::uint8_t tracks_ = 0;  ///< so far; they are numbered from 1
    Track layers_track_{};
    Track sequencer_track_{};
    std::vector<UnitState> units_;  ///< by the number of the queue
    std::size_t main_unit_ = 0;
    std::optional<TileStates> tiles_;
    // Streams for which only one of the two is known; which one comes first depends on the engine.
    std::deque<Stream> streams_;
    std::deque<hw::MatrixIdleTimes> entered_;
    std::deque<Fetch> fetches_;        ///< of tiles in the FIFO
    Cycle idle_until_ = 0;             ///< the matrix unit's idle cycles are shown up to here
    Cycle last_whole_ = 0;             ///< when the latest tile was whole
    std::deque<ShiftedTile> shifted_;  ///< tiles in the array that no multiply has used yet
    std::optional<ShiftedTile> in_array_;
    std::uint64_t shown_streams_ = 0;  ///< streams so far, also outside the window; numbers the arrows
    std::optional<hw::Tag> layer_;
    Cycle layer_begun_ = 0;
    std::optional<hw::IssueTimes> halt_;
    std::vector<std::string> layer_texts_;  ///< by tag; filled on first use
};

}  // namespace systole::trace
