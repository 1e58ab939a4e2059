#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <vector>

#include "hw/isa/footprint.h"
#include "hw/isa/program.h"
#include "hw/machine/unit_description.h"
#include "sim/run/record/record.h"

namespace systole::run {

/// The times of an instruction in its unit, with all its repetitions. `released` is 0 if it never was in one.
struct Span {
    Cycle begun = 0;     ///< its first row moved
    Cycle released = 0;  ///< its last row had moved
    Cycle complete = 0;  ///< its last result was in place

    bool operator==(const Span&) const = default;
};

/// The times by instruction number, up to the last recorded one. There can be millions: a deque grows without
/// copying them.
using Spans = std::deque<Span>;

/// Follows the values in the rows of one memory, instruction by instruction in program order. A write ends
/// the values in its rows that have been read, and begins a new one. A value that has not been read yet
/// continues.
class RowTracker {
public:
    /// `in_place`: see machine::Occupied.
    explicit RowTracker(bool in_place = false) : in_place_(in_place) {}

    /// Rows are written by the writer in its turn `visit`.
    void write(const isa::RowRange& rows, std::size_t writer, std::size_t visit, const Span& span);
    void read(const isa::RowRange& rows, const Span& span);
    /// Parts of the values in these rows change in place: they go on.
    void update(const isa::RowRange& rows, const Span& span);

    /// All values, including those that still occupy their rows; sorted by turn, then row.
    std::vector<RowValue> take() &&;

private:
    struct Segment {
        bool is_live = false;
        bool is_read = false;
        std::size_t writer = 0;
        std::size_t visit = 0;
        Cycle begin = 0;
        Cycle end = 0;
    };
    using Segments = std::map<std::uint64_t, Segment>;

    /// Splits segments so that one begins at this row.
    Segments::iterator split(std::uint64_t row);
    /// Stores the value of the segment that begins there.
    void close(Segments::const_iterator segment);

    bool in_place_ = false;
    Segments segments_{{0, Segment{}}};  ///< by first row; each ends where the next begins
    std::vector<RowValue> values_;
};

/// The values of a program's instructions up to `halt`, in the memories among the units that describe their
/// occupancy.
MemoryValues find_values(const isa::Program& program, const Spans& spans,
                         std::span<const machine::UnitDescription> units);

}  // namespace systole::run
