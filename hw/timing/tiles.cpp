#include "hw/timing/tiles.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

#include "base/arithmetic.h"
#include "hw/isa/moved_pixels.h"

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

/// Lines of the result that come from the source, by the line of tiles that owns the line of the source, and
/// the one that owns that of the result; the same of columns.
struct MovedLines {
    MovedLines(const isa::MovedAxis& axis, std::uint64_t tile_count, std::uint64_t sources,
               std::uint64_t results)
        : tiles(tile_count), lines(tile_count * tile_count) {
        const std::uint64_t own_sources = divide_up(sources, tiles);
        const std::uint64_t own_results = divide_up(results, tiles);
        for (std::uint64_t result = 0; result < results; ++result) {
            const auto source = axis.source_of(result, sources);
            if (source) ++lines[*source / own_sources * tiles + result / own_results];
        }
    }

    std::uint64_t between(std::uint64_t from, std::uint64_t to) const { return lines[from * tiles + to]; }
    std::uint64_t out_of(std::uint64_t from) const {
        std::uint64_t sum = 0;
        for (std::uint64_t to = 0; to < tiles; ++to) sum += between(from, to);
        return sum;
    }
    std::uint64_t into(std::uint64_t to) const {
        std::uint64_t sum = 0;
        for (std::uint64_t from = 0; from < tiles; ++from) sum += between(from, to);
        return sum;
    }
    std::uint64_t all() const {
        std::uint64_t sum = 0;
        for (const std::uint64_t each : lines) sum += each;
        return sum;
    }
    std::uint64_t that_stay() const {
        std::uint64_t sum = 0;
        for (std::uint64_t tile = 0; tile < tiles; ++tile) sum += between(tile, tile);
        return sum;
    }
    std::uint64_t most_out_of_one() const {
        std::uint64_t most = 0;
        for (std::uint64_t tile = 0; tile < tiles; ++tile) most = std::max(most, out_of(tile));
        return most;
    }
    std::uint64_t most_into_one() const {
        std::uint64_t most = 0;
        for (std::uint64_t tile = 0; tile < tiles; ++tile) most = std::max(most, into(tile));
        return most;
    }
    /// Over the busiest link, in one direction.
    std::uint64_t busiest() const {
        std::uint64_t most = 0;
        for (std::uint64_t border = 1; border < tiles; ++border) {
            std::uint64_t forwards = 0;
            std::uint64_t backwards = 0;
            for (std::uint64_t before = 0; before < border; ++before) {
                for (std::uint64_t behind = border; behind < tiles; ++behind) {
                    forwards += between(before, behind);
                    backwards += between(behind, before);
                }
            }
            most = std::max({most, forwards, backwards});
        }
        return most;
    }

    std::uint64_t tiles;
    std::vector<std::uint64_t> lines;
};

/// Pixels from which an interpolated one comes.
constexpr std::uint64_t interpolated_corners = 4;
/// A softmax reads its elements for the largest one, for the sum, and for the shares.
constexpr std::uint64_t softmax_passes = 3;
/// A norm reads its elements for the sum of their squares, and for the quotients.
constexpr std::uint64_t normalize_passes = 2;

/// A range of lines, columns or channels.
struct AxisRange {
    std::uint64_t first = 0;
    std::uint64_t last = 0;  ///< behind the end

    std::uint64_t in_both(const AxisRange& other) const {
        const std::uint64_t begin = std::max(first, other.first);
        const std::uint64_t end = std::min(last, other.last);
        return end > begin ? end - begin : 0;
    }
};

/// What a tile owns of an image: lines, columns and channels.
std::array<AxisRange, 3> owned_by(const isa::TileLayout& layout, std::uint64_t line, std::uint64_t column) {
    const auto part = [](std::uint64_t tile, std::uint64_t own, std::uint64_t extent) {
        return AxisRange{.first = std::min(tile * own, extent), .last = std::min((tile + 1) * own, extent)};
    };
    return {part(line, layout.own_lines(), layout.lines), part(column, layout.own_columns(), layout.columns),
            AxisRange{.first = 0, .last = layout.channels}};
}

/// A place between two neighbours in a line or column of tiles: elements that pass it in each direction.
struct LinkTraffic {
    std::uint64_t forwards = 0;
    std::uint64_t backwards = 0;

    std::uint64_t most() const { return std::max(forwards, backwards); }
    static void pass(std::vector<LinkTraffic>& links, std::uint64_t from, std::uint64_t to,
                     std::uint64_t elements) {
        for (std::uint64_t at = from; at < to; ++at) links[at].forwards += elements;
        for (std::uint64_t at = to; at < from; ++at) links[at].backwards += elements;
    }
};

