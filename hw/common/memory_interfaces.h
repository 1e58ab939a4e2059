#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "hw/common/counter.h"

namespace systole::hw {

/// Host memory as the host's processor, and the link of machines with tiles, see it.
class HostMemoryAccess {
public:
    virtual ~HostMemoryAccess() = default;
    /// Whether an address range lies in one buffer of the program.
    virtual bool has(std::uint64_t address, std::uint64_t bytes) = 0;
    /// The bytes of an address range, which lies in one buffer of the program. Not in a run without values.
    virtual std::uint8_t* host_bytes(std::uint64_t address, std::uint64_t bytes) = 0;
};

/// The unified buffer as other units see it: rows of bytes. The sequencer refuses programs with rows out of
/// range; here such rows are a fault of the simulator.
class UnifiedBufferAccess {
public:
    virtual ~UnifiedBufferAccess() = default;
    virtual std::size_t row_bytes() const = 0;
    /// The bytes of rows [first, first + count), to read.
    virtual const std::uint8_t* read(std::uint64_t first, std::uint64_t count) const = 0;
    /// The bytes of rows [first, first + count), to write.
    virtual std::uint8_t* write(std::uint64_t first, std::uint64_t count) = 0;
    /// Counts accesses, each of at most one row of bytes.
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
    /// Counts row accesses of the matrix unit: `passes` writes, one for each array pass, of which `additions`
    /// read the row first and add to it.
    virtual void count_passes(std::uint64_t passes, std::uint64_t additions, Tag tag) = 0;
    /// The first and last of the banks that hold rows [first, first + count).
    virtual std::pair<std::size_t, std::size_t> banks(std::uint64_t first, std::uint64_t count) const = 0;
};

}  // namespace systole::hw
