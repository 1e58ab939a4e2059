// Rule 6 of docs/timing.md on the whole chip: who waits for whose port, to the cycle. Each run with a port
// too few is held against one with a port for everybody, which says when each unit asks.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <string>

#include "tests/support/chip.h"
#include "tests/unit/hw/core/odd_machine.h"

using namespace systole;
using tests::activation_setup;
using tests::odd_latency;
using tests::odd_machine;
using tests::TimedChip;

namespace {

const std::string ports_head =
    ".array 7 5\n.buffer in input 0x0 400\n.buffer out output 0x1000 400\n.tile 7 5 random 1\n" +
    activation_setup(5) + "set activation.parameters_row 240\n";

/// The use of a port by a unit: cycles [begun + offset, begun + offset + cycles).
struct Use {
    std::uint64_t offset;
    std::uint64_t cycles;
};

/// The cycle in which a request of cycle `asked` is granted, if another use began at `begun`.
std::uint64_t begins(std::uint64_t asked, Use use, std::uint64_t begun, Use other) {
    if (use.cycles == 0 || other.cycles == 0) return asked;
    const std::uint64_t from = begun + other.offset;
    if (asked + use.offset + use.cycles <= from) return asked;
    return std::max(asked + use.offset, from + other.cycles) - use.offset;
}

/// Delays the following instructions by one cycle each.
std::string nops(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += "nop\n";
    return text;
}

struct Begun {
    std::uint64_t first;
    std::uint64_t second;
};

Begun run(const machine::MachineConfig& machine, const std::string& text, isa::QueueId first,
          isa::QueueId second) {
    TimedChip chip(machine, text);
    chip.run();
    return {chip.times(first).at(0).begun, chip.times(second).at(0).begun};
}

/// The second unit requests a port earlier and later than the first: `passed` counts how often it began at
/// once, `waited` how often each unit waited.
struct Outcome {
    int unhindered = 0;
    int first_waited = 0;
    int second_waited = 0;
};

/// `text` makes the program with a number of nops between the two; the first unit has priority in the same
/// cycle.
template <typename Text>
Outcome meet(const machine::MachineConfig& tight, const machine::MachineConfig& wide, isa::QueueId first,
             Use first_use, isa::QueueId second, Use second_use, int most_nops, Text text) {
    Outcome outcome;
    for (int count = 0; count <= most_nops; ++count) {
        CAPTURE(count);
        const Begun asked = run(wide, text(count), first, second);
        const Begun begun = run(tight, text(count), first, second);
        Begun expected = asked;
        if (asked.first <= asked.second) {
            expected.second = begins(asked.second, second_use, asked.first, first_use);
        } else {
            expected.first = begins(asked.first, first_use, asked.second, second_use);
        }
        CHECK(begun.first == expected.first);
        CHECK(begun.second == expected.second);
        if (expected.first > asked.first) {
            ++outcome.first_waited;
        } else if (expected.second > asked.second) {
            ++outcome.second_waited;
        } else {
            ++outcome.unhindered;
        }
    }
    return outcome;
}

}  // namespace

TEST_CASE("Rule 6: an accumulator bank is taken while sums are written or read", "[timing][ports]") {
    machine::MachineConfig wide = odd_machine();
    wide.accumulators.banks = 2;
    machine::MachineConfig tight = wide;
    tight.accumulators.ports = 1;
    // The product writes the end of bank 0; the activation unit reads its beginning, or bank 1.
    const auto row = GENERATE(0U, 32U);
    const auto rows = GENERATE(1U, 9U);
    CAPTURE(row, rows);
    const Outcome outcome = meet(tight, wide, isa::QueueId::Matrix, {odd_latency, row == 0 ? 20U : 0U},
                                 isa::QueueId::Activation, {0, rows}, 150, [&](int count) {
                                     return ports_head + "read_weights tile=0\nmatmul ub=0 acc=12 rows=20\n" +
                                            nops(count) + "activate acc=" + std::to_string(row) +
                                            " ub=100 rows=" + std::to_string(rows) +
                                            " first=0 identity\nhalt\n";
                                 });
    CHECK(outcome.first_waited == 0);
    // Each of the 20 cycles, or of the rows - 1 before them, in which it asks.
    CHECK(outcome.second_waited == (row == 0 ? 20 + static_cast<int>(rows) - 1 : 0));
    CHECK(outcome.unhindered == 151 - outcome.second_waited);
}

