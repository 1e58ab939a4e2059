#pragma once

#include <vector>

#include "hw/common/registers.h"
#include "hw/common/trace.h"

namespace systole::hw {

/// Forwards what a run does to several sinks, in their order.
class TraceFanOut final : public TraceSink {
public:
    /// Null is nobody. A sink must outlive what is told.
    void add(TraceSink* sink) {
        if (sink != nullptr) sinks_.push_back(sink);
    }
    /// Who is to be told: null for nobody, and without a detour where there is one.
    TraceSink* sink() {
        if (sinks_.empty()) return nullptr;
        return sinks_.size() == 1 ? sinks_.front() : this;
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

/// Forwards the array's registers to several sinks, in their order.
class RegisterFanOut final : public RegisterSink {
public:
    /// Null is nobody. A sink must outlive what is told.
    void add(RegisterSink* sink) {
        if (sink != nullptr) sinks_.push_back(sink);
    }
    /// Who is to be told: null for nobody.
    RegisterSink* sink() { return sinks_.empty() ? nullptr : this; }

    void cycle(Cycle cycle, const ArrayRegisters& registers) override {
        for (RegisterSink* sink : sinks_) sink->cycle(cycle, registers);
    }

private:
    std::vector<RegisterSink*> sinks_;
};

}  // namespace systole::hw
