#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/cycle.h"
#include "hw/common/clock.h"
#include "hw/common/counter.h"
#include "hw/common/ordered_requests.h"
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

/// Asks a high-bandwidth memory for transfers.
class HbmSender {
public:
    virtual ~HbmSender() = default;
    /// The memory is free for the transfer of that direction. Returns the cycle of its last byte.
    virtual Cycle serve_transfer(std::size_t direction) = 0;
};

/// The requests for a high-bandwidth memory, which serves one transfer after the other: by cycle of the
/// request, and of one cycle by the number of its sender. Each core of the chip has two senders, one for each
/// direction.
class HbmRequests {
public:
    static constexpr std::size_t directions = 2;

    HbmRequests(std::size_t cores, const Clock& clock) : ordered_(directions * cores, clock) {}

    /// Asks for a transfer, and waits until it is served. Returns the cycle of its last byte.
    Cycle transfer(std::size_t core, HbmSender& sender, std::size_t direction) {
        const std::size_t number = core * directions + direction;
        ordered_.add(number, {&sender, direction}, serve);
        return ordered_.take(number, serve);
    }

    Cycle free_at = 0;  ///< the last byte of the transfer that was served last

private:
    struct Request {
        HbmSender* sender = nullptr;
        std::size_t direction = 0;
    };
    static Cycle serve(const Request& request, Cycle /*asked*/) {
        return request.sender->serve_transfer(request.direction);
    }

    OrderedRequests<Request> ordered_;
};

/// A core's part of a high-bandwidth memory, in rows from 0 on.
class HbmAccess : public WordMemoryAccess {
public:
    /// The first row of the part in the memory.
    virtual std::uint64_t first_row() const = 0;
    /// The number of the core in its chip.
    virtual std::size_t core() const = 0;
    /// Those of all cores of the chip.
    virtual HbmRequests& requests() = 0;
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
