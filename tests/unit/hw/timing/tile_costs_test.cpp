// The functions of hw/timing/tiles.h against walking through the rules of docs/timing.md, "Machines with
// tiles", tile by tile, pixel by pixel and link by link, on random layouts.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "hw/isa/footprint.h"
#include "hw/isa/instruction.h"
#include "hw/isa/program.h"
#include "hw/isa/registers.h"
#include "hw/isa/tile_layout.h"
#include "hw/machine/machine_config.h"
#include "hw/timing/tiles.h"
#include "tests/support/random_program/choices.h"
#include "tests/support/random_runs.h"

using namespace systole;
using isa::Register;
using tests::Choices;

namespace {

isa::TileLayout random_layout(Choices& choices) {
    const auto small = [&](std::uint64_t least, std::uint64_t most) {
        return choices.number<std::uint64_t>(least, most);
    };
    isa::TileLayout layout;
    layout.grid = {.lines = choices.number<std::uint32_t>(1, 4),
                   .columns = choices.number<std::uint32_t>(1, 4),
                   .lanes = 16,
                   .units = 64};
    layout.lines = small(1, 14);
    layout.columns = small(1, 14);
    layout.channels = small(1, 5);
    layout.pixel_bytes = layout.channels + small(0, 2);
    for (std::int64_t* const margin : {&layout.top, &layout.bottom, &layout.left, &layout.right}) {
        *margin = choices.number<std::int64_t>(0, 4);
    }
    return layout;
}

/// Walks each position of each margin of a line of tiles from its owner through the links. Returns the
/// positions that the busiest link carries, in one direction.
std::uint64_t walked_phase(std::uint64_t tiles, std::uint64_t own, std::uint64_t extent, std::int64_t before,
                           std::int64_t behind) {
    std::map<std::pair<std::uint64_t, bool>, std::uint64_t> carried;  // by lower tile, and whether forwards
    for (std::uint64_t tile = 0; tile < tiles; ++tile) {
        const auto first = static_cast<std::int64_t>(tile * own) - before;
        const auto last = static_cast<std::int64_t>((tile + 1) * own) + behind;
        for (std::int64_t at = std::max<std::int64_t>(first, 0);
             at < std::min<std::int64_t>(last, static_cast<std::int64_t>(extent)); ++at) {
            const std::uint64_t owner = static_cast<std::uint64_t>(at) / own;
            for (std::uint64_t link = std::min(owner, tile); link < std::max(owner, tile); ++link) {
                ++carried[{link, owner < tile}];
            }
        }
    }
    std::uint64_t most = 0;
    for (const auto& [link, positions] : carried) most = std::max(most, positions);
    return most;
}

}  // namespace

TEST_CASE("An exchange takes what the busiest links carry, up and down, then left and right",
          "[timing][tiles]") {
    for (std::uint64_t seed = 1; seed <= tests::random_runs(2000); ++seed) {
        Choices choices(seed);
        const isa::TileLayout layout = random_layout(choices);
        CAPTURE(seed);
        const timing::ExchangeCost cost = timing::exchange_cost(layout);
        const std::uint64_t own_lines = layout.own_lines();
        const std::uint64_t own_columns = layout.own_columns();
        const std::uint64_t vertical =
            walked_phase(layout.grid.lines, own_lines, layout.lines, layout.top, layout.bottom);
        const std::uint64_t horizontal =
            walked_phase(layout.grid.columns, own_columns, layout.columns, layout.left, layout.right);
        CHECK(cost.link_bytes ==
              (vertical * own_columns + horizontal * layout.stored_lines()) * layout.channels);
    }
}

TEST_CASE("An exchange brings each pixel that a tile stores of another's", "[timing][tiles]") {
    for (std::uint64_t seed = 1; seed <= tests::random_runs(500); ++seed) {
        Choices choices(seed);
        const isa::TileLayout layout = random_layout(choices);
        CAPTURE(seed);
        std::uint64_t pixels = 0;
        const auto top = static_cast<std::uint64_t>(layout.top);
        const auto bottom = static_cast<std::uint64_t>(layout.bottom);
        const auto left = static_cast<std::uint64_t>(layout.left);
        const auto right = static_cast<std::uint64_t>(layout.right);
        for (std::uint64_t tile = 0; tile < layout.grid.tiles(); ++tile) {
            for (std::uint64_t line = 0; line < layout.lines; ++line) {
                for (std::uint64_t column = 0; column < layout.columns; ++column) {
                    const std::uint64_t i = tile / layout.grid.columns;
                    const std::uint64_t j = tile % layout.grid.columns;
                    const bool is_stored = line + top >= i * layout.own_lines() &&
                                           line < (i + 1) * layout.own_lines() + bottom &&
                                           column + left >= j * layout.own_columns() &&
                                           column < (j + 1) * layout.own_columns() + right;
                    const bool is_owned =
                        line / layout.own_lines() == i && column / layout.own_columns() == j;
                    if (is_stored && !is_owned) ++pixels;
                }
            }
        }
        CHECK(timing::exchange_cost(layout).bytes == pixels * layout.channels);
    }
}

