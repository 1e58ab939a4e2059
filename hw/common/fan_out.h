#pragma once

#include <initializer_list>
#include <vector>

#include "hw/common/registers.h"
#include "hw/common/trace.h"

namespace systole::hw {

/// Forwards trace events to several sinks, in the order in which they were added.
class TraceFanOut final : public TraceSink {
public:
    TraceFanOut() = default;
    TraceFanOut(std::initializer_list<TraceSink*> sinks) {
        for (TraceSink* sink : sinks) add(sink);
    }

    /// Ignores null. The sink must outlive all events.
    void add(TraceSink* sink) {
        if (sink != nullptr) sinks_.push_back(sink);
    }
    /// The sink to hand to a run: null for no sinks, the sink itself if there is only one.
    TraceSink* sink() {
        if (sinks_.empty()) return nullptr;
        return sinks_.size() == 1 ? sinks_.front() : this;
    }

    void begun(const TracedCore& core) override {
        for (TraceSink* sink : sinks_) sink->begun(core);
    }
    void instruction(const InstructionTimes& times) override {
        for (TraceSink* sink : sinks_) sink->instruction(times);
    }
    void issued(const IssueTimes& times) override {
        for (TraceSink* sink : sinks_) sink->issued(times);
    }
    void queued(const QueueTimes& times) override {
        for (TraceSink* sink : sinks_) sink->queued(times);
    }
    void stalled(const StallTimes& times) override {
        for (TraceSink* sink : sinks_) sink->stalled(times);
    }
    void tile_fetched(const TileTimes& times) override {
        for (TraceSink* sink : sinks_) sink->tile_fetched(times);
    }
    void tile(const TileTimes& times) override {
        for (TraceSink* sink : sinks_) sink->tile(times);
    }
    void matrix_idle(const MatrixIdleTimes& times) override {
        for (TraceSink* sink : sinks_) sink->matrix_idle(times);
    }
    void stream(const StreamTimes& times) override {
        for (TraceSink* sink : sinks_) sink->stream(times);
    }
    void ended(Cycle end, Tag tag) override {
        for (TraceSink* sink : sinks_) sink->ended(end, tag);
    }
    void failed(const FailureTimes& where) override {
        for (TraceSink* sink : sinks_) sink->failed(where);
    }

private:
    std::vector<TraceSink*> sinks_;
};

/// Forwards the array's registers to several sinks, in the order in which they were added.
class RegisterFanOut final : public RegisterSink {
public:
    /// Ignores null. The sink must outlive all events.
    void add(RegisterSink* sink) {
        if (sink != nullptr) sinks_.push_back(sink);
    }
    /// The sink to hand to a run; null if there are no sinks.
    RegisterSink* sink() { return sinks_.empty() ? nullptr : this; }

    void cycle(Cycle cycle, const ArrayRegisters& registers) override {
        for (RegisterSink* sink : sinks_) sink->cycle(cycle, registers);
    }

private:
    std::vector<RegisterSink*> sinks_;
};

}  // namespace systole::hw