std::uint64_t busiest_of(const std::vector<std::vector<LinkTraffic>>& all) {
    std::uint64_t most = 0;
    for (const auto& links : all) {
        for (const LinkTraffic& link : links) most = std::max(most, link.most());
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

VectorSteps vector_steps(const isa::TileVector& vector, const isa::Registers& registers,
                         const machine::MachineConfig& machine) {
    const isa::TileLayout result =
        isa::tile_layout(registers, isa::result_registers, grid_of(machine), vector.result);
    VectorSteps steps{.elements = area_of(result, vector.with_margins).pixels() * result.channels,
                      .of_element = 1,
                      .a_cycle = machine.tile_array.vector_bytes_per_cycle};
    if (vector.is_pooling()) {
        steps.of_element = isa::tile_window(registers).taps();
        steps.a_cycle = machine.tile_array.pooling_bytes_per_cycle;
    } else if (vector.operation == isa::TileOperation::Interpolate) {
        steps.of_element = interpolated_corners;
        steps.a_cycle = machine.tile_array.pooling_bytes_per_cycle;
    } else if (vector.operation == isa::TileOperation::Softmax) {
        steps.of_element = softmax_passes;
    } else if (vector.operation == isa::TileOperation::Normalize) {
        steps.of_element = normalize_passes;
    }
    return steps;
}

Cycle vector_cycles(const isa::TileVector& vector, const isa::Registers& registers,
                    const machine::MachineConfig& machine) {
    return vector_steps(vector, registers, machine).cycles();
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

MoveCost move_cost(const isa::Move& move, const isa::Registers& registers, const isa::TileGrid& grid) {
    const isa::TileLayout source = isa::tile_layout(registers, isa::source_registers, grid, move.source);
    const isa::TileLayout result = isa::tile_layout(registers, isa::result_registers, grid, move.result);
    const isa::MovedPixels pixels = isa::moved_pixels(move, registers);
    const MovedLines lines(pixels.lines, grid.lines, source.lines, result.lines);
    const MovedLines columns(pixels.columns, grid.columns, source.columns, result.columns);
    MoveCost cost;
    cost.moved = lines.all() * columns.all() * result.channels;
    cost.written = move.keeps ? cost.moved : result.elements();
    cost.bytes = cost.moved - lines.that_stay() * columns.that_stay() * result.channels;
    // Up and down in the columns of tiles that own the source, then left and right in the lines of tiles that
    // own the result.
    const std::uint64_t links =
        (lines.busiest() * columns.most_out_of_one() + columns.busiest() * lines.most_into_one()) *
        result.channels;
    const std::uint64_t pixels_of_fullest = move.keeps ? lines.most_into_one() * columns.most_into_one()
                                                       : result.own_lines() * result.own_columns();
    cost.link_bytes = std::max(links, pixels_of_fullest * result.channels);
    return cost;
}

MoveCost permute_cost(const isa::Permute& permute, const isa::Registers& registers,
                      const isa::TileGrid& grid) {
    const isa::TileLayout source = isa::tile_layout(registers, isa::source_registers, grid, permute.source);
    const isa::TileLayout result = isa::tile_layout(registers, isa::result_registers, grid, permute.result);
    const std::array<std::size_t, 3> axes = isa::source_axes(permute.order);
    // Up and down in the columns of tiles that own the source, then left and right in the lines of tiles that
    // own the result.
    std::vector<std::vector<LinkTraffic>> of_columns(grid.columns, std::vector<LinkTraffic>(grid.lines));
    std::vector<std::vector<LinkTraffic>> of_lines(grid.lines, std::vector<LinkTraffic>(grid.columns));
    std::uint64_t stay = 0;
    for (std::uint64_t from = 0; from < grid.tiles(); ++from) {
        const auto read = owned_by(source, from / grid.columns, from % grid.columns);
        for (std::uint64_t to = 0; to < grid.tiles(); ++to) {
            const auto written = owned_by(result, to / grid.columns, to % grid.columns);
            std::uint64_t elements = 1;
            for (std::size_t axis = 0; axis < axes.size(); ++axis) {
                elements *= written.at(axis).in_both(read.at(axes.at(axis)));
            }
            if (from == to) stay += elements;
            LinkTraffic::pass(of_columns[from % grid.columns], from / grid.columns, to / grid.columns,
                              elements);
            LinkTraffic::pass(of_lines[to / grid.columns], from % grid.columns, to % grid.columns, elements);
        }
    }
    const std::uint64_t fullest = result.own_lines() * result.own_columns() * result.channels;
    return {.moved = result.elements(),
            .written = result.elements(),
            .bytes = result.elements() - stay,
            .link_bytes = std::max(busiest_of(of_columns) + busiest_of(of_lines), fullest)};
}

Cycle ring_cycles(std::uint64_t bytes, const machine::MachineConfig& machine) {
    return machine.ring_rate().after({}, bytes).whole;
}

Cycle mesh_cycles(std::uint64_t bytes, const machine::MachineConfig& machine) {
    return machine.mesh_rate().after({}, bytes).whole;
}

}  // namespace systole::timing