TEST_CASE("A move takes what the busiest links carry, or what the fullest tile writes", "[timing][tiles]") {
    for (std::uint64_t seed = 1; seed <= tests::random_runs(400); ++seed) {
        CAPTURE(seed);
        Choices choices(seed);
        const isa::TileLayout source = random_layout(choices);
        isa::TileLayout result = random_layout(choices);
        result.grid = source.grid;
        result.channels = source.channels;
        const auto number = [&](std::int64_t least, std::int64_t most) {
            return choices.number<std::int64_t>(0, static_cast<std::uint64_t>(most - least)) + least;
        };
        isa::Registers registers;
        registers.set(Register::SourceLines, static_cast<std::uint32_t>(source.lines));
        registers.set(Register::SourceColumns, static_cast<std::uint32_t>(source.columns));
        registers.set(Register::SourceChannels, static_cast<std::uint32_t>(source.channels));
        registers.set(Register::ResultLines, static_cast<std::uint32_t>(result.lines));
        registers.set(Register::ResultColumns, static_cast<std::uint32_t>(result.columns));
        registers.set(Register::ResultChannels, static_cast<std::uint32_t>(result.channels));
        const std::int64_t stride = number(1, 3), dilation = number(1, 3), top = number(-4, 4),
                           left = number(-4, 4);
        registers.set(Register::WindowStrideY, static_cast<std::uint32_t>(stride));
        registers.set(Register::WindowDilationX, static_cast<std::uint32_t>(dilation));
        registers.set(Register::WindowPadTop, static_cast<std::uint32_t>(top));
        registers.set(Register::WindowPadLeft, static_cast<std::uint32_t>(left));
        const isa::Move move{.keeps = choices.chance(50), .repeats = choices.chance(50)};
        const auto comes_from = [&](std::int64_t place, std::int64_t divisor, std::uint64_t extent) {
            const bool is_there = place >= 0 && (move.repeats || place % divisor == 0) &&
                                  place / divisor < static_cast<std::int64_t>(extent);
            return is_there ? place / divisor : -1;
        };
        // Each pixel walks alone: up or down in the column of the source, then in the line of the result.
        std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> up, down, to_left, to_right;
        std::map<std::uint64_t, std::uint64_t> written;
        std::uint64_t moved = 0;
        std::uint64_t from_others = 0;
        for (std::uint64_t y = 0; y < result.lines; ++y) {
            for (std::uint64_t x = 0; x < result.columns; ++x) {
                const std::int64_t line =
                    comes_from(static_cast<std::int64_t>(y) * stride - top, 1, source.lines);
                const std::int64_t column =
                    comes_from(static_cast<std::int64_t>(x) - left, dilation, source.columns);
                const std::uint64_t to_line = y / result.own_lines();
                const std::uint64_t to_column = x / result.own_columns();
                const bool is_moved = line >= 0 && column >= 0;
                if (is_moved || !move.keeps) ++written[to_line * 4 + to_column];
                if (!is_moved) continue;
                ++moved;
                const std::uint64_t from_line = static_cast<std::uint64_t>(line) / source.own_lines();
                const std::uint64_t from_column = static_cast<std::uint64_t>(column) / source.own_columns();
                from_others += from_line != to_line || from_column != to_column;
                for (std::uint64_t at = from_line; at < to_line; ++at) ++down[{at, from_column}];
                for (std::uint64_t at = to_line; at < from_line; ++at) ++up[{at, from_column}];
                for (std::uint64_t at = from_column; at < to_column; ++at) ++to_right[{at, to_line}];
                for (std::uint64_t at = to_column; at < from_column; ++at) ++to_left[{at, to_line}];
            }
        }
        const auto most = [](const auto& links) {
            std::uint64_t largest = 0;
            for (const auto& [link, pixels] : links) largest = std::max(largest, pixels);
            return largest;
        };
        const std::uint64_t links = std::max(most(up), most(down)) + std::max(most(to_left), most(to_right));
        const std::uint64_t fullest = move.keeps ? most(written) : result.own_lines() * result.own_columns();
        const timing::MoveCost cost = timing::move_cost(move, registers, source.grid);
        CHECK(cost.moved == moved * source.channels);
        CHECK(cost.bytes == from_others * source.channels);
        CHECK(cost.written == (move.keeps ? moved : result.lines * result.columns) * source.channels);
        CHECK(cost.link_bytes == std::max(links, fullest) * source.channels);
    }
}

