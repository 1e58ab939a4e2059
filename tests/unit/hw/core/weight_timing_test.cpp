// Rules 3 and 4 of docs/timing.md: slots of the weight FIFO and the bytes that come from weight memory.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "hw/isa/encoding.h"
#include "tests/support/chip.h"
#include "tests/unit/hw/core/odd_machine.h"

using namespace systole;
using tests::Bandwidth;
using tests::Chip;
using tests::odd_machine;

namespace {

constexpr Bandwidth bandwidths[] = {{0.7, 1, 1}, {34, 340, 7}, {2.45, 7, 2}, {0.3, 3, 7}, {30.1, 43, 1}};

/// A number of products with a number of rows each; the fetches of their tiles come first.
std::string products(std::size_t count, std::uint64_t rows, std::string_view tile = "7 5") {
    std::string text = fmt::format(".array 7 5\n.tile {} random 1\n", tile);
    for (std::size_t i = 0; i < count; ++i) text += "read_weights tile=0\n";
    for (std::size_t i = 0; i < count; ++i) text += fmt::format("matmul ub=0 acc=0 rows={}\n", rows);
    return text + "halt\n";
}

}  // namespace

TEST_CASE("Rule 3: a fetch goes out in the cycle in which a tile leaves a full FIFO", "[timing]") {
    machine::MachineConfig machine = odd_machine();
    const std::size_t depth = GENERATE(1U, 2U, 5U);
    const auto bandwidth = GENERATE(from_range(std::begin(bandwidths), std::end(bandwidths)));
    const std::uint64_t rows = GENERATE(1U, 8U, 61U);
    CAPTURE(depth, bandwidth.gb_per_s, rows);
    machine.weight_fifo.depth_tiles = static_cast<std::uint32_t>(depth);
    machine.weight_memory.bandwidth_gb_per_s = bandwidth.gb_per_s;
    constexpr std::size_t count = 13;
    Chip chip(machine, products(count, rows));
    chip.run();
    const auto& tiles = chip.tiles();
    const auto reads = chip.times(isa::QueueId::Weights);
    const auto streams = chip.times(isa::QueueId::Matrix);
    REQUIRE(tiles.size() == count);
    Cycle full = 0;
    for (std::size_t k = 0; k < count; ++k) {
        CAPTURE(k);
        // read_weights is complete when its fetch has been issued, whenever the tile comes.
        CHECK(reads[k].complete == tiles[k].fetched);
        const Cycle freed = k < depth ? 0 : tiles[k - depth].shifted;
        const Cycle asked = std::max(reads[k].issued, k == 0 ? 0 : tiles[k - 1].fetched);
        CHECK(reads[k].begun == asked);
        CHECK(tiles[k].fetched == std::max(asked, freed));
        full += tiles[k].fetched - asked;
        // A tile leaves after R cycles of shift from when it is whole and the shadow plane is free.
        const Cycle shadow_free = k == 0 ? 0 : streams[k - 1].begun + 1;
        CHECK(tiles[k].shifted == std::max(tiles[k].whole, shadow_free) + 7);
    }
    CHECK(chip->counter("weight_fifo.full_cycles").value() == full);
    CHECK(full > 0);
}

TEST_CASE("Rule 3: read_weights of several tiles is complete when the last fetch is issued", "[timing]") {
    machine::MachineConfig machine = odd_machine();
    machine.weight_fifo.depth_tiles = 2;
    Chip chip(machine,
              ".array 7 5\n.tile 7 5 random 1\n.tile 7 5 random 2\n.tile 7 5 random 3\n"
              "read_weights tile=0 count=3\nmatmul ub=0 acc=0 rows=3 repeat=2\nhalt\n");
    chip.run();
    const auto read = chip.times(isa::QueueId::Weights).at(0);
    REQUIRE(chip.tiles().size() == 3);
    CHECK(chip.tiles()[0].fetched == read.begun);
    CHECK(chip.tiles()[1].fetched == read.begun);
    CHECK(chip.tiles()[2].fetched == chip.tiles()[0].shifted);
    CHECK(chip.tiles()[2].tile == 2);
    CHECK(read.complete == chip.tiles()[0].shifted);
}

TEST_CASE("Rule 4: a tile is whole when the exact rate has moved its last byte, over any number of tiles",
          "[timing]") {
    machine::MachineConfig machine = odd_machine();
    const auto bandwidth = GENERATE(from_range(std::begin(bandwidths), std::end(bandwidths)));
    const std::uint32_t latency = GENERATE(0U, 1U, 17U);
    const unsigned weight_bytes = GENERATE(1U, 2U);
    CAPTURE(bandwidth.gb_per_s, latency, weight_bytes);
    machine.weight_memory.bandwidth_gb_per_s = bandwidth.gb_per_s;
    machine.weight_memory.latency_cycles = latency;
    machine.weight_fifo.depth_tiles = 100;
    machine.sequencer.issue_cycles = 0;
    constexpr std::size_t count = 50;
    std::string text = fmt::format(".array 7 5\n.tile 7 5 bytes={} random 1\n", weight_bytes);
    for (std::size_t i = 0; i < count; ++i) text += "read_weights tile=0\n";
    text += fmt::format("matmul ub=0 acc=0 rows=1 repeat={}{}\nhalt\n", count - 1,
                        weight_bytes == 2 ? " wide_w" : "");
    Chip chip(machine, text);
    chip.run();
    REQUIRE(chip.tiles().size() == count);
    for (std::size_t k = 0; k < count; ++k) {
        CAPTURE(k);
        REQUIRE(chip.tiles()[k].fetched == 0);
        const std::uint64_t bytes = (k + 1) * 7 * 5 * weight_bytes;
        CHECK(chip.tiles()[k].whole == latency + bytes * bandwidth.cycles / bandwidth.bytes);
    }
    CHECK(chip->counter("weight_fifo.bytes").value() == count * 7 * 5 * weight_bytes);
}

