#include "hw/mesh/mesh.h"

#include <algorithm>
#include <cstring>
#include <variant>

#include "hw/isa/instruction.h"
#include "hw/isa/tile_layout.h"
#include "hw/timing/tiles.h"

namespace systole::hw {
namespace {

/// Fills the margins of all tiles.
void fill_margins(const isa::TileLayout& layout, std::uint8_t outside, NarrowMemoryAccess& narrow) {
    const auto own_height = static_cast<std::int64_t>(layout.own_lines());
    const auto own_width = static_cast<std::int64_t>(layout.own_columns());
    const auto top = static_cast<std::int64_t>(layout.top);
    const auto left = static_cast<std::int64_t>(layout.left);
    const auto tile_columns = static_cast<std::int64_t>(layout.grid.columns);
    const auto fill_pixel = [&](std::size_t tile, std::uint64_t line, std::uint64_t column) {
        const auto at = static_cast<std::int64_t>(tile);
        const std::int64_t y = at / tile_columns * own_height + static_cast<std::int64_t>(line) - top;
        const std::int64_t x = at % tile_columns * own_width + static_cast<std::int64_t>(column) - left;
        std::uint8_t* const pixel = narrow.of_tile(tile) + layout.at(line, column);
        const bool inside = y >= 0 && x >= 0 && y < static_cast<std::int64_t>(layout.lines) &&
                            x < static_cast<std::int64_t>(layout.columns);
        if (!inside) {
            std::memset(pixel, outside, layout.channels);
            return;
        }
        const auto owner = static_cast<std::size_t>(y / own_height * tile_columns + x / own_width);
        if (owner == tile) return;
        const std::uint8_t* const source =
            narrow.of_tile(owner) + layout.at(static_cast<std::uint64_t>(y % own_height + top),
                                              static_cast<std::uint64_t>(x % own_width + left));
        std::memcpy(pixel, source, layout.channels);
    };
    for (std::size_t tile = 0; tile < layout.grid.tiles(); ++tile) {
        for (std::uint64_t line = 0; line < layout.stored_lines(); ++line) {
            const bool is_margin = line < layout.top || line >= layout.top + layout.own_lines();
            const bool cut_off = isa::own_pixels(layout, tile) < layout.own_pixels();
            for (std::uint64_t column = 0; column < layout.stored_columns(); ++column) {
                const bool own = !is_margin && !cut_off && column >= layout.left &&
                                 column < layout.left + layout.own_columns();
                if (!own) fill_pixel(tile, line, column);
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
    const Cycle sent = begun + timing::mesh_cycles(cost.link_bytes, context_.machine);
    context_.clock.wait_until(sent);
    complete(sent, sent + latency_);
}

}  // namespace systole::hw