TEST_CASE("A permutation takes what the busiest links carry, or what the fullest tile writes",
          "[timing][tiles]") {
    for (std::uint64_t seed = 1; seed <= tests::random_runs(400); ++seed) {
        CAPTURE(seed);
        Choices choices(seed);
        const isa::TileLayout source = random_layout(choices);
        const auto order = static_cast<isa::AxisOrder>(choices.from(0, 5));
        const std::array<std::uint64_t, 3> extents{source.lines, source.columns, source.channels};
        const std::array<std::size_t, 3> axes = isa::source_axes(order);
        isa::TileLayout result = source;
        result.lines = extents.at(axes[0]);
        result.columns = extents.at(axes[1]);
        result.channels = extents.at(axes[2]);
        isa::Registers registers;
        registers.set(Register::SourceLines, static_cast<std::uint32_t>(source.lines));
        registers.set(Register::SourceColumns, static_cast<std::uint32_t>(source.columns));
        registers.set(Register::SourceChannels, static_cast<std::uint32_t>(source.channels));
        registers.set(Register::ResultLines, static_cast<std::uint32_t>(result.lines));
        registers.set(Register::ResultColumns, static_cast<std::uint32_t>(result.columns));
        registers.set(Register::ResultChannels, static_cast<std::uint32_t>(result.channels));
        std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> up, down, to_left, to_right;
        std::map<std::uint64_t, std::uint64_t> written;
        std::uint64_t from_others = 0;
        for (std::uint64_t element = 0; element < result.elements(); ++element) {
            const std::array<std::uint64_t, 3> at{element / result.channels / result.columns,
                                                  element / result.channels % result.columns,
                                                  element % result.channels};
            std::array<std::uint64_t, 3> from{};
            for (std::size_t axis = 0; axis < axes.size(); ++axis) from.at(axes.at(axis)) = at.at(axis);
            const std::uint64_t to_line = at[0] / result.own_lines();
            const std::uint64_t to_column = at[1] / result.own_columns();
            const std::uint64_t from_line = from[0] / source.own_lines();
            const std::uint64_t from_column = from[1] / source.own_columns();
            ++written[to_line * 4 + to_column];
            from_others += from_line != to_line || from_column != to_column;
            for (std::uint64_t i = from_line; i < to_line; ++i) ++down[{i, from_column}];
            for (std::uint64_t i = to_line; i < from_line; ++i) ++up[{i, from_column}];
            for (std::uint64_t i = from_column; i < to_column; ++i) ++to_right[{i, to_line}];
            for (std::uint64_t i = to_column; i < from_column; ++i) ++to_left[{i, to_line}];
        }
        const auto most = [](const auto& links) {
            std::uint64_t largest = 0;
            for (const auto& [link, elements] : links) largest = std::max(largest, elements);
            return largest;
        };
        const timing::MoveCost cost = timing::permute_cost({.order = order}, registers, source.grid);
        CHECK(cost.moved == result.elements());
        CHECK(cost.written == result.elements());
        CHECK(cost.bytes == from_others);
        CHECK(cost.link_bytes ==
              std::max(std::max(most(up), most(down)) + std::max(most(to_left), most(to_right)),
                       most(written)));
    }
}

TEST_CASE("Parts of blocks are as long as a weight buffer, the last has what is left", "[timing][tiles]") {
    machine::MachineConfig machine;
    machine.tile_array.weight_buffer_rows = 5;
    for (std::uint64_t rows = 1; rows <= 23; ++rows) {
        CAPTURE(rows);
        const timing::BlockParts parts = timing::block_parts(rows, machine);
        std::uint64_t next = 0;
        for (std::uint64_t part = 0; part < parts.count(); ++part) {
            CHECK(parts.begin(part) == next);
            CHECK(parts.rows_of(part) == std::min<std::uint64_t>(5, rows - next));
            next += parts.rows_of(part);
        }
        CHECK(next == rows);
    }
}

