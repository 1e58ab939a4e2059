// What the unit says of itself.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <variant>
#include <vector>

#include "hw/isa/instruction.h"
#include "hw/machine/main_units.h"
#include "hw/tile_array/tile_array.h"
#include "hw/timing/tiles.h"

namespace systole::hw {
namespace {

/// All cycles, but for those of products.
std::vector<machine::CycleCause> causes() {
    using enum machine::CauseForm;
    return {{"ring",
             Share,
             {"tile_array.ring_stall_cycles"},
             "Ring-bound",
             "the tiles wait for weights from the ring",
             {"ring", "weight_buffers"}},
            // Units that wait for the link themselves make the tiles wait.
            {"host_read",
             Share,
             {"tile_array.waits.host_read_cycles"},
             "Host-bound",
             "the tiles wait for what comes from the host",
             {"host_bandwidth"}},
            {"ring_vectors",
             Share,
             {"tile_array.waits.ring_cycles"},
             "Bound by other units",
             "the tiles wait for the ring, which brings vectors to all of them once these are there",
             {"host_bandwidth", "ring", "mesh"}},
            {"mesh",
             Share,
             {"tile_array.waits.mesh_cycles"},
             "Bound by other units",
             "the tiles wait for the mesh, which fills their margins once the pixels have arrived",
             {"host_bandwidth", "ring", "mesh"}},
            {"host_write",
             Share,
             {"tile_array.waits.host_write_cycles"},
             "Host-bound",
             "the tiles wait until results have gone to the host",
             {"host_bandwidth"}},
            {"host",
             Share,
             {"tile_array.waits.host_cycles"},
             "Host-bound",
             "the tiles wait for layers that the host computes",
             {"host_bandwidth"}},
            {"own_signals",
             Share,
             {"tile_array.waits.tiles_cycles"},
             "Bound by synchronization",
             "the tiles wait for a semaphore of their own",
             {"clock"}},
            {"idle",
             Share,
             {"tile_array.idle_cycles"},
             "Issue-bound",
             "the tiles have no instruction",
             {"queues", "host_bandwidth"}},
            {"vector",
             Share,
             {"tile_array.work.vector_cycles"},
             "Bound by vector work",
             "the tiles work without weights",
             {"vector_rate", "clock"}},
            {"unused_lanes",
             UnusedCells,
             {},
             "Underfills the tiles",
             "{} of the lanes work in an average cycle that multiplies",
             {"depthwise"}},
            {"useful_lanes",
             UsefulCells,
             {},
             "Compute-bound",
             "the tiles multiply in {} of their cycles, with {} of the lanes at work",
             {"clock"}}};
}

}  // namespace

void TileArray::describe(const machine::MachineConfig& machine, machine::UnitDescription& unit) const {
    const machine::TileArrayConfig& array = machine.tile_array;
    unit.box = {.title = "Tiles",
                .column = 3,
                .row = 1,
                .lines = {{fmt::format("{} x {} tiles of {} lanes", array.lines, array.columns, array.lanes)},
                          {fmt::format("at {} MHz, peak {{}}", machine.clock_mhz),
                           {{machine.peak_ops_per_second(), "OPS"}}}},
                .busy_counter = "tile_array.busy_cycles",
                .word = "computing"};
    // A tile reads a word a cycle, or what its other work reads at most.
    const std::uint64_t reads = std::max(
        {std::uint64_t{isa::tile_word}, std::uint64_t{array.depthwise_macs_per_cycle},
         2 * std::uint64_t{array.vector_bytes_per_cycle}, std::uint64_t{array.pooling_bytes_per_cycle}});
    unit.paths = {
        {.from = "narrow_memory",
         .to = "tile_array",
         .counters = {"tile_array.work.read_bytes"},
         .unit = "bytes",
         .most = {reads * array.tiles(), 1},
         .figures = machine::Side::Left,
         .shift_x = -30},
        {.from = "tile_array",
         .to = "narrow_memory",
         .counters = {"tile_array.work.results"},
         .unit = "bytes",
         .most = {std::uint64_t{std::max(array.lanes, array.vector_bytes_per_cycle)} * array.tiles(), 1},
         .figures = machine::Side::Right,
         .shift_x = 30},
        {.from = "wide_memory",
         .to = "tile_array",
         .counters = {"tile_array.work.dense_bytes"},
         .unit = "bytes",
         .most = {macs_a_cycle(grid_), 1},
         .shift_x = 40,
         .shift_y = -20}};
    unit.what_ifs = {{"clock", "2x the clock", {{"clock_mhz", machine.clock_mhz * 2.0}}},
                     {"depthwise",
                      "2x the rate of depthwise products",
                      {{"tile_array.depthwise_macs_per_cycle", 2 * array.depthwise_macs_per_cycle}}},
                     {"vector_rate",
                      "2x the rate of vector work",
                      {{"tile_array.vector_bytes_per_cycle", 2 * array.vector_bytes_per_cycle},
                       {"tile_array.pooling_bytes_per_cycle", 2 * array.pooling_bytes_per_cycle}}}};
    unit.causes = causes();
    unit.main = machine::main_unit_named(unit.name);
    if (!machine.tile_energy) return;
    const machine::TileEnergyConfig& each = *machine.tile_energy;
    unit.energy = {{"tile_array", "tile_array.work.useful_macs", each.mac_pj, "tiles"},
                   {"tile_array", "tile_array.busy_cycles", each.tile_cycle_pj * array.tiles(), "tiles"}};
}

std::vector<UnitBound> TileArray::bounds(const machine::MachineConfig& /*machine*/) const {
    return {{.name = "array",
             .part = "tiles",
             .meaning = "the tiles multiply",
             .place = 1,
             .computes = true,
             .cycles = [this](const Amounts& amounts) { return amounts.of(done_.work.multiply_cycles); }},
            {.name = "vector",
             .part = "tiles",
             .meaning = "the tiles work without weights",
             .place = 2,
             .computes = true,
             .cycles = [this](const Amounts& amounts) { return amounts.of(done_.work.vector_cycles); }}};
}

std::optional<AwaitedWork> TileArray::awaited(isa::QueueId queue) const {
    if (queue != isa::QueueId::Tiles) return std::nullopt;
    const auto sends = [](const isa::Instruction& instruction) {
        return std::holds_alternative<isa::Multicast>(instruction);
    };
    return AwaitedWork{.from = isa::QueueId::Ring,
                       .gives = sends,
                       .words = "for weights on the ring, which {} sends",
                       .nobody = "no multicast"};
}

}  // namespace systole::hw
