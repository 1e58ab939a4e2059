#pragma once

#include <vector>

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
    void ended(hw::Cycle end, hw::Tag tag) override {
        for (hw::TraceSink* sink : sinks_) sink->ended(end, tag);
    }

private:
    std::vector<hw::TraceSink*> sinks_;
};

}  // namespace systole::trace