TEST_CASE("Rule 6: a bank is taken through the gaps of a convolution's lines, until its last row is written",
          "[timing][ports]") {
    machine::MachineConfig wide = odd_machine();
    wide.accumulators.banks = 2;
    machine::MachineConfig tight = wide;
    tight.accumulators.ports = 1;
    // Windows of 7 x 1 elements: a line of 4 takes 7 fetches, one for each kernel row, so 3 cycles are a gap.
    const std::string window_setup =
        "set window.channels 1\nset window.kernel_height 7\nset window.kernel_width 1\n"
        "set window.input_height 16\nset window.input_width 4\nset window.output_height 10\n"
        "set window.output_width 4\nset window.image_rows 10\n";
    constexpr std::uint64_t written = 4 * 7 + 4;  // cycles from the first row of 5 lines to the last
    const auto rows = GENERATE(1U, 9U);
    CAPTURE(rows);
    // The convolution writes rows 12 to 31 of bank 0, the activation unit reads its beginning.
    const Outcome outcome =
        meet(tight, wide, isa::QueueId::Matrix, {odd_latency, written}, isa::QueueId::Activation, {0, rows},
             150, [&](int count) {
                 return ports_head + window_setup + "read_weights tile=0\nconvolve ub=0 acc=12 lines=5\n" +
                        nops(count) + "activate acc=0 ub=100 rows=" + std::to_string(rows) +
                        " first=0 identity\nhalt\n";
             });
    CHECK(outcome.first_waited == 0);
    CHECK(outcome.second_waited == static_cast<int>(written + rows - 1));
    CHECK(outcome.unhindered == 151 - outcome.second_waited);
}

TEST_CASE("Rule 6: a product waits for the bank that the activation unit still reads", "[timing][ports]") {
    machine::MachineConfig wide = odd_machine();
    wide.accumulators.banks = 1;
    wide.matrix_unit.mac_latency_cycles = 1;
    machine::MachineConfig tight = wide;
    tight.accumulators.ports = 1;
    const std::uint64_t latency = odd_latency - 2 * 7;
    const Outcome outcome = meet(tight, wide, isa::QueueId::Matrix, {latency, 3}, isa::QueueId::Activation,
                                 {0, 50}, 60, [&](int count) {
                                     return ports_head + nops(20) +
                                            "activate acc=0 ub=100 rows=50 first=0 identity\n" + nops(count) +
                                            "read_weights tile=0\nmatmul ub=0 acc=60 rows=3\nhalt\n";
                                 });
    CHECK(outcome.first_waited == 0);
    CHECK(outcome.second_waited == 0);
    const Outcome ready = meet(tight, wide, isa::QueueId::Matrix, {latency, 3}, isa::QueueId::Activation,
                               {0, 50}, 60, [&](int count) {
                                   return ports_head + "read_weights tile=0\n" + nops(60) +
                                          "activate acc=0 ub=100 rows=50 first=0 identity\n" + nops(count) +
                                          "matmul ub=0 acc=60 rows=3\nhalt\n";
                               });
    CHECK(ready.first_waited > 20);
    CHECK(ready.unhindered > 20);
}

TEST_CASE("Rule 6: the buffer's read port is taken while rows are fetched or parameters loaded",
          "[timing][ports]") {
    const machine::MachineConfig wide = odd_machine();
    machine::MachineConfig tight = wide;
    tight.unified_buffer.read_ports = 1;
    const bool load = GENERATE(true, false);
    CAPTURE(load);
    constexpr std::uint64_t loads = 7;  // 9 * 5 bytes in accesses of 7
    const Outcome outcome = meet(tight, wide, isa::QueueId::Matrix, {0, load ? 20U : 0U},
                                 isa::QueueId::Activation, {0, loads}, 110, [&](int count) {
                                     return ports_head + "read_weights tile=0\nmatmul ub=0 acc=0 rows=20\n" +
                                            nops(count) + "activate acc=40 ub=100 rows=12 first=0 identity" +
                                            (load ? " load" : "") + "\nhalt\n";
                                 });
    // It waits where it asks in the 20 cycles of the rows; in the 6 before, the rows wait for it.
    CHECK(outcome.first_waited == (load ? 6 : 0));
    CHECK(outcome.second_waited == (load ? 20 : 0));
}

