#include "hw/mesh/mesh.h"

#include <algorithm>
#include <cstring>
#include <variant>

#include "hw/isa/instruction.h"
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
