#include "hw/isa/instructions/permute.h"

#include <fmt/format.h>

#include <algorithm>

#include "hw/isa/fields.h"
#include "hw/isa/footprint.h"
#include "hw/isa/program_error.h"
#include "hw/isa/tile_layout.h"

namespace systole::isa {
namespace {

constexpr std::array<std::string_view, 6> order_names = {"lines_columns_channels", "lines_channels_columns",
                                                         "columns_lines_channels", "columns_channels_lines",
                                                         "channels_lines_columns", "channels_columns_lines"};
constexpr std::array<std::array<std::size_t, 3>, 6> axes_of_orders{
    {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};

}  // namespace

std::array<std::size_t, 3> source_axes(AxisOrder order) {
    return axes_of_orders.at(static_cast<std::size_t>(order));
}

AxisOrder order_of(const std::array<std::size_t, 3>& source_axes) {
    const auto* const found = std::ranges::find(axes_of_orders, source_axes);
    if (found == axes_of_orders.end()) throw std::logic_error("axes of a source that are no order");
    return static_cast<AxisOrder>(found - axes_of_orders.begin());
}

void Permute::fields(FieldVisitor& visitor) {
    visitor.choice("order", order_names, order);
    visitor.number({.name = "dst", .bytes = 3}, result);
    visitor.number({.name = "src", .bytes = 3}, source);
}

Footprint Permute::footprint(const Registers& registers, const Geometry& geometry) const {
    const TileLayout from = tile_layout(registers, source_registers, geometry.tiles, source);
    const TileLayout to = tile_layout(registers, result_registers, geometry.tiles, result);
    check_whole(from);
    check_whole(to);
    const std::array<std::uint64_t, 3> extents{from.lines, from.columns, from.channels};
    const std::array<std::size_t, 3> axes = source_axes(order);
    if (to.lines != extents[axes[0]] || to.columns != extents[axes[1]] || to.channels != extents[axes[2]]) {
        throw ProgramError(fmt::format("the result is {} x {} x {}; the source in this order is {} x {} x {}",
                                       to.lines, to.columns, to.channels, extents[axes[0]], extents[axes[1]],
                                       extents[axes[2]]));
    }
    if (to.range().overlaps(from.range())) throw ProgramError("it may not write bytes that it reads");
    Footprint touched;
    touched.read(MemoryId::NarrowMemory, from.range());
    touched.write(MemoryId::NarrowMemory, to.range());
    return touched;
}

}  // namespace systole::isa
