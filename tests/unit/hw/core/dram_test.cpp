// Programs on a chip whose weight memory is a DRAM: docs/timing.md, section 4.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "hw/weight_memory/dram_timing.h"
#include "tests/support/chip.h"
#include "tests/support/source_dir.h"

using namespace systole;
using tests::Chip;

namespace {

machine::MachineConfig tpu_v1_dram() {
    return machine::read_machine(std::filesystem::path(tests::source_dir()) /
                                 "configs/machines/tpu_v1_dram.json");
}

/// Products of 200 rows, each with a different tile.
std::string products(int tiles) {
    std::string text = ".array 256 256\n";
    for (int i = 0; i < tiles; ++i) text += ".tile 256 256 fill 1\n";
    for (int i = 0; i < tiles; ++i) {
        text += "tag " + std::to_string(1 + i % 2) + "\nread_weights tile=" + std::to_string(i) +
                "\nmatmul ub=0 acc=0 rows=200\n";
    }
    return text + "halt\n";
}

const hw::CounterGroup* counters_of(const Chip& chip, std::string_view unit) {
    for (const auto& [path, group] : chip->counters()) {
        if (path == unit) return group;
    }
    return nullptr;
}

}  // namespace

TEST_CASE("A weight-bound program on TPU v1's DRAM pays its refreshes as weight stall", "[timing][dram]") {
    constexpr int tiles = 40;
    constexpr std::uint64_t shift = 256;
    const machine::MachineConfig machine = tpu_v1_dram();
    Chip chip(machine, products(tiles));
    chip.run();
    const auto fetches = chip.times(isa::QueueId::Weights);
    const auto multiplies = chip.times(isa::QueueId::Matrix);
    REQUIRE(fetches.size() == tiles);
    REQUIRE(multiplies.size() == tiles);
    hw::DramTiming dram(machine.weight_memory.dram, machine.clock_hz(), 0);
    for (std::uint64_t k = 0; k < tiles; ++k) {
        CAPTURE(k);
        // The fetch goes out when the FIFO has a place; its address is the tile's.
        CHECK(multiplies[k].begun - shift == dram.read(k * 65536, 65536, fetches[k].released, 0));
    }
    const std::uint64_t first = fetches.front().begun;
    const std::uint64_t last = multiplies.back().begun - shift;
    // The ten refreshes that fall into it, 310 clocks each, and the first row beside 40 tiles' bytes.
    constexpr std::uint64_t clocks = 14 + (tiles * 512 - 1) * 4 + 10 * 310 + 14 + 4;
    CHECK(last == ((first * 32 + 20) / 21 + clocks) * 21 / 32);

    CHECK(tests::matrix_unit_cycles(*chip) == chip->cycles());
}

TEST_CASE("The DRAM's clocks are all spent, and counted for the layer whose tiles they brought",
          "[timing][dram]") {
    Chip chip(tpu_v1_dram(), products(10));
    chip.run();
    const hw::CounterGroup* dram = counters_of(chip, "weight_memory");
    REQUIRE(dram != nullptr);
    std::uint64_t clocks = 0;
    for (const hw::Counter& counter : *dram) {
        if (counter.unit() == hw::CounterUnit::MemoryClocks) clocks += counter.value();
        if (counter.name() == "reads") {
            CHECK(counter.value(1) == 5 * 1024);
            CHECK(counter.value(2) == 5 * 1024);
        }
    }
    CHECK(clocks == 2 * (chip->cycles() * 32 / 21));
}

TEST_CASE("The published bandwidth stays the default, and has no DRAM to count", "[timing][dram]") {
    Chip chip(tests::tpu_v1(), products(3));
    chip.run();
    CHECK(counters_of(chip, "weight_memory") == nullptr);
}
