#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "hw/isa/footprint.h"
#include "hw/isa/program.h"
#include "sim/run/record/record.h"
#include "sim/view/occupancy/level_windows.h"

namespace systole::occupancy {

using run::RowValue;

/// When an instruction, all its repetitions together, was in its unit. `released` is 0 of one that never was.
struct Span {
    Cycle begun = 0;     ///< its first row moved
    Cycle released = 0;  ///< its last row had moved
    Cycle complete = 0;  ///< its last result was in its place
};

/// By number; as many as were heard of. Of millions: a deque grows without a copy beside it.
using Spans = std::deque<Span>;

/// Follows the values in the rows of one memory, instruction by instruction in program order. A write ends
/// what was read in its rows and begins a value; where nothing has read it yet, the value goes on.
class RowTracker {
public:
    /// Rows are written by the writer in its turn `visit`.
    void write(const isa::RowRange& rows, std::size_t writer, std::size_t visit, const Span& span);
    void read(const isa::RowRange& rows, const Span& span);

    /// All values, those still there included; by turn, then row.
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

    /// Makes a segment begin at the row.
    Segments::iterator split(std::uint64_t row);
    /// Keeps the value of the segment that begins there.
    void close(Segments::const_iterator segment);

    Segments segments_{{0, Segment{}}};  ///< by first row; each ends where the next begins
    std::vector<RowValue> values_;
};

/// Of the instructions up to `halt`.
run::MemoryValues find_values(const isa::Program& program, const Spans& spans);

/// Values of one turn that lie on each other and were there together: a shape of rows over time, from the
/// lowest row to the highest, in steps that touch.
using Shape = std::vector<RowValue>;

/// Takes the shapes of values one after the other, which are, as the values, by turn, then row: a run may
/// have more than anyone keeps. Neighbouring steps whose lives begin and end within `tolerance` cycles are
/// one, which lives as long as any of them.
void for_each_shape(std::span<const RowValue> values, Cycle tolerance,
                    const std::function<void(Shape&&)>& take);

}  // namespace systole::occupancy
