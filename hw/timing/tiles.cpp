#include "hw/timing/tiles.h"

#include <algorithm>
#include <stdexcept>

#include "base/arithmetic.h"

namespace systole::timing {
namespace {

/// Lines that the busiest link of a column of tiles carries in one direction, each as often as tiles on one
/// side of the link store it and one on the other side owns it; the same of columns.
std::uint64_t busiest_link(std::uint64_t tiles, std::uint64_t own, std::uint64_t extent, std::uint64_t before,
                           std::uint64_t behind) {
    std::uint64_t most = 0;
    for (std::uint64_t border = own; border < tiles * own; border += own) {
        const std::uint64_t end = std::min(border, extent);  // of the lines in front of the link
        std::uint64_t forwards = 0;
        std::uint64_t backwards = 0;
        for (std::uint64_t patch = 0; patch < tiles * own; patch += own) {
            const std::uint64_t first = patch > before ? patch - before : 0;
            const std::uint64_t last = std::min(patch + own + behind, extent);
            if (patch >= border) {
                forwards += end > first ? end - first : 0;
            } else {
                backwards += last > border ? last - border : 0;
            }
        }
        most = std::max({most, forwards, backwards});
    }
    return most;
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
        busiest_link(layout.grid.lines, own_lines, layout.lines, static_cast<std::uint64_t>(layout.top),
                     static_cast<std::uint64_t>(layout.bottom));
    const std::uint64_t horizontal =
        busiest_link(layout.grid.columns, own_columns, layout.columns,
                     static_cast<std::uint64_t>(layout.left), static_cast<std::uint64_t>(layout.right));
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
