#include "hw/isa/instructions/tile_vector.h"

#include <fmt/format.h>

#include <array>
#include <stdexcept>
#include <string_view>

#include "base/limits.h"
#include "hw/isa/fields.h"
#include "hw/isa/footprint.h"
#include "hw/isa/interpolation.h"
#include "hw/isa/program.h"
#include "hw/isa/program_error.h"
#include "hw/isa/rows.h"
#include "hw/isa/tile_layout.h"
#include "hw/isa/tile_values.h"

namespace systole::isa {
namespace {

constexpr std::array<std::string_view, tile_operation_count> tile_operation_names = {
    "add",        "subtract",    "multiply",           "maximum",         "minimum",
    "requantize", "max_pool",    "average_pool",       "sum_pool",        "lookup",
    "softmax",    "interpolate", "squared_difference", "biased_sum_pool", "normalize"};
/// Units of a table of 256 bytes, and of 256 words.
constexpr std::uint32_t units_of_bytes = 256 / tile_unit_bytes;
constexpr std::uint32_t units_of_words = tile_word * units_of_bytes;

void check_same_image(const TileLayout& source, const TileLayout& result) {
    if (source.lines == result.lines && source.columns == result.columns &&
        source.channels == result.channels) {
        return;
    }
    throw ProgramError(fmt::format("the source is {} x {} x {}, the result {} x {} x {}; they must be alike",
                                   source.lines, source.columns, source.channels, result.lines,
                                   result.columns, result.channels));
}

/// Throws ProgramError unless tiles store an operand's pixels of an area.
void check_stores(const TileLayout& operand, const TileArea& area) {
    const TileArea stored = stored_area(operand);
    if (area.first_line >= stored.first_line && area.first_column >= stored.first_column &&
        area.line(area.lines) <= stored.line(stored.lines) &&
        area.column(area.columns) <= stored.column(stored.columns)) {
        return;
    }
    throw ProgramError("its tiles do not store all pixels of an operand; it needs wider margins");
}

/// An operand may be replaced pixel by pixel where it lies; otherwise nothing that is read may be written.
void check_place(const TileLayout& operand, const TileLayout& result, bool is_element_wise) {
    if (is_element_wise && operand == result) return;
    if (result.range().overlaps(operand.range())) throw ProgramError("it may not write bytes that it reads");
}

void check_channels(const TileLayout& source, const TileLayout& result) {
    if (source.channels == result.channels) return;
    throw ProgramError(fmt::format("the source has {} channels, the result {}; they must be alike",
                                   source.channels, result.channels));
}

void check_pooling(const TileLayout& source, const TileLayout& result, const TileArea& area,
                   const TileWindow& window) {
    check_windows_are_stored(source, result, area, window);
    check_channels(source, result);
    if (window.taps() > largest_pooling_window) {
        throw ProgramError(
            fmt::format("a window has {} pixels; the most are {}", window.taps(), largest_pooling_window));
    }
    if (window.pad_top > (window.kernel_height - 1) * window.dilation_y ||
        window.pad_left > (window.kernel_width - 1) * window.dilation_x ||
        (result.lines - 1) * window.stride_y >= source.lines + window.pad_top ||
        (result.columns - 1) * window.stride_x >= source.columns + window.pad_left) {
        throw ProgramError("a window lies wholly outside the image");
    }
    if (window.dilation_y > 1 || window.dilation_x > 1) throw ProgramError("pooling has no dilation");
}

}  // namespace

bool TileVector::has_other() const {
    switch (operation) {
        case TileOperation::Add:
        case TileOperation::Subtract:
        case TileOperation::Multiply:
        case TileOperation::Maximum:
        case TileOperation::Minimum:
        case TileOperation::SquaredDifference:
            return true;
        case TileOperation::Requantize:
        case TileOperation::MaxPool:
        case TileOperation::AveragePool:
        case TileOperation::SumPool:
        case TileOperation::Lookup:
        case TileOperation::Softmax:
        case TileOperation::Interpolate:
        case TileOperation::BiasedSumPool:
        case TileOperation::Normalize:
            return false;
    }
    throw std::logic_error("an operation of tiles that does not exist");
}

std::uint32_t TileVector::table_units() const {
    if (operation == TileOperation::Lookup) return units_of_bytes;
    return operation == TileOperation::Softmax ? units_of_words : 0;
}

bool TileVector::is_pooling() const {
    return operation == TileOperation::MaxPool || operation == TileOperation::AveragePool ||
           operation == TileOperation::SumPool || operation == TileOperation::BiasedSumPool;
}

bool TileVector::is_element_wise() const {
    return !is_pooling() && operation != TileOperation::Softmax && operation != TileOperation::Interpolate &&
           operation != TileOperation::Normalize;
}

bool TileVector::scales() const {
    switch (operation) {
        case TileOperation::Add:
        case TileOperation::Subtract:
        case TileOperation::Multiply:
        case TileOperation::Requantize:
        case TileOperation::SumPool:
        case TileOperation::SquaredDifference:
        case TileOperation::BiasedSumPool:
            return true;
        case TileOperation::Maximum:
        case TileOperation::Minimum:
        case TileOperation::MaxPool:
        case TileOperation::AveragePool:
        case TileOperation::Lookup:
        case TileOperation::Softmax:
        case TileOperation::Interpolate:
        case TileOperation::Normalize:
            return false;
    }
    throw std::logic_error("an operation of tiles that does not exist");
}

void TileVector::fields(FieldVisitor& visitor) {
    visitor.choice("operation", tile_operation_names, operation);
    visitor.choice("scaling", scaling_names, scaling);
    visitor.flags(
        std::array<FlagsPart, 4>{FlagField{.bit = 0, .word = "signed", .value = is_signed},
                                 FlagField{.bit = 1, .word = "with_margins", .value = with_margins},
                                 FlagField{.bit = 2, .word = "half_pixel", .value = half_pixel},
                                 FlagField{.bit = 3, .word = "align_corners", .value = align_corners}});
    visitor.number({.name = "dst", .bytes = 3}, result);
    visitor.number({.name = "src", .bytes = 3}, source);
    visitor.number({.name = table_units() > 0 ? "table" : "other", .bytes = 3, .absent = 0}, other);
    visitor.rule(has_other() || table_units() > 0 || other == 0, "other is for operations on two operands");
    visitor.rule(scaling != Scaling::Real, "scaling real is for tile_multiply");
    visitor.rule(scaling != Scaling::ToEven || scales(), "scaling to_even is for operations that scale");
    const bool interpolates = operation == TileOperation::Interpolate;
    visitor.rule(
        scaling != Scaling::Float || scales() || operation == TileOperation::AveragePool || interpolates,
        "scaling float is for operations that round");
    visitor.rule(scaling == Scaling::FixedPoint || operation != TileOperation::SquaredDifference,
                 "squared_difference has the scaling fixed_point");
    visitor.rule(scaling == Scaling::Float || operation != TileOperation::BiasedSumPool,
                 "biased_sum_pool has the scaling float");
    visitor.rule(interpolates || !(half_pixel || align_corners),
                 "half_pixel and align_corners are for interpolate");
    visitor.rule(!(half_pixel && align_corners), "half_pixel and align_corners exclude each other");
}

Footprint TileVector::footprint(const Registers& registers, const Geometry& geometry) const {
    const TileLayout from = tile_layout(registers, source_registers, geometry.tiles, source);
    const TileLayout to = tile_layout(registers, result_registers, geometry.tiles, result);
    check_result_range(registers, is_signed);
    Footprint touched;
    touched.read(MemoryId::NarrowMemory, from.range());
    const TileArea area = with_margins ? stored_area(to) : own_area(to);
    if (is_pooling()) {
        check_pooling(from, to, area, tile_window(registers));
    } else if (operation == TileOperation::Interpolate) {
        check_channels(from, to);
        check_corners_are_stored(from, to, area, interpolation_of(*this));
    } else {
        check_same_image(from, to);
        check_stores(from, area);
    }
    check_zero_point(registers, Register::VectorZeroPointA, is_signed);
    check_place(from, to, is_element_wise());
    if (table_units() > 0) {
        const std::uint64_t end = std::uint64_t{other} + table_units();
        if (end > geometry.tiles.units) {
            throw ProgramError(fmt::format("its table ends before unit {} of a tile; a tile has {}", end,
                                           geometry.tiles.units));
        }
        const std::uint64_t tiles = geometry.tiles.tiles();
        touched.read(MemoryId::WideMemory, wide_units(other * tiles, table_units() * tiles));
    }
    if (has_other()) {
        check_zero_point(registers, Register::VectorZeroPointB, is_signed);
        const TileLayout second = tile_layout(registers, other_registers, geometry.tiles, other);
        check_stores(second, area);
        check_place(second, to, true);
        touched.read(MemoryId::NarrowMemory, second.range());
    }
    touched.write(MemoryId::NarrowMemory, to.range());
    return touched;
}

}  // namespace systole::isa
