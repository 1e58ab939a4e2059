#pragma once

#include <vector>

#include "hw/common/registers.h"
#include "hw/common/trace.h"

namespace systole::trace {

/// Tells several what it hears, in their order.
class FanOut final : public hw::TraceSink {
public:
    /// Null is nobody. A sink must outlive what is told.
    void add(hw::TraceSink* sink) {
        if (sink != nullptr) sinks_.push_back(sink);
    }
    /// Who is to be told: null for nobody, and without a detour where there is one.
    hw::TraceSink* sink() {
        if (sinks_.empty()) return nullptr;
        return sinks_.size() == 1 ? sinks_.front() : this;
    }

    void instruction(const hw::InstructionTimes& times) override {
        for (hw::TraceSink* sink : sinks_) sink->instruction(times);
    }
    void issued(const hw::IssueTimes& times) override {
        for (hw::TraceSink* sink : sinks_) sink->issued(times);
    }
    void queued(const hw::QueueTimes& times) override {
        for (hw::TraceSink* sink : sinks_) sink->queued(times);
    }
    void tile_fetched(const hw::TileTimes& times) override {
        for (hw::TraceSink* sink : sinks_) sink->tile_fetched(times);
    }
    void tile(const hw::TileTimes& times) override {
        for (hw::TraceSink* sink : sinks_) sink->tile(times);
    }
    void matrix_idle(const hw::MatrixIdleTimes& times) override {
        for (hw::TraceSink* sink : sinks_) sink->matrix_idle(times);
    }
    void stream(const hw::StreamTimes& times) override {
        for (hw::TraceSink* sink : sinks_) sink->stream(times);
    }
    void ended(Cycle end, hw::Tag tag) override {
        for (hw::TraceSink* sink : sinks_) sink->ended(end, tag);
    }
    void failed(const hw::FailureTimes& where) override {
        for (hw::TraceSink* sink : sinks_) sink->failed(where);
    }

private:
    std::vector<hw::TraceSink*> sinks_;
};

/// Tells several of the array's registers, in their order.
class RegisterFanOut final : public hw::RegisterSink {
public:
    /// Null is nobody. A sink must outlive what is told.
    void add(hw::RegisterSink* sink) {
        if (sink != nullptr) sinks_.push_back(sink);
    }
    /// Who is to be told: null for nobody.
    hw::RegisterSink* sink() { return sinks_.empty() ? nullptr : this; }

    void cycle(Cycle cycle, const hw::ArrayRegisters& registers) override {
        for (hw::RegisterSink* sink : sinks_) sink->cycle(cycle, registers);
    }

private:
    std::vector<hw::RegisterSink*> sinks_;
};

}  // namespace systole::trace
