#pragma once

#include <cstddef>
#include <cstdint>

#include "hw/common/counter.h"

namespace systole::hw {

/// The unified buffer as other units see it: rows of bytes. Out-of-range rows are the sequencer's to
/// refuse; here they are a contradiction of the model.
class UnifiedBufferAccess {
public:
    virtual ~UnifiedBufferAccess() = default;
    virtual std::size_t row_bytes() const = 0;
    /// The bytes of rows [first, first + count), to read.
    virtual const std::uint8_t* read(std::uint64_t first, std::uint64_t count) const = 0;
    /// The bytes of rows [first, first + count), to write.
    virtual std::uint8_t* write(std::uint64_t first, std::uint64_t count) = 0;
    /// Accounts for accesses, each of at most one row of bytes.
    virtual void count_reads(std::uint64_t accesses, Tag tag) = 0;
    virtual void count_writes(std::uint64_t accesses, Tag tag) = 0;
};

/// The accumulators as other units see them: rows of 32-bit sums.
class AccumulatorAccess {
public:
    virtual ~AccumulatorAccess() = default;
    virtual std::size_t columns() const = 0;
    virtual const std::int32_t* read(std::uint64_t first, std::uint64_t count) const = 0;
    virtual std::int32_t* write(std::uint64_t first, std::uint64_t count) = 0;
    virtual void count_reads(std::uint64_t rows, Tag tag) = 0;
    virtual void count_writes(std::uint64_t rows, Tag tag) = 0;
    /// What writing them took: rows, once for each pass of the array, and those read first to be added to.
    virtual void count_passes(std::uint64_t passes, std::uint64_t additions, Tag tag) = 0;
    /// The banks that rows [first, first + count) lie in: [first bank, last bank].
    virtual std::pair<std::size_t, std::size_t> banks(std::uint64_t first, std::uint64_t count) const = 0;
};

}  // namespace systole::hw
