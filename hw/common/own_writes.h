#pragma once

#include <algorithm>
#include <vector>

#include "base/cycle.h"
#include "hw/isa/footprint.h"

namespace systole::hw {

/// Rows of a memory that earlier instructions of a unit have yet to write: an instruction that reads them
/// waits.
class OwnWrites {
public:
    explicit OwnWrites(isa::MemoryId memory) : memory_(memory) {}

    /// The cycle in which earlier writes of these rows are complete; at least now.
    Cycle complete(const isa::RowRange& read, Cycle now) {
        std::erase_if(writes_, [now](const Write& write) { return write.complete <= now; });
        Cycle last = now;
        for (const Write& write : writes_) {
            if (write.rows.overlaps(read)) last = std::max(last, write.complete);
        }
        return last;
    }
    /// The same for all rows that a footprint reads.
    Cycle complete(const isa::Footprint& footprint, Cycle now) {
        Cycle last = now;
        for (const isa::MemoryRows& each : footprint) {
            if (each.memory != memory_ || each.access != isa::Access::Read) continue;
            last = std::max(last, complete(each.rows, now));
        }
        return last;
    }
    /// The rows that a footprint writes are there in this cycle.
    void add(const isa::Footprint& footprint, Cycle complete) {
        for (const isa::MemoryRows& each : footprint) {
            if (each.memory != memory_ || each.access != isa::Access::Write) continue;
            writes_.push_back({.rows = each.rows, .complete = complete});
        }
    }

private:
    struct Write {
        isa::RowRange rows = {};
        Cycle complete = 0;
    };

    const isa::MemoryId memory_;
    std::vector<Write> writes_;
};

}  // namespace systole::hw