TEST_CASE("Rule 6: the buffer's read port is taken while the host's data leave", "[timing][ports]") {
    machine::MachineConfig wide = odd_machine();
    wide.host_interface.write_gb_per_s = 7;  // 10 bytes a cycle
    machine::MachineConfig tight = wide;
    tight.unified_buffer.read_ports = 1;
    // The end of a transfer is not known before: nothing that begins later passes it.
    const Outcome outcome = meet(tight, wide, isa::QueueId::Matrix, {0, 20}, isa::QueueId::HostWrite, {0, 30},
                                 130, [&](int count) {
                                     return ports_head + "read_weights tile=0\nmatmul ub=0 acc=0 rows=20\n" +
                                            nops(count) + "write_host out ub=100 block=300\nhalt\n";
                                 });
    CHECK(outcome.first_waited == 29);
    CHECK(outcome.second_waited == 20);
}

TEST_CASE("Rule 6: the buffer's write port is taken while results or the host's data arrive",
          "[timing][ports]") {
    machine::MachineConfig wide = odd_machine();
    wide.host_interface.latency_cycles = 9;
    machine::MachineConfig tight = wide;
    tight.unified_buffer.write_ports = 1;
    wide.host_interface.read_gb_per_s = tight.host_interface.read_gb_per_s = 35;  // 50 bytes a cycle
    int waited = 0;
    int early = 0;
    int late = 0;
    for (int count = 0; count <= 60; ++count) {
        CAPTURE(count);
        // The data first, 28 cycles and a few instructions: results wait for the last byte.
        const std::string text = ".array 7 5\n.buffer in input 0x0 3000\n" + activation_setup(5) + nops(5) +
                                 "read_host in ub=40 block=700 count=2\n" + nops(count) +
                                 "activate acc=0 ub=0 rows=8 first=0 identity\nhalt\n";
        const Begun asked = run(wide, text, isa::QueueId::HostRead, isa::QueueId::Activation);
        TimedChip chip(tight, text);
        chip.run();
        const auto read = chip.times(isa::QueueId::HostRead).at(0);
        const auto activate = chip.times(isa::QueueId::Activation).at(0);
        REQUIRE(read.begun == asked.first);
        REQUIRE(read.complete == read.released + 9);
        const std::uint64_t transfer = read.released - read.begun;
        REQUIRE(transfer > 20);
        const std::uint64_t expected =
            asked.second + 6 + 8 <= read.begun + 9 ? asked.second : std::max(asked.second, read.complete - 6);
        CHECK(activate.begun == expected);
        (expected > asked.second ? waited : asked.second < read.released ? early : late) += 1;
    }
    CHECK(waited > 20);
    CHECK(late > 20);
    CHECK(early == 0);
    // The results first: the data's first byte arrives no earlier than behind them.
    for (int count = 0; count <= 60; ++count) {
        CAPTURE(count);
        const std::string text = ".array 7 5\n.buffer in input 0x0 3000\n" + activation_setup(5) +
                                 "activate acc=0 ub=0 rows=40 first=0 identity\n" + nops(count) +
                                 "read_host in ub=100 block=70 count=4\nhalt\n";
        const Begun asked = run(wide, text, isa::QueueId::Activation, isa::QueueId::HostRead);
        const Begun begun = run(tight, text, isa::QueueId::Activation, isa::QueueId::HostRead);
        CHECK(begun.first == asked.first);
        CHECK(begun.second == std::max(asked.second, asked.first + 6 + 40 - 9));
    }
}

