#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "hw/isa/footprint.h"
#include "hw/isa/program.h"
#include "sim/occupancy/span_recorder.h"

namespace systole::occupancy {

/// Rows of a memory that hold what one writer wrote, from the first write to the last read. Rows that are
/// written again before anything has read them hold one value, from the first of these writes on; one that
/// nothing ever reads ends with its last write.
struct RowValue {
    std::size_t writer = 0;  ///< whose the value is
    std::size_t visit = 0;   ///< which of the writer's turns wrote it
    isa::RowRange rows;
    Cycle begin = 0;
    Cycle end = 0;

    bool operator==(const RowValue&) const = default;
};

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

/// The values of a run in each memory. Rows are those of the instructions' footprints, from the lowest to the
/// highest that an instruction touches.
struct ProgramValues {
    std::vector<std::string> writers;      ///< layers by name, and host buffers that are read from
    std::vector<RowValue> unified_buffer;  ///< by turn, then row
    std::vector<RowValue> accumulators;
};

/// Of the instructions up to `halt`.
ProgramValues find_values(const isa::Program& program, const Spans& spans);

/// Values of one turn that lie on each other and were there together: a shape of rows over time, from the
/// lowest row to the highest, in steps that touch.
using Shape = std::vector<RowValue>;

/// Takes the shapes of values one after the other, which are, as the values, by turn, then row: a run may
/// have more than anyone keeps. Neighbouring steps whose lives begin and end within `tolerance` cycles are
/// one, which lives as long as any of them.
void for_each_shape(std::span<const RowValue> values, Cycle tolerance,
                    const std::function<void(Shape&&)>& take);

}  // namespace systole::occupancy