TEST_CASE("The parts of a product take its cycles together", "[timing][tiles]") {
    for (std::uint64_t seed = 1; seed <= tests::random_runs(300); ++seed) {
        Choices choices(seed);
        CAPTURE(seed);
        machine::MachineConfig machine;
        machine.family = machine::Family::EdgeTpu;
        machine.tile_array.lines = choices.number<std::uint32_t>(1, 3);
        machine.tile_array.columns = choices.number<std::uint32_t>(1, 3);
        machine.tile_array.lanes = 16;
        machine.tile_array.pixels = choices.number<std::uint32_t>(1, 9);
        machine.tile_array.weight_buffer_rows = choices.number<std::uint32_t>(4, 9);
        machine.tile_array.depthwise_macs_per_cycle = choices.number<std::uint32_t>(1, 40);
        const bool is_depthwise = choices.chance(50);
        const auto channels = choices.number<std::uint32_t>(1, 9);
        const auto kernel = choices.number<std::uint32_t>(1, 5);
        isa::Registers registers;
        registers.set(Register::SourceLines, choices.number<std::uint32_t>(1, 9));
        registers.set(Register::SourceColumns, choices.number<std::uint32_t>(1, 9));
        registers.set(Register::SourceChannels, channels);
        registers.set(Register::SourceRight, kernel - 1);
        registers.set(Register::WindowKernelWidth, kernel);
        registers.set(Register::ResultLines, registers[Register::SourceLines]);
        registers.set(Register::ResultColumns, registers[Register::SourceColumns]);
        registers.set(Register::ResultChannels, is_depthwise ? channels * choices.number<std::uint32_t>(1, 5)
                                                             : choices.number<std::uint32_t>(1, 40));
        isa::TileMultiply multiply{.result = 100'000};
        if (is_depthwise) multiply.product = isa::TileProduct::Depthwise;
        multiply.by_channel = choices.chance(50);
        isa::footprint(multiply, registers, {.tiles = timing::grid_of(machine)});
        const timing::ProductCost cost = timing::product_cost(multiply, registers, machine);

        // Each pixel of the fullest tile meets each weight of each output once.
        const timing::BlockParts parts = timing::block_parts(cost.blocks.rows(), machine);
        Cycle cycles = 0;
        std::uint64_t pixels = 0;
        std::uint64_t macs = 0;
        for (std::uint64_t repeat = 0; repeat < cost.repeats(); ++repeat) {
            CHECK(cost.pixels_of(repeat) >= 1);
            CHECK(cost.pixels_of(repeat) <= machine.tile_array.pixels);
            pixels += cost.pixels_of(repeat);
            for (std::uint64_t group = 0; group < cost.blocks.groups; ++group) {
                if (is_depthwise) {
                    const std::uint64_t more = cost.pixels_of(repeat) *
                                               cost.blocks.outputs_of(group, timing::grid_of(machine)) *
                                               cost.blocks.weights;
                    cycles += cost.depthwise_cycles(macs, more);
                    macs += more;
                    continue;
                }
                for (std::uint64_t part = 0; part < parts.count(); ++part) {
                    cycles += cost.convolution_cycles(repeat, parts.begin(part), parts.begin(part + 1));
                }
            }
        }
        const std::uint64_t lines = registers[Register::ResultLines];
        const std::uint64_t columns = registers[Register::ResultColumns];
        const std::uint64_t outputs = registers[Register::ResultChannels];
        const auto up = [](std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; };
        CHECK(pixels == up(lines, machine.tile_array.lines) * up(columns, machine.tile_array.columns));
        CHECK(cycles == cost.cycles());
        if (is_depthwise) {
            CHECK(macs == pixels * outputs * kernel);
            CHECK(cycles == up(macs, machine.tile_array.depthwise_macs_per_cycle));
        } else {
            CHECK(cycles == pixels * up(outputs, 16) * up(kernel * channels, 4));
        }
        CHECK(cost.useful_macs() == lines * columns * outputs * (is_depthwise ? kernel : kernel * channels));
    }
}