TEST_CASE("Rule 6: a unit does not wait for itself", "[timing][ports]") {
    machine::MachineConfig machine = tests::tpu_v1();
    machine.weight_memory.bandwidth_gb_per_s = 7000;  // tiles are always there
    SECTION("products that follow each other on fewer read ports than users") {
        machine.unified_buffer.read_ports = GENERATE(1U, 2U);
        std::string text =
            ".array 256 256\n.tile 256 256 fill 1\nread_weights tile=0\nmatmul ub=0 acc=0 rows=64\n";
        for (int i = 0; i < 30; ++i) text += "matmul ub=0 acc=0 rows=64 keep\n";
        TimedChip chip(machine, text + "halt\n");
        chip.run();
        const auto products = chip.times(isa::QueueId::Matrix);
        REQUIRE(products.size() == 31);
        CHECK(products[30].released - products[1].begun == 1920);
        CHECK(chip->counter("matrix_unit.port_stall_cycles").value() == 0);
    }
    SECTION("repetitions that add to one bank with one port") {
        machine.accumulators.ports = 1;
        TimedChip chip(
            machine,
            ".array 256 256\n.tile 256 256 fill 1\nread_weights tile=0 count=1\nread_weights tile=0\n"
            "read_weights tile=0\nread_weights tile=0\nmatmul ub=0 acc=0 rows=300 repeat=3\nhalt\n");
        chip.run();
        const auto repetitions = chip.times(isa::QueueId::Matrix);
        REQUIRE(repetitions.size() == 4);
        for (std::size_t i = 1; i < 4; ++i) CHECK(repetitions[i].begun == repetitions[i - 1].begun + 300);
    }
    SECTION("results that follow each other into one write port") {
        machine.activation_unit.latency_cycles = 20;
        std::string text = ".array 256 256\n" + activation_setup(256);
        for (int i = 0; i < 10; ++i) text += "activate acc=0 ub=0 rows=2 first=0 identity\n";
        machine.unified_buffer.write_ports = 1;
        TimedChip chip(machine, text + "halt\n");
        chip.run();
        const auto results = chip.times(isa::QueueId::Activation);
        REQUIRE(results.size() == 10);
        for (std::size_t i = 1; i < 10; ++i) CHECK(results[i].begun == results[i - 1].begun + 2);
    }
}

TEST_CASE("Rule 6: which unit waits does not depend on the order in which SystemC runs processes",
          "[timing][ports]") {
    machine::MachineConfig machine = odd_machine();
    machine.accumulators.ports = machine.unified_buffer.read_ports = machine.unified_buffer.write_ports = 1;
    machine.host_interface.latency_cycles = 9;
    machine.host_interface.read_gb_per_s = machine.host_interface.write_gb_per_s = 21;
    std::string text = ports_head + "read_weights tile=0\nmatmul ub=0 acc=0 rows=3\n";
    std::mt19937 random(77);
    const auto below = [&](unsigned limit) { return std::to_string(random() % limit); };
    for (int i = 0; i < 60; ++i) {
        switch (random() % 4) {
            case 0:
                text += "matmul ub=0 acc=" + below(10) + " rows=1" + below(10) + " keep\n";
                break;
            case 1:
                text += "activate acc=32 ub=60 rows=1" + below(10) + " first=0 identity\n";
                break;
            case 2:
                text += "read_host in ub=150 block=70 count=" + std::to_string(1 + random() % 5) + "\n";
                break;
            default:
                text += "write_host out ub=200 block=70 count=" + std::to_string(1 + random() % 5) + "\n";
                break;
        }
    }
    const auto all_times = [&](std::function<unsigned()> test_delta_delay) {
        TimedChip chip(machine, text + "halt\n", std::move(test_delta_delay));
        chip.run();
        std::vector<std::uint64_t> cycles;
        for (const isa::QueueId unit : {isa::QueueId::Matrix, isa::QueueId::Activation,
                                        isa::QueueId::HostRead, isa::QueueId::HostWrite}) {
            for (const auto& times : chip.times(unit))
                cycles.insert(cycles.end(), {times.begun, times.complete});
        }
        return cycles;
    };
    const auto calm = all_times({});
    for (unsigned seed = 1; seed <= 10; ++seed) {
        std::mt19937 perturbing(seed);
        CAPTURE(seed);
        CHECK(all_times([&] { return static_cast<unsigned>(perturbing() % 4); }) == calm);
    }
}
