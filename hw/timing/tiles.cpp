#include "hw/timing/tiles.h"

#include <algorithm>
#include <stdexcept>

#include "base/arithmetic.h"

namespace systole::timing {
namespace {

/// Hops of all lines of a margin, `own` lines a tile, of an image of `extent` lines: a line that lies d lines
/// beside the patch belongs to the tile ceil(d / own) tiles away.
std::uint64_t hops(std::uint64_t margin, std::uint64_t own, std::uint64_t extent) {
    std::uint64_t sum = 0;
    for (std::uint64_t d = 1; d <= margin && d + own <= extent; ++d) sum += divide_up(d, own);
    return sum;
}

}  // namespace

isa::TileArea area_of(const isa::TileLayout& result, bool with_margins) {
    return with_margins ? isa::stored_area(result) : isa::own_area(result);
}

isa::TileGrid grid_of(const machine::MachineConfig& machine) {
    const machine::TileArrayConfig& array = machine.tile_array;
    return {.lines = array.lines,
            .columns = array.columns,
            .lanes = array.lanes,
            .units = machine.wide_memory.bytes / isa::tile_unit_bytes};
}

BlockParts block_parts(std::uint64_t rows, const machine::MachineConfig& machine) {
    return {.rows = rows, .part_rows = machine.tile_array.weight_buffer_rows};
}

std::uint64_t ProductCost::weight_rows(std::uint64_t begin, std::uint64_t end) const {
    return std::max(end, blocks.parameter_rows) - std::max(begin, blocks.parameter_rows);
}

Cycle ProductCost::depthwise_cycles(std::uint64_t before, std::uint64_t macs) const {
    return divide_up(before + macs, depthwise_rate) - divide_up(before, depthwise_rate);
}

Cycle ProductCost::cycles() const {
    switch (product) {
        case isa::TileProduct::Convolve:
            return pixels * blocks.groups * blocks.weight_rows;
        case isa::TileProduct::Depthwise:
            return divide_up(pixels * blocks.outputs * blocks.weights, depthwise_rate);
        case isa::TileProduct::Dense:
            return dense_cycles();
    }
    throw std::logic_error("a product that does not exist");
}

ProductCost product_cost(const isa::TileMultiply& multiply, const isa::Registers& registers,
                         const machine::MachineConfig& machine) {
    const isa::TileGrid grid = grid_of(machine);
    ProductCost cost{.product = multiply.product,
                     .blocks = isa::weight_blocks(multiply, registers, grid),
                     .pixels = 1,
                     .at_once = machine.tile_array.pixels,
                     .all_pixels = 1,
                     .depthwise_rate = machine.tile_array.depthwise_macs_per_cycle,
                     .passes = 0};
    if (multiply.product == isa::TileProduct::Dense) {
        cost.passes = isa::dense_passes(cost.blocks, grid);
        return cost;
    }
    const isa::TileLayout result = isa::tile_layout(registers, isa::result_registers, grid, multiply.result);
    const isa::TileArea area = area_of(result, multiply.with_margins);
    cost.pixels = area.pixels();
    cost.all_pixels = isa::pixels_in_image(result, area);
    return cost;
}

Cycle vector_cycles(const isa::TileVector& vector, const isa::Registers& registers,
                    const machine::MachineConfig& machine) {
    const isa::TileLayout result =
        isa::tile_layout(registers, isa::result_registers, grid_of(machine), vector.result);
    const std::uint64_t elements = area_of(result, vector.with_margins).pixels() * result.channels;
    if (vector.is_pooling()) {
        return divide_up(elements * isa::tile_window(registers).taps(),
                         std::uint64_t{machine.tile_array.pooling_bytes_per_cycle});
    }
    return divide_up(elements, std::uint64_t{machine.tile_array.vector_bytes_per_cycle});
}

std::uint64_t collected_bytes(const isa::Collect& collect, const isa::Registers& registers,
                              const isa::TileGrid& grid) {
    const std::uint64_t elements =
        collect.over_lanes
            ? isa::lane_vector(registers, grid, collect.source).elements
            : isa::tile_layout(registers, isa::source_registers, grid, collect.source).elements();
    return 2 * elements;
}

ExchangeCost exchange_cost(const isa::TileLayout& layout) {
    ExchangeCost cost;
    const std::uint64_t own_lines = layout.own_lines();
    const std::uint64_t own_columns = layout.own_columns();
    const std::uint64_t vertical =
        std::max(hops(static_cast<std::uint64_t>(layout.top), own_lines, layout.lines),
                 hops(static_cast<std::uint64_t>(layout.bottom), own_lines, layout.lines));
    const std::uint64_t horizontal =
        std::max(hops(static_cast<std::uint64_t>(layout.left), own_columns, layout.columns),
                 hops(static_cast<std::uint64_t>(layout.right), own_columns, layout.columns));
    cost.link_bytes = (vertical * own_columns + horizontal * layout.stored_lines()) * layout.channels;
    const std::uint64_t stored = isa::pixels_in_image(layout, isa::stored_area(layout));
    cost.bytes = (stored - layout.lines * layout.columns) * layout.channels;
    return cost;
}

Cycle ring_cycles(std::uint64_t bytes, const machine::MachineConfig& machine) {
    return machine.ring_rate().after({}, bytes).whole;
}

Cycle mesh_cycles(std::uint64_t bytes, const machine::MachineConfig& machine) {
    return machine.mesh_rate().after({}, bytes).whole;
}

}  // namespace systole::timing
