#pragma once

#include <vector>

#include "hw/common/clock.h"
#include "hw/common/counter.h"
#include "hw/isa/program.h"
#include "sim/run/record/trace_config.h"

namespace systole::trace {

/// The part of a run that is traced. An event is included completely if a part of it lies in the window.
class Window {
public:
    /// Throws ConfigError if the program has no such layer.
    Window(const TraceConfig& config, const isa::Program& program);

    /// Whether the window includes an event of the cycles [begin, end), or an event at `begin` if `end`
    /// equals `begin`.
    bool takes(hw::Tag tag, Cycle begin, Cycle end) const {
        return takes(tag) && begin < to_ && (end > from_ || (begin == end && begin >= from_));
    }
    bool takes(hw::Tag tag) const { return tags_.empty() || (tag < tags_.size() && tags_[tag]); }

    Cycle from() const { return from_; }
    Cycle to() const { return to_; }

private:
    Cycle from_;
    Cycle to_;
    std::vector<bool> tags_;  ///< the included tags; empty: all
};

}  // namespace systole::trace
