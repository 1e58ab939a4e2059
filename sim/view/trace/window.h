#pragma once

#include <vector>

#include "hw/common/clock.h"
#include "hw/common/counter.h"
#include "hw/isa/program.h"
#include "sim/view/trace/trace_config.h"

namespace systole::trace {

/// The part of a run that is traced. What takes time is in it, whole, where a part of it is.
class Window {
public:
    /// Throws ConfigError where the program has no such layer.
    Window(const TraceConfig& config, const isa::Program& program);

    /// Whether it takes what happens in cycles [begin, end), or at `begin` where that is the end, too.
    bool takes(hw::Tag tag, Cycle begin, Cycle end) const {
        return takes(tag) && begin < to_ && (end > from_ || (begin == end && begin >= from_));
    }
    bool takes(hw::Tag tag) const { return tags_.empty() || (tag < tags_.size() && tags_[tag]); }

    Cycle from() const { return from_; }
    Cycle to() const { return to_; }

private:
    Cycle from_;
    Cycle to_;
    std::vector<bool> tags_;  ///< none: all
};

}  // namespace systole::trace
