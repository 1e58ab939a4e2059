#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <variant>
#include <vector>

#include "hw/common/trace.h"
#include "sim/view/trace/worker.h"

namespace systole::trace {

/// Forwards the events of each core to another sink, all in the same order, from its own thread: the
/// simulation only records them. It waits if the other thread is far behind, so that memory stays bounded.
class Background final {
public:
    /// The other thread calls the sinks, one for each core, until `finish`.
    explicit Background(std::vector<hw::TraceSink*> sinks);

    /// To be told the events of a core.
    hw::TraceSink& of_core(std::size_t core) { return cores_.at(core); }

    /// Returns when all events have been forwarded. Like every other function, rethrows an exception of the
    /// sink.
    void finish();

private:
    class OfCore final : public hw::TraceSink {
    public:
        OfCore(Background& all, std::size_t core) : all_(all), core_(core) {}

        void begun(const hw::TracedCore& core) override { note(Begun{&(traced_ = core)}); }
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
        template <class Times>
        void note(const Times& times) {
            all_.note(core_, times);
        }

        Background& all_;
        const std::size_t core_;
        hw::TracedCore traced_;
        std::optional<hw::FailureTimes> failure_;
    };

    /// The events behind it are of another core than those before it.
    struct Core {
        std::size_t core = 0;
    };
    struct Fetched {
        hw::TileTimes times;
    };
    struct Ended {
        Cycle end = 0;
        hw::Tag tag = 0;
    };
    // Pointers to data that a run has once: it is large, and would make every event larger.
    struct Begun {
        const hw::TracedCore* core = nullptr;
    };
    struct Failed {
        const hw::FailureTimes* where = nullptr;
    };
    using Event =
        std::variant<hw::InstructionTimes, hw::IssueTimes, hw::QueueTimes, hw::TileTimes, hw::MatrixIdleTimes,
                     hw::StreamTimes, hw::StallTimes, Fetched, Begun, Ended, Failed, Core>;
    using Block = std::vector<Event>;
    static constexpr std::size_t block_events = 4096;
    static constexpr std::size_t most_blocks = 16;  ///< blocks that wait to be forwarded: about 6 MB

    template <class Times>
    void note(std::size_t core, const Times& times) {
        if (core != noted_) add(Core{noted_ = core});
        add(times);
    }
    template <class Entry>
    void add(const Entry& entry) {
        block_.emplace_back(entry);
        if (block_.size() == block_events) pass_on();
    }
    void pass_on();
    void tell(const Block& block);

    const std::vector<hw::TraceSink*> sinks_;  ///< by core
    std::deque<OfCore> cores_;
    std::size_t noted_ = 0;  ///< the core of the latest event
    std::size_t told_ = 0;   ///< the same in the other thread
    Block block_;
    Worker<Block> worker_;
};

}  // namespace systole::trace
