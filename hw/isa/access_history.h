#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory_resource>
#include <utility>

#include "hw/isa/footprint.h"
#include "hw/isa/unit.h"

namespace systole::isa {

/// Place of an instruction in a program, counted from 1; 0 is none.
using Position = std::uint64_t;

/// An instruction of each unit, or none.
using UnitPositions = std::array<Position, unit_count>;

enum class Access : std::uint8_t { Read, Write };

/// Which instructions last touched which rows of a memory: its rows in segments of one history each.
///
/// It relies on every recorded access being ordered behind the ones it conflicts with. Then whoever comes
/// after the last writer of a row comes after everything before that, which can be forgotten.
class AccessHistory {
public:
    /// Raises `latest` to the latest instruction of each unit that conflicts with an access: that touched
    /// one of its rows, with one of the two writing.
    void find_conflicts(const RowRange& rows, Access access, UnitPositions& latest) const;

    /// The access of an instruction behind all recorded ones.
    void record(const RowRange& rows, Access access, Unit unit, Position position);

private:
    struct Segment {
        std::size_t writer = 0;  ///< unit
        Position written = 0;
        UnitPositions read{};  ///< since then
    };

    /// Makes a segment begin at the row.
    std::pmr::map<std::uint64_t, Segment>::iterator split(std::uint64_t row);

    std::pmr::unsynchronized_pool_resource nodes_;  ///< of segments_, used again and again
    /// By first row; a segment ends where the next begins.
    std::pmr::map<std::uint64_t, Segment> segments_{{std::pair{std::uint64_t{0}, Segment{}}}, &nodes_};
};

/// The histories of all memories a program touches. Its meaning is its order: where two instructions touch
/// the same row, or byte of host memory, and one of them writes it, the later must come after the earlier.
class ProgramHistory {
public:
    /// The latest recorded instruction of each unit that one with this footprint must come after.
    UnitPositions conflicts(const Footprint& footprint) const;
    /// The instruction behind all recorded ones.
    void record(const Footprint& footprint, Unit unit, Position position);

private:
    AccessHistory buffer_;
    AccessHistory accumulators_;
    AccessHistory host_;
};

}  // namespace systole::isa
