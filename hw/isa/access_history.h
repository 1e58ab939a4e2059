#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory_resource>
#include <utility>

#include "hw/isa/footprint.h"
#include "hw/isa/queue.h"

namespace systole::isa {

/// The position of an instruction in a program, counted from 1; 0 is none. 32 bits, because every instruction
/// that is issued, and every segment of rows, has one for each queue. No program has as many instructions:
/// they would take more memory than any computer has.
using Position = std::uint32_t;

/// The position of an instruction of each queue, or none.
using QueuePositions = std::array<Position, queue_count>;

/// The last accesses of each row of a memory, kept for segments of rows with the same history.
///
/// It assumes that every recorded access is ordered behind the accesses it conflicts with. An instruction
/// after the last writer of a row then also comes after all earlier accesses of the row, so these need not be
/// kept.
class AccessHistory {
public:
    /// Raises `latest` to the latest instruction of each queue that conflicts with an access. Two accesses
    /// conflict if they share a row and at least one writes it.
    void find_conflicts(const RowRange& rows, Access access, QueuePositions& latest) const;

    /// Records the access of an instruction that comes after all recorded ones.
    void record(const RowRange& rows, Access access, QueueId queue, Position position);

private:
    struct Segment {
        std::size_t writer = 0;  ///< queue
        Position written = 0;
        QueuePositions read{};  ///< the last reads of each queue since `written`

        bool operator==(const Segment&) const = default;
    };

    /// Splits a segment so that one begins at the row.
    std::pmr::map<std::uint64_t, Segment>::iterator split(std::uint64_t row);

    std::pmr::unsynchronized_pool_resource nodes_;  ///< memory of segments_, reused
    /// By first row; a segment ends where the next begins.
    std::pmr::map<std::uint64_t, Segment> segments_{{std::pair{std::uint64_t{0}, Segment{}}}, &nodes_};
};

/// For each queue, the latest instruction that conflicts with an access.
struct Conflicts {
    std::array<QueuePositions, memory_count> by_memory{};
    QueuePositions any{};  ///< in any memory

    const QueuePositions& in(MemoryId memory) const { return by_memory[index_of(memory)]; }
};

/// The histories of all memories that a program touches. If two instructions touch the same row and one of
/// them writes it, the later must come after the earlier.
class ProgramHistory {
public:
    /// The latest recorded instruction of each queue that an instruction with this footprint must come after.
    QueuePositions latest(const Footprint& footprint) const;
    /// The same, and in each memory. Takes longer.
    Conflicts conflicts(const Footprint& footprint) const;
    /// Records an instruction that comes after all recorded ones.
    void record(const Footprint& footprint, QueueId queue, Position position);

private:
    std::array<AccessHistory, memory_count> memories_;
};

}  // namespace systole::isa
