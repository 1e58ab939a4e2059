#include "hw/mesh/mesh.h"

#include <algorithm>
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

void move_pixels(const Moved& moved, NarrowMemoryAccess& narrow) {
    const auto place = [&narrow](const isa::TileLayout& layout, std::uint64_t line, std::uint64_t column) {
        const std::uint64_t height = layout.own_lines();
        const std::uint64_t width = layout.own_columns();
        return narrow.of_tile(line / height * layout.grid.columns + column / width) +
               isa::address_of(layout, static_cast<std::int64_t>(line % height),
                               static_cast<std::int64_t>(column % width));
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

}  // namespace

Mesh::Mesh(const sc_core::sc_module_name& name, const UnitContext& context, NarrowMemoryAccess& narrow)
    : QueuedUnit(name, isa::QueueId::Mesh, context),
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
    const auto* const move = std::get_if<isa::Move>(&command.bound.instruction);
    const std::uint64_t link_bytes = move != nullptr ? this->move(*move, command) : exchange(command);
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
    counters_.bytes.add(cost.bytes, command.tag);
    narrow_.count_reads(cost.moved, command.tag);
    narrow_.count_writes(cost.written, command.tag);
    return cost.link_bytes;
}

}  // namespace systole::hw
