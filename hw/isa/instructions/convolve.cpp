#include "hw/isa/instructions/convolve.h"

#include <fmt/format.h>

#include "base/arithmetic.h"
#include "hw/isa/block.h"
#include "hw/isa/fields.h"
#include "hw/isa/program_error.h"
#include "hw/isa/rows.h"
#include "hw/isa/window.h"

namespace systole::isa {
namespace {

/// Throws unless every repetition has elements of the window to stream.
void check_window_tiles(const Registers& registers, std::uint64_t repeat, std::uint64_t array_rows) {
    const std::uint64_t tiles = divide_up(window_elements(registers), array_rows);
    const std::uint64_t last = registers[Register::WindowTile] + repeat;
    if (last >= tiles) {
        throw ProgramError(
            fmt::format("window.tile is {}; with repeat={} the last repetition takes tile {} of a "
                        "window of {}",
                        registers[Register::WindowTile], repeat, last, tiles));
    }
}

}  // namespace

void Convolve::fields(FieldVisitor& visitor) {
    visit_flags(visitor, flags);
    visitor.number({.name = "repeat", .bytes = 1, .absent = 0}, repeat);
    visitor.number({.name = "ub", .bytes = 3}, unified_buffer_row);
    visitor.number({.name = "acc", .bytes = 2}, accumulator_row);
    visitor.number({.name = "line", .bytes = 2, .absent = 0}, first_line);
    visitor.number({.name = "lines", .bytes = 2, .minimum = 1}, lines);
    visitor.rule(!flags.keep_weights || repeat == 0, "repeat must be 0 with keep");
}

Footprint Convolve::footprint(const Registers& registers, const Geometry& geometry) const {
    check_weight_zero_point(registers, flags);
    check_window(registers);
    check_window_tiles(registers, repeat, geometry.rows);
    if (const auto blocks = block_geometry(registers)) check_blocks_are_windows(registers, *blocks);
    Footprint result;
    result.read(MemoryId::UnifiedBuffer,
                read_images(registers, unified_buffer_row, {.first = first_line, .count = lines},
                            bytes_of(flags.activations), geometry.rows));
    // An accumulating instruction also reads them.
    result.write(
        MemoryId::Accumulators,
        accumulator_rows(accumulator_row, std::uint64_t{lines} * registers[Register::WindowOutputWidth]));
    return result;
}

}  // namespace systole::isa
