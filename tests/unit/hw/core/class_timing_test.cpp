// Rule 8 of docs/timing.md, each class from both sides: what comes a cycle later moves one cycle from one
// class to the next, or none.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/support/chip.h"
#include "tests/unit/hw/core/odd_machine.h"

using namespace systole;
using tests::activation_setup;
using tests::odd_machine;
using tests::TimedChip;

namespace {

/// The idle cycles counted for a tag.
struct Idle {
    Cycle non_matrix = 0;
    Cycle stall = 0;
    Cycle shift = 0;

    bool operator==(const Idle&) const = default;
    Cycle sum() const { return non_matrix + stall + shift; }
};

Idle idle_of(const TimedChip& chip, hw::Tag tag) {
    return {chip->counter("matrix_unit.non_matrix_cycles").value(tag),
            chip->counter("matrix_unit.weight_stall_cycles").value(tag),
            chip->counter("matrix_unit.weight_shift_cycles").value(tag)};
}

void check_partition(const TimedChip& chip) {
    CHECK(tests::matrix_unit_cycles(*chip) == chip->cycles());
    CHECK(chip->counter("matrix_unit.useful_macs").value() +
              chip->counter("matrix_unit.unused_macs").value() ==
          chip->counter("matrix_unit.active_cycles").value() * 7 * 5);
}

std::string nops(unsigned count) {
    std::string text;
    for (unsigned i = 0; i < count; ++i) text += "nop\n";
    return text;
}

const std::string class_head =
    ".array 7 5\n.buffer in input 0 700\n.tile 7 5 random 1\n" + activation_setup(5);

}  // namespace

TEST_CASE(
    "Rule 8: a tile that comes a cycle later costs a cycle of shift, then of stall, then none was issued",
    "[timing]") {
    // The second tile is fetched n cycles later, and its product issued behind it.
    machine::MachineConfig machine = odd_machine();
    machine.matrix_unit.engine = GENERATE(machine::Engine::Wavefront, machine::Engine::Pe);
    Idle before;
    unsigned shifts = 0;
    unsigned stalls = 0;
    unsigned without = 0;
    for (unsigned n = 0; n < 150; ++n) {
        CAPTURE(n);
        TimedChip chip(machine, class_head + "tag 1\nread_weights tile=0\nmatmul ub=0 acc=0 rows=60\n" +
                                    nops(n) +
                                    "tag 2\nread_weights tile=0\nmatmul ub=0 acc=0 rows=3\ntag 3\nhalt\n");
        chip.run();
        const auto streams = chip.times(isa::QueueId::Matrix);
        const hw::TileTimes& tile = chip.tiles().at(1);
        REQUIRE(streams.size() == 2);
        const Cycle from = streams[0].begun + 60;
        const Cycle begun = std::max({from, streams[1].issued, tile.whole + 7});
        REQUIRE(streams[1].begun == begun);
        const Cycle issued = std::max(from, streams[1].issued);
        const Cycle whole = std::max(issued, tile.whole);
        const Idle idle = idle_of(chip, 2);
        CHECK(idle == Idle{issued - from, whole - issued, begun - whole});
        check_partition(chip);

        if (n > 0) {
            CHECK(idle.sum() - before.sum() <= 1);
            CHECK(idle.shift >= before.shift);
            CHECK(idle.stall >= before.stall);
            CHECK(idle.non_matrix >= before.non_matrix);
        }
        if (idle.shift > before.shift) ++shifts;
        if (idle.stall > before.stall) ++stalls;
        if (idle.non_matrix > before.non_matrix) ++without;
        // In that order: a shift is whole before there is a stall, a fetch before nothing is issued.
        if (idle.stall > 0) CHECK(idle.shift == 7);
        if (idle.non_matrix > 0) CHECK(idle.stall == tile.whole - streams[1].issued);
        before = idle;
    }
    CHECK(shifts == 7);
    CHECK(stalls == 45);  // a fetch of 11 + 35 cycles, less the cycle to the product's issue
    CHECK(without > 20);
}

