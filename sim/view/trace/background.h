#pragma once

#include <cstddef>
#include <optional>
#include <variant>
#include <vector>

#include "hw/common/trace.h"
#include "sim/view/trace/worker.h"

namespace systole::trace {

/// Forwards events to another sink, in the same order, from its own thread: the simulation only records them.
/// It waits if the other thread is far behind, so that memory stays bounded.
class Background final : public hw::TraceSink {
public:
    /// The other thread calls `sink` until `finish`.
    explicit Background(hw::TraceSink& sink);

    /// Returns when all events have been forwarded. Like every other function, rethrows an exception of the
    /// sink.
    void finish();

    void begun(const std::vector<hw::TracedQueue>& queues) override { note(Begun{&(queues_ = queues)}); }
    void instruction(const hw::InstructionTimes& times) override { note(times); }
    void issued(const hw::IssueTimes& times) override { note(times); }
    void queued(const hw::QueueTimes& times) override { note(times); }
    void stalled(const hw::StallTimes& times) override { note(times); }
    void tile_fetched(const hw::TileTimes& times) override { note(Fetched{times}); }
    void tile(const hw::TileTimes& times) override { note(times); }
    void matrix_idle(const hw::MatrixIdleTimes& times) override { note(times); }
    void stream(const hw::StreamTimes& times) override { note(times); }
    void ended(Cycle end, hw::Tag tag) override { note(Ended{end, tag}); }
    void failed(const hw::FailureTimes& where) override { note(Failed{&failure_.emplace(where)}); }

private:
    struct Fetched {
        hw::TileTimes times;
    };
    struct Ended {
        Cycle end = 0;
        hw::Tag tag = 0;
    };
    // Pointers to data that a run has once: it is large, and would make every event larger.
    struct Begun {
        const std::vector<hw::TracedQueue>* queues = nullptr;
    };
    struct Failed {
        const hw::FailureTimes* where = nullptr;
    };
    using Event =
        std::variant<hw::InstructionTimes, hw::IssueTimes, hw::QueueTimes, hw::TileTimes, hw::MatrixIdleTimes,
                     hw::StreamTimes, hw::StallTimes, Fetched, Begun, Ended, Failed>;
    using Block = std::vector<Event>;
    static constexpr std::size_t block_events = 4096;
    static constexpr std::size_t most_blocks = 16;  ///< blocks that wait to be forwarded: about 6 MB

    template <class Times>
    void note(const Times& times) {
        block_.emplace_back(times);
        if (block_.size() == block_events) pass_on();
    }
    void pass_on();
    static void tell(hw::TraceSink& sink, const Block& block);

    std::vector<hw::TracedQueue> queues_;
    std::optional<hw::FailureTimes> failure_;
    Block block_;
    Worker<Block> worker_;
};

}  // namespace systole::trace
