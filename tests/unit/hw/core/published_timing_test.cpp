// The figures that were published of TPU v1, or follow from published ones, on the whole chip.
#include <catch2/catch.hpp>
#include <string>

#include "tests/support/chip.h"

using namespace systole;
using tests::Chip;

namespace {

constexpr std::uint64_t shift = 256;

/// TPU v1 with the published peak bandwidth of its memory, not the sustained one.
machine::MachineConfig at_peak() {
    machine::MachineConfig machine = tests::tpu_v1();
    machine.weight_memory.bandwidth_gb_per_s = 34;
    return machine;
}

/// Whole cycles of n tiles of 64 KiB at 34 GB/s and 700 MHz: 340 bytes in every 7 cycles.
constexpr std::uint64_t dram_cycles(std::uint64_t tiles) {
    return tiles * 65536 * 7 / 340;
}

/// `tiles` products of `rows` rows each, each with a different weight tile.
std::string products(int tiles, int rows, int array = 256) {
    std::string text = ".array " + std::to_string(array) + " " + std::to_string(array) + "\n.tile " +
                       std::to_string(array) + " " + std::to_string(array) + " fill 1\n";
    for (int i = 0; i < tiles; ++i) {
        text += "read_weights tile=0\nmatmul ub=0 acc=0 rows=" + std::to_string(rows) + "\n";
    }
    return text + "halt\n";
}

}  // namespace

TEST_CASE("One 64 KiB tile from weight memory takes 1344 to 1349 cycles at 34 GB/s", "[timing]") {
    Chip chip(at_peak(), products(1, 1));
    chip.run();
    const auto multiply = chip.times(isa::QueueId::Matrix).at(0);
    const auto fetch = chip.times(isa::QueueId::Weights).at(0);
    const std::uint64_t whole_after = multiply.begun - shift - fetch.begun;
    CHECK(whole_after >= 1344);
    CHECK(whole_after <= 1349);
}

TEST_CASE("200 rows a tile, weight-bound: one tile per DRAM tile time, 200 active, 256 shift, the rest stall",
          "[timing]") {
    constexpr int tiles = 60;
    Chip chip(at_peak(), products(tiles, 200));
    chip.run();
    const auto multiplies = chip.times(isa::QueueId::Matrix);
    REQUIRE(multiplies.size() == tiles);
    // Tile k is whole after k + 1 tile times, rounded down once: no drift over many tiles.
    for (std::uint64_t k = 0; k < tiles; ++k) {
        CHECK(multiplies[k].begun == multiplies[0].issued - 1 + dram_cycles(k + 1) + shift);
    }
    CHECK(chip->counter("matrix_unit.active_cycles").value() == std::uint64_t{tiles} * 200);
    CHECK(chip->counter("matrix_unit.weight_shift_cycles").value() == tiles * shift);
    const std::uint64_t last_begun = multiplies.back().begun;
    CHECK(chip->counter("matrix_unit.weight_stall_cycles").value() ==
          last_begun - (tiles - 1) * 200 - tiles * shift - multiplies.front().issued);
    CHECK(tests::matrix_unit_cycles(*chip) == chip->cycles());
}

TEST_CASE("2888 rows a tile are compute-bound: no stall and no shift between the products", "[timing]") {
    constexpr int tiles = 20;
    constexpr std::uint64_t rows = 2888;
    Chip chip(at_peak(), products(tiles, rows));
    chip.run();
    const auto multiplies = chip.times(isa::QueueId::Matrix);
    for (std::size_t k = 1; k < multiplies.size(); ++k) {
        CHECK(multiplies[k].begun == multiplies[k - 1].begun + rows);
    }
    // Only the first tile is waited for.
    CHECK(chip->counter("matrix_unit.weight_shift_cycles").value() == shift);
    CHECK(chip->counter("matrix_unit.weight_stall_cycles").value() +
              chip->counter("matrix_unit.non_matrix_cycles").value() + shift ==
          chip->cycles() - tiles * rows);
}

TEST_CASE("A 600 x 600 matrix, weight-bound, costs 9 tile times on a 256 x 256 array", "[timing]") {
    // Three tiles deep, three wide: each repeat covers the depth, each instruction one width.
    const std::string text =
        ".array 256 256\n.tile 256 256 fill 1\n.tile 88 88 fill 1\n"
        "read_weights tile=0\nread_weights tile=0\nread_weights tile=1\n"
        "read_weights tile=0\nread_weights tile=0\nread_weights tile=1\n"
        "read_weights tile=1\nread_weights tile=1\nread_weights tile=1\n"
        "matmul ub=0 acc=0 rows=1 repeat=2\nmatmul ub=0 acc=1 rows=1 repeat=2\nmatmul ub=0 acc=2 rows=1 "
        "repeat=2\n"
        "halt\n";
    Chip chip(at_peak(), text);
    chip.run();
    const auto multiplies = chip.times(isa::QueueId::Matrix);
    REQUIRE(multiplies.size() == 9);
    const std::uint64_t fetched =
        multiplies.back().begun - shift - chip.times(isa::QueueId::Weights).front().begun;
    CHECK(fetched == dram_cycles(9));
    CHECK(chip->counter("weight_fifo.bytes").value() == 9U * 65536U);
}

TEST_CASE("A 600 x 600 matrix costs 4 tiles, four times as long each, on a 512 x 512 array", "[timing]") {
    machine::MachineConfig machine = at_peak();
    machine.matrix_unit.rows = machine.matrix_unit.columns = 512;
    Chip chip(machine, products(4, 1, 512));
    chip.run();
    const std::uint64_t fetched =
        chip.times(isa::QueueId::Matrix).back().begun - 512 - chip.times(isa::QueueId::Weights).front().begun;
    CHECK(fetched == dram_cycles(4 * 4));
}