TEST_CASE("Rule 8: a product that is issued a cycle later costs a cycle without matrix work", "[timing]") {
    // Its tile is there early, in the array or still in the FIFO behind another.
    const unsigned rows = GENERATE(1U, 7U, 8U, 40U);
    CAPTURE(rows);
    machine::MachineConfig machine = odd_machine();
    machine.matrix_unit.engine = GENERATE(machine::Engine::Wavefront, machine::Engine::Pe);
    machine.weight_memory.bandwidth_gb_per_s = 7000;
    machine.weight_memory.latency_cycles = 0;
    unsigned hidden = 0;
    for (unsigned n = 0; n < 60; ++n) {
        CAPTURE(n);
        TimedChip chip(machine, class_head + "tag 1\nread_weights tile=0\nread_weights tile=0\n" +
                                    fmt::format("matmul ub=0 acc=0 rows={}\n", rows) + nops(n) +
                                    "tag 2\nmatmul ub=0 acc=0 rows=3\ntag 3\nhalt\n");
        chip.run();
        const auto streams = chip.times(isa::QueueId::Matrix);
        REQUIRE(streams.size() == 2);
        const Cycle from = streams[0].begun + rows;
        const Cycle issued = std::max(from, streams[1].issued);
        const Cycle begun = std::max(issued, streams[0].begun + 1 + 7);
        CHECK(streams[1].begun == begun);
        CHECK(idle_of(chip, 2) == Idle{issued - from, 0, begun - issued});
        check_partition(chip);
        if (issued == from) ++hidden;
    }
    CHECK(hidden > 0);
    CHECK(hidden < 60);
}

TEST_CASE("Rule 8: input that the host delivers a cycle later is a cycle of input stall", "[timing]") {
    // The product's tile is in the array in cycle 11 + 35 + 7 after its fetch; the rows come about then.
    unsigned late = 0;
    unsigned early = 0;
    for (unsigned latency = 0; latency < 40; ++latency) {
        CAPTURE(latency);
        machine::MachineConfig machine = odd_machine();
        machine.host_interface.read_gb_per_s = 4.2;  // 6 bytes a cycle
        machine.host_interface.latency_cycles = latency;
        TimedChip chip(machine, class_head +
                                    "read_weights tile=0\nread_host in ub=0 block=210\n"
                                    "sync.signal host_read sem=0\nsync.wait matrix sem=0\n"
                                    "matmul ub=0 acc=0 rows=30\nhalt\n");
        chip.run();
        const auto read = chip.times(isa::QueueId::HostRead).at(0);
        const auto stream = chip.times(isa::QueueId::Matrix).at(0);
        const hw::TileTimes& tile = chip.tiles().at(0);
        const Cycle there = read.complete;
        CHECK(stream.begun == std::max(there, tile.whole + 7));
        const Cycle whole = std::clamp(tile.whole, there, stream.begun);
        CHECK(chip->counter("matrix_unit.input_stall_cycles").value() == there);
        CHECK(chip->counter("matrix_unit.raw_stall_cycles").value() == 0);
        CHECK(chip->counter("matrix_unit.weight_stall_cycles").value() == whole - there);
        CHECK(chip->counter("matrix_unit.weight_shift_cycles").value() == stream.begun - whole);
        CHECK(chip->counter("matrix_unit.non_matrix_cycles").value() ==
              there + chip->cycles() - stream.released);
        check_partition(chip);
        (there > tile.whole + 7 ? late : early) += 1;
    }
    // Each latency delays the instructions, and by them tile and rows, too; and the rows once more.
    CHECK(late > 0);
    CHECK(early > 0);
}

TEST_CASE("Rule 8: rows that the activation unit writes a cycle later are a cycle of RAW stall", "[timing]") {
    const unsigned rows = GENERATE(1U, 9U);
    Cycle before = 0;
    for (std::uint32_t latency = 0; latency < 30; ++latency) {
        CAPTURE(rows, latency);
        machine::MachineConfig machine = odd_machine();
        machine.activation_unit.latency_cycles = latency;
        TimedChip chip(machine, class_head +
                                    "tag 1\nread_weights tile=0\nmatmul ub=0 acc=0 rows=11\n"
                                    "sync.signal matrix sem=0\nsync.wait activation sem=0\n" +
                                    fmt::format("activate acc=0 ub=40 rows={} first=0 identity\n", rows) +
                                    "sync.signal activation sem=1\nsync.wait matrix sem=1\n"
                                    "tag 2\nmatmul ub=40 acc=32 rows=2 keep\ntag 3\nhalt\n");
        chip.run();
        const auto streams = chip.times(isa::QueueId::Matrix);
        const auto activate = chip.times(isa::QueueId::Activation).at(0);
        REQUIRE(streams.size() == 2);
        CHECK(streams[1].begun == activate.begun + rows + latency);
        const Cycle stall = chip->counter("matrix_unit.raw_stall_cycles").value(2);
        CHECK(stall == streams[1].begun - streams[0].released);
        CHECK(idle_of(chip, 2) == Idle{stall, 0, 0});
        if (latency > 0) CHECK(stall == before + 1);
        before = stall;
        check_partition(chip);
    }
}