TEST_CASE("Rule 4: the latency counts from a fetch's issue, hidden behind the fetch before", "[timing]") {
    machine::MachineConfig machine = odd_machine();
    machine.weight_memory.bandwidth_gb_per_s = 0.7;  // one byte a cycle: 35 cycles
    const std::uint32_t latency = GENERATE(0U, 34U, 35U, 36U, 50U);
    machine.weight_memory.latency_cycles = latency;
    machine.weight_fifo.depth_tiles = 3;
    // The second fetch goes out so many cycles after the first.
    const unsigned later = GENERATE(1U, 34U, 35U, 36U, 80U);
    CAPTURE(latency, later);
    std::string text = ".array 7 5\n.tile 7 5 random 1\nread_weights tile=0\n";
    for (unsigned i = 1; i < later; ++i) text += "nop\n";
    Chip chip(machine, text + "read_weights tile=0\nmatmul ub=0 acc=0 rows=1 repeat=1\nhalt\n");
    chip.run();
    const auto& tiles = chip.tiles();
    REQUIRE(tiles.size() == 2);
    REQUIRE(tiles[1].fetched == tiles[0].fetched + later);
    CHECK(tiles[0].whole == tiles[0].fetched + latency + 35);
    CHECK(tiles[1].whole == std::max(tiles[1].fetched + latency, tiles[0].whole) + 35);
}

TEST_CASE("Rule 4: whole tiles move, or only the rows in use where the machine says so", "[timing]") {
    machine::MachineConfig machine = odd_machine();
    const bool whole = GENERATE(true, false);
    machine.weight_memory.whole_tiles = whole;
    const std::uint64_t rows = GENERATE(1U, 3U, 6U, 7U);
    const std::uint64_t columns = GENERATE(1U, 5U);
    CAPTURE(whole, rows, columns);
    Chip chip(machine, products(2, 3, fmt::format("{} {}", rows, columns)));
    chip.run();
    // Whole rows of the array move, whatever columns are used.
    const std::uint64_t bytes = (whole ? 7 : rows) * 5;
    CHECK(chip.tiles().at(0).whole == chip.tiles()[0].fetched + 11 + bytes);
    CHECK(chip.tiles().at(1).whole == chip.tiles()[0].whole + bytes);
    CHECK(chip->counter("weight_fifo.bytes").value() == 2 * bytes);
}

TEST_CASE("Rule 4: tiles that weight memory does not hold come over the host link between transfers",
          "[timing]") {
    machine::MachineConfig machine = odd_machine();
    // Slow enough for the transfers to ask while the third tile is on the link.
    const auto link = GENERATE(Bandwidth{0.7, 1, 1}, Bandwidth{2.45, 7, 2}, Bandwidth{0.3, 3, 7});
    const std::uint32_t latency = GENERATE(0U, 13U);
    CAPTURE(link.gb_per_s, latency);
    machine.host_interface.read_gb_per_s = link.gb_per_s;
    machine.host_interface.latency_cycles = latency;
    machine.weight_memory.bytes = 2 * 35 + 34;
    machine.weight_memory.spill = true;
    machine.weight_fifo.depth_tiles = 8;
    std::string text = ".array 7 5\n.buffer in input 0 1000\n";
    for (int tile = 0; tile < 5; ++tile) text += ".tile 7 5 random 1\n";
    text += "read_weights tile=0 count=5\n";
    constexpr std::uint64_t transfers = 3;
    for (std::uint64_t k = 0; k < transfers; ++k) {
        text += fmt::format("read_host in ub={} block=41\n", 100 + 6 * k);
    }
    Chip chip(machine, text + "matmul ub=0 acc=0 rows=1 repeat=4\nhalt\n");
    chip.run();
    const auto& tiles = chip.tiles();
    const auto reads = chip.times(isa::QueueId::HostRead);
    REQUIRE(tiles.size() == 5);
    REQUIRE(reads.size() == transfers);
    // All instructions are on the link first. The third tile has asked before the transfers, which go before
    // the fourth.
    std::uint64_t sent = 0;
    for (const isa::Instruction& each : chip.program().instructions) sent += isa::encoded_size(each);
    const auto end = [&](std::uint64_t bytes) {
        sent += bytes;
        return sent * link.cycles / link.bytes;
    };
    const Cycle third = end(35);
    CHECK(tiles[2].whole == third + latency);
    CHECK(tiles[3].fetched == third);
    CHECK(chip->counter("host_read.link_stall_cycles").value() == third - reads[0].issued);
    for (std::size_t k = 0; k < transfers; ++k) {
        CAPTURE(k);
        const Cycle data = end(41);
        CHECK(reads[k].released == data);
        CHECK(reads[k].complete == data + latency);
    }
    const Cycle fourth = end(35);
    CHECK(tiles[3].whole == fourth + latency);
    CHECK(tiles[4].fetched == fourth);
    const Cycle fifth = end(35);
    CHECK(tiles[4].whole == fifth + latency);
    CHECK(chip->counter("weight_fifo.link_cycles").value() == fifth - tiles[2].fetched);
    CHECK(chip->counter("weight_fifo.bytes").value() == 2 * 35);
    CHECK(chip->counter("weight_fifo.spilled_bytes").value() == 3 * 35);
    CHECK(chip->counter("host_interface.weight_bytes").value() == 3 * 35);
}
