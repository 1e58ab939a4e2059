#include "hw/mesh/mesh.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <variant>

#include "hw/isa/instruction.h"
#include "hw/isa/moved_pixels.h"
#include "hw/isa/tile_layout.h"
#include "hw/timing/tiles.h"

namespace systole::hw {
namespace {

/// Fills all that tiles keep and do not own.
void fill_margins(const isa::TileLayout& layout, std::uint8_t outside, NarrowMemoryAccess& narrow) {
    const isa::TileArea stored = isa::stored_area(layout);
    const auto height = static_cast<std::int64_t>(layout.own_lines());
    const auto width = static_cast<std::int64_t>(layout.own_columns());
    const auto tile_columns = static_cast<std::int64_t>(layout.grid.columns);
    for (std::size_t tile = 0; tile < layout.grid.tiles(); ++tile) {
        for (std::uint64_t i = 0; i < stored.lines; ++i) {
            for (std::uint64_t j = 0; j < stored.columns; ++j) {
                const isa::ImagePixel pixel =
                    isa::image_pixel(layout, tile, stored.line(i), stored.column(j));
                std::uint8_t* const to =
                    narrow.of_tile(tile) + isa::address_of(layout, stored.line(i), stored.column(j));
                if (!pixel.is_in(layout)) {
                    std::memset(to, outside, layout.channels);
                    continue;
                }
                const auto owner =
                    static_cast<std::size_t>(pixel.line / height * tile_columns + pixel.column / width);
                if (owner == tile) continue;
                std::memcpy(to,
                            narrow.of_tile(owner) +
                                isa::address_of(layout, pixel.line % height, pixel.column % width),
                            layout.channels);
            }
        }
    }
}

/// What a move reads and writes.
struct Moved {
    isa::TileLayout source;
    isa::TileLayout result;
    isa::MovedPixels pixels;
    bool keeps = false;
    std::uint8_t outside = 0;
};

/// Where the owner of a pixel has its first channel.
std::uint8_t* place_of(NarrowMemoryAccess& narrow, const isa::TileLayout& layout, std::uint64_t line,
                       std::uint64_t column) {
    const std::uint64_t height = layout.own_lines();
    const std::uint64_t width = layout.own_columns();
    return narrow.of_tile(line / height * layout.grid.columns + column / width) +
           isa::address_of(layout, static_cast<std::int64_t>(line % height),
                           static_cast<std::int64_t>(column % width));
}

void move_pixels(const Moved& moved, NarrowMemoryAccess& narrow) {
    const auto place = [&narrow](const isa::TileLayout& layout, std::uint64_t line, std::uint64_t column) {
        return place_of(narrow, layout, line, column);
    };
    for (std::uint64_t line = 0; line < moved.result.lines; ++line) {
        const auto from_line = moved.pixels.lines.source_of(line, moved.source.lines);
        for (std::uint64_t column = 0; column < moved.result.columns; ++column) {
            const auto from_column = moved.pixels.columns.source_of(column, moved.source.columns);
            std::uint8_t* const to = place(moved.result, line, column);
            if (from_line && from_column) {
                std::memcpy(to, place(moved.source, *from_line, *from_column), moved.result.channels);
            } else if (!moved.keeps) {
                std::memset(to, moved.outside, moved.result.channels);
            }
        }
    }
}

/// What a permutation reads and writes.
struct Permuted {
    isa::TileLayout source;
    isa::TileLayout result;
    std::array<std::size_t, 3> source_axes;
};

void permute_elements(const Permuted& permuted, NarrowMemoryAccess& narrow) {
    std::array<std::uint64_t, 3> from{};  // line, column and channel of the source
    std::uint64_t& by_line = from.at(permuted.source_axes[0]);
    std::uint64_t& by_column = from.at(permuted.source_axes[1]);
    std::uint64_t& by_channel = from.at(permuted.source_axes[2]);
    for (by_line = 0; by_line < permuted.result.lines; ++by_line) {
        for (by_column = 0; by_column < permuted.result.columns; ++by_column) {
            std::uint8_t* const to = place_of(narrow, permuted.result, by_line, by_column);
            for (by_channel = 0; by_channel < permuted.result.channels; ++by_channel) {
                to[by_channel] = place_of(narrow, permuted.source, from[0], from[1])[from[2]];
            }
        }
    }
}

}  // namespace

Mesh::Mesh(const sc_core::sc_module_name& name, const UnitContext& context, NarrowMemoryAccess& narrow)
    : QueuedUnit(name, isa::QueueId::Mesh, {.track = "mesh", .signals = "mesh."}, context),
      grid_(timing::grid_of(context.machine)),
      rate_(context.machine.mesh_rate()),
      latency_(context.machine.mesh.latency_cycles),
      narrow_(narrow) {
    register_counters(counters());
    start("mesh", [this](const Command& command) { execute(command); });
}

void Mesh::execute(const Command& command) {
    const Cycle begun = begin();
    narrow_.touch(command.bound.footprint);
    const isa::Instruction& instruction = command.bound.instruction;
    std::uint64_t link_bytes = 0;
    if (const auto* const move = std::get_if<isa::Move>(&instruction)) {
        link_bytes = this->move(*move, command);
    } else if (const auto* const permute = std::get_if<isa::Permute>(&instruction)) {
        link_bytes = this->permute(*permute, command);
    } else {
        link_bytes = exchange(command);
    }
    const Cycle sent = begun + timing::mesh_cycles(link_bytes, context_.machine);
    context_.clock.wait_until(sent);
    complete(sent, sent + latency_);
}

std::uint64_t Mesh::exchange(const Command& command) {
    const auto& exchange = std::get<isa::Exchange>(command.bound.instruction);
    const isa::Registers& registers = *command.bound.registers;
    const isa::TileLayout layout =
        isa::tile_layout(registers, isa::source_registers, grid_, exchange.address);
    const timing::ExchangeCost cost = timing::exchange_cost(layout);
    if (context_.computes_values()) {
        const auto outside = static_cast<std::uint8_t>(registers[isa::Register::WindowPadValue]);
        compute([this, layout, outside](ValueWorkers::Scratch&) { fill_margins(layout, outside, narrow_); });
    }
    counters_.bytes.add(cost.bytes, command.tag);
    narrow_.count_reads(cost.bytes, command.tag);
    narrow_.count_writes(cost.bytes, command.tag);
    return cost.link_bytes;
}

std::uint64_t Mesh::move(const isa::Move& move, const Command& command) {
    const isa::Registers& registers = *command.bound.registers;
    const timing::MoveCost cost = timing::move_cost(move, registers, grid_);
    if (context_.computes_values()) {
        const Moved moved{.source = isa::tile_layout(registers, isa::source_registers, grid_, move.source),
                          .result = isa::tile_layout(registers, isa::result_registers, grid_, move.result),
                          .pixels = isa::moved_pixels(move, registers),
                          .keeps = move.keeps,
                          .outside = static_cast<std::uint8_t>(registers[isa::Register::WindowPadValue])};
        compute([this, moved](ValueWorkers::Scratch&) { move_pixels(moved, narrow_); });
    }
    return count(cost, command);
}

std::uint64_t Mesh::permute(const isa::Permute& permute, const Command& command) {
    const isa::Registers& registers = *command.bound.registers;
    if (context_.computes_values()) {
        const Permuted permuted{
            .source = isa::tile_layout(registers, isa::source_registers, grid_, permute.source),
            .result = isa::tile_layout(registers, isa::result_registers, grid_, permute.result),
            .source_axes = isa::source_axes(permute.order)};
        compute([this, permuted](ValueWorkers::Scratch&) { permute_elements(permuted, narrow_); });
    }
    return count(timing::permute_cost(permute, registers, grid_), command);
}

std::uint64_t Mesh::count(const timing::MoveCost& cost, const Command& command) {
    counters_.bytes.add(cost.bytes, command.tag);
    narrow_.count_reads(cost.moved, command.tag);
    narrow_.count_writes(cost.written, command.tag);
    return cost.link_bytes;
}

}  // namespace systole::hw
