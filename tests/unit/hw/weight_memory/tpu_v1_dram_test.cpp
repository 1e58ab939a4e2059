// What TPU v1's DRAM makes of the published bandwidth: the figures of docs/timing.md, section 4.
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>

#include "hw/machine/machine_config.h"
#include "hw/weight_memory/dram_timing.h"
#include "tests/support/source_dir.h"
#include "tests/unit/hw/weight_memory/dram_support.h"

using namespace systole;
using tests::memory_clocks;
using tests::value_of;

namespace {

constexpr std::uint64_t tile = 65536;
constexpr std::uint64_t tile_clocks = 2048;  // 512 bursts of 4 clocks in each of two channels

machine::MachineConfig tpu_v1_dram() {
    return machine::read_machine(std::filesystem::path(tests::source_dir()) /
                                 "configs/machines/tpu_v1_dram.json");
}

/// The core cycle of a memory clock.
constexpr std::uint64_t cycle(std::uint64_t clock) {
    return clock * 21 / 32;
}

/// Reads consecutive tiles; returns the cycle in which the last one is whole.
Cycle stream(hw::DramTiming& dram, std::uint64_t tiles) {
    Cycle whole = 0;
    for (std::uint64_t i = 0; i < tiles; ++i) whole = dram.read(i * tile, tile, 0, 0);
    return whole;
}

hw::DramTiming shipped_dram() {
    const machine::MachineConfig machine = tpu_v1_dram();
    return {machine.weight_memory.dram, machine.clock_hz(), machine.weight_memory.latency_cycles};
}

}  // namespace

TEST_CASE("A 64 KiB tile from TPU v1's DRAM is whole in cycle 1362, the next 1344 cycles later",
          "[hw][dram]") {
    hw::DramTiming dram = shipped_dram();
    constexpr std::uint64_t first = 14 + 511 * 4 + 14 + 4;  // tRCD, the last of 512 reads, CL, its burst
    static_assert(cycle(first) == 1362 && cycle(first + tile_clocks) == 1362 + 1344);
    CHECK(dram.read(0, tile, 0, 0) == 1362);
    CHECK(dram.read(tile, tile, 0, 0) == 1362 + 1344);
    CHECK(value_of(*dram.counters(), "row_activations") == 2 * 8);
    CHECK(dram.read(2 * tile, tile, 0, 0) == cycle(first + 2 * tile_clocks));
    CHECK(dram.read(3 * tile, tile, 0, 0) == cycle(first + 3 * tile_clocks));
    CHECK(value_of(*dram.counters(), "refreshes") == 0);
    // In the fifth the refresh of clock 8320 is due: the last read before it is that of clock 8318.
    constexpr std::uint64_t again = 8318 + 8 + 14 + 278 + 14;  // tRTP, tRP, tRFC, tRCD
    constexpr std::uint64_t lost = again - (8318 + 4);
    static_assert(lost == 310 && cycle(first + 4 * tile_clocks + lost) == 6941);
    CHECK(dram.read(4 * tile, tile, 0, 0) == 6941);
    CHECK(value_of(*dram.counters(), "refreshes") == 2);
}

TEST_CASE("TPU v1's DRAM streams 32.86 GB/s, a tile in 1396 cycles: refreshes take the rest", "[hw][dram]") {
    constexpr std::uint64_t tiles = 10'000;
    hw::DramTiming dram = shipped_dram();
    const Cycle whole = stream(dram, tiles);
    CHECK(whole / tiles == 1396);
    constexpr std::uint64_t mhz = 700;
    CHECK(tiles * tile * mhz / whole == 32'861);  // MB/s

    const hw::CounterGroup& counters = *dram.counters();
    const std::uint64_t clocks = memory_clocks(counters);
    constexpr std::uint64_t data_behind = 14;  // CL
    CHECK(whole == cycle(clocks / 2 + data_behind));
    CHECK(value_of(counters, "data_clocks") == 2 * tiles * tile_clocks);
    CHECK(value_of(counters, "gap_clocks") == 0);
    CHECK(value_of(counters, "idle_clocks") == 0);
    // Closing the rows behind the last read before a refresh, and the refresh.
    const std::uint64_t refreshes = value_of(counters, "refreshes");
    CHECK(refreshes == 2 * (whole * 32 / 21 / 8320));
    CHECK(value_of(counters, "refresh_clocks") == refreshes * (8 + 14 + 278 - 4));
    CHECK(value_of(counters, "refresh_clocks") * 1000 / clocks == 35);
    // Each refresh closes the row that is being read; rows come one behind the other otherwise.
    CHECK(value_of(counters, "row_activations") == 8 * tiles + refreshes);
    CHECK(value_of(counters, "row_clocks") * 1000 / clocks == 1);
}

TEST_CASE("Eight bursts of lookahead hide TPU v1's rows, seven do not", "[hw][dram]") {
    const std::uint32_t queue = GENERATE(7U, 8U, 32U);
    machine::DramConfig config = tpu_v1_dram().weight_memory.dram;
    config.queue_bursts = queue;
    config.trefi_clocks = config.trfc_clocks = 0;
    hw::DramTiming dram(config, 700'000'000, 0);
    stream(dram, 100);
    const std::uint64_t first_row = std::uint64_t{config.channels} * config.trcd_clocks;
    CHECK((value_of(*dram.counters(), "row_clocks") == first_row) == (queue >= 8));
}
