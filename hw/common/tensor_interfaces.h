#pragma once

#include <algorithm>
#include <cstdint>

#include "hw/common/counter.h"
#include "hw/isa/footprint.h"

// How the units of the family tensor_core see each other.
namespace systole::hw {

/// A memory of rows of words. The sequencer refuses programs with rows out of range.
class WordMemoryAccess {
public:
    virtual ~WordMemoryAccess() = default;
    /// The words from a row on.
    virtual std::uint32_t* from_row(std::uint64_t row) = 0;
    /// Bytes that were read, and written.
    virtual void count_reads(std::uint64_t bytes, Tag tag) = 0;
    virtual void count_writes(std::uint64_t bytes, Tag tag) = 0;
    /// Notes which rows an instruction uses.
    virtual void touch(const isa::Footprint& footprint) = 0;
};

/// The end of the rows of a memory in a footprint.
inline std::uint64_t end_of_words(const isa::Footprint& footprint, isa::MemoryId memory) {
    std::uint64_t end = 0;
    for (const isa::MemoryRows& rows : footprint) {
        if (rows.memory == memory && !rows.rows.empty()) end = std::max(end, rows.rows.last);
    }
    return end;
}

}  // namespace systole::hw
