#pragma once

#include <cstddef>
#include <cstdint>

#include "base/cycle.h"
#include "hw/common/counter.h"
#include "hw/isa/footprint.h"
#include "hw/isa/tensor_shape.h"

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

/// High-bandwidth memory as its readers and writers see it: transfers are served one after the other, in the
/// order of their requests.
class HbmAccess : public WordMemoryAccess {
public:
    /// Asks for a transfer of so many bytes in this cycle, and waits for its last byte. Returns the cycle
    /// from which on its bytes are where they go to, now or later.
    virtual Cycle transfer(std::uint64_t row, std::uint64_t bytes, bool is_write, Tag tag) = 0;
};

}  // namespace systole::hw
