// docs/timing.md, "Machines with tiles", "Link", on the link alone: ring, host and memories are written in
// the test. The numbers are computed by hand.
#include "hw/tile_link/tile_link.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "hw/common/host_link.h"
#include "hw/common/order_checker.h"
#include "hw/isa/instruction.h"
#include "hw/machine/machine_config.h"
#include "tests/support/tile_neighbours.h"
#include "tests/support/unit_bench.h"

using namespace systole;
using isa::Register;

namespace {

constexpr Cycle link_latency = 5;

/// 16 bytes a cycle from the host, 4 to it; a call takes 7 cycles. A part has up to 4 rows of 64 bytes, 16
/// cycles.
machine::MachineConfig machine_of_link(std::uint64_t staging_bytes) {
    machine::MachineConfig machine;
    machine.family = machine::Family::EdgeTpu;
    machine.clock_mhz = 500;
    machine.tile_array.lines = 1;
    machine.tile_array.columns = 2;
    machine.tile_array.lanes = 16;
    machine.tile_array.weight_buffer_rows = 4;
    machine.staging_buffer.bytes = staging_bytes;
    machine.host.call_us = 0.013;  // 6.5 cycles
    machine.host_interface.read_gb_per_s = 8;
    machine.host_interface.write_gb_per_s = 2;
    machine.host_interface.latency_cycles = link_latency;
    machine.narrow_memory.bytes = 1024;
    machine.wide_memory.bytes = 65536;
    return machine;
}

struct LinkBench : tests::UnitBench {
    explicit LinkBench(std::uint64_t staging_bytes = 512, hw::Values values = hw::Values::TimingOnly)
        : UnitBench(machine_of_link(staging_bytes), values) {
        for (std::size_t i = 0; i < host.bytes.size(); ++i)
            host.bytes[i] = static_cast<std::uint8_t>(i % 251);
        registers.set(Register::ResultLines, 1);
        registers.set(Register::ResultColumns, 5);
        registers.set(Register::ResultChannels, 32);
        registers.set(Register::SourceLines, 1);
        registers.set(Register::SourceColumns, 5);
        registers.set(Register::SourceChannels, 32);
    }

    // For use in a process.
    void read(const isa::Instruction& instruction, hw::Tag tag = 0) {
        issue(isa::QueueId::HostRead, unit.read_queue(), instruction, tag);
    }
    void write(const isa::Instruction& instruction, hw::Tag tag = 0) {
        issue(isa::QueueId::HostWrite, unit.write_queue(), instruction, tag);
    }
    /// The ring takes parts, each `cycles` after it is whole and the one before has left.
    void take(std::size_t count, Cycle cycles) {
        process([this, count, cycles] {
            for (std::size_t i = 0; i < count; ++i) {
                const hw::WeightPart& part = unit.next();
                whole.push_back(clock.now());
                parts.emplace_back(part.block, part.first_row, part.rows);
                CHECK(part.streamed);
                CHECK(part.whole_at <= clock.now());
                clock.wait_until(clock.now() + cycles);
                unit.release();
            }
        });
    }
    std::uint64_t count(const std::string& path) const { return counter(unit, path).value(); }

    using Times = std::tuple<Cycle, Cycle, Cycle>;
    /// Begun, released and complete of a direction's instructions.
    std::vector<Times> times(isa::QueueId direction) const {
        std::vector<Times> chosen;
        for (const hw::InstructionTimes& each : instructions) {
            if (each.unit != static_cast<std::size_t>(direction)) continue;
            chosen.emplace_back(each.begun, each.released, each.complete);
        }
        return chosen;
    }
    /// Every cycle of the run is in one of each direction's counters.
    void check_cycles() {
        unit.finish(clock.now(), 0);
        CHECK(cycles_of(unit, "host_read") == clock.now());
        CHECK(cycles_of(unit, "host_write") == clock.now());
    }

    tests::BenchNarrow narrow{machine};
    tests::BenchWide wide{machine};
    tests::BenchHost host{4096};
    hw::HostLink link{machine, 1, clock};
    hw::TileLink unit{"host_interface", context, link, host, {narrow, wide}};
    std::vector<Cycle> whole;
    std::vector<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>> parts;  ///< block, first row, rows
};

using Times = LinkBench::Times;

/// Groups of blocks with rows of one unit.
isa::StreamParameters stream_of(std::uint64_t address, std::uint32_t rows, std::uint16_t groups = 1,
                                std::uint32_t repeats = 1) {
    return {.host_address = address, .rows = rows, .units = 1, .groups = groups, .repeats = repeats};
}

}  // namespace

TEST_CASE("A call takes the host's part of it, then its program; transfers follow each other",
          "[hw][tile_link]") {
    LinkBench bench;
    bench.process([&] {
        bench.at(10);
        bench.read(isa::ReadProgram{.bytes = 40});                                   // 2.5 cycles
        bench.read(isa::ReadParameters{.host_address = 64, .unit = 3, .units = 2});  // 8
        bench.read(isa::ReadTensor{.host_address = 256, .address = 0});              // 10
    });
    bench.run();
    CHECK(bench.times(isa::QueueId::HostRead) == std::vector<Times>{{10, 19, 19 + link_latency},
                                                                    {19, 27, 27 + link_latency},
                                                                    {27, 37, 37 + link_latency}});
    CHECK(bench.count("host_interface.program_bytes") == 40);
    CHECK(bench.count("host_interface.calls") == 1);
    CHECK(bench.count("host_interface.parameter_bytes") == 128);
    CHECK(bench.count("host_interface.read_bytes") == 160);
    CHECK(bench.wide.writes == 128);
    CHECK(bench.narrow.writes == 160);
    CHECK(bench.count("host_read.busy_cycles") == 27);
    CHECK(bench.count("host_read.idle_cycles") == 10);
    bench.check_cycles();
}

TEST_CASE("Both directions move at once, and elements have their own rate back", "[hw][tile_link]") {
    LinkBench bench;
    bench.process([&] {
        bench.read(isa::ReadTensor{.host_address = 256, .address = 0});
        bench.write(isa::WriteTensor{.host_address = 1024, .address = 512});
        bench.registers.set(Register::SourceChannels, 6);
        bench.write(isa::WriteTensor{.host_address = 1024, .address = 512, .over_lanes = true});
    });
    bench.run();
    CHECK(bench.times(isa::QueueId::HostRead) == std::vector<Times>{{0, 10, 10 + link_latency}});
    CHECK(bench.times(isa::QueueId::HostWrite) ==
          std::vector<Times>{{0, 40, 40 + link_latency}, {40, 41, 41 + link_latency}});
    CHECK(bench.count("host_interface.write_bytes") == 160 + 6);
    CHECK(bench.narrow.reads == 160 + 6);
    bench.check_cycles();
}

TEST_CASE("Instructions have priority over a program, parameters and streams", "[hw][tile_link]") {
    LinkBench bench;
    bench.process([&] {
        bench.read(isa::ReadProgram{.bytes = 80});  // 7 to 12
        bench.read(stream_of(0, 4));
    });
    bench.process([&] {
        bench.at(3);  // during the call
        bench.unit.send_instruction(16, 0);
        CHECK(bench.unit.next_arrival() == 4 + link_latency);
        bench.at(9);
        bench.unit.send_instruction(32, 0);
        CHECK(bench.unit.next_arrival() == 11 + link_latency);
        bench.at(20);
        bench.unit.send_instruction(16, 0);
    });
    bench.take(1, 1);
    bench.run();
    CHECK(bench.times(isa::QueueId::HostRead) ==
          std::vector<Times>{{0, 14, 14 + link_latency}, {14, 31, 31 + link_latency}});
    CHECK(bench.whole == std::vector<Cycle>{31 + link_latency});
    CHECK(bench.count("host_interface.instruction_bytes") == 64);
}

TEST_CASE("A full staging buffer stops the host until a part has left it, in that cycle", "[hw][tile_link]") {
    LinkBench bench(512);
    bench.process([&] {
        bench.read(stream_of(0, 4, 4));
        bench.read(isa::ReadTensor{.host_address = 256, .address = 0});
    });
    bench.take(4, 50);
    bench.run();
    // Sent from 0 to 16 and from 16 to 32; the third when the first has left in cycle 16 + 5 + 50, the
    // fourth when the second has left 50 cycles later. The image waits behind them.
    CHECK(bench.whole == std::vector<Cycle>{21, 71, 121, 171});
    CHECK(bench.times(isa::QueueId::HostRead) ==
          std::vector<Times>{{0, 137, 137 + link_latency}, {137, 147, 147 + link_latency}});
    CHECK(bench.count("host_read.staging_full_cycles") == (71 - 32) + (121 - 87));
    CHECK(bench.count("host_read.busy_cycles") == 4 * 16 + 10);
    CHECK(bench.count("host_interface.streamed_bytes") == 4 * 256);
    bench.check_cycles();
}

TEST_CASE("A part begins only when the staging buffer has room for all of it", "[hw][tile_link]") {
    // Parts of 4 and 2 rows: 256 and 128 bytes.
    const auto room = GENERATE(std::uint64_t{383}, std::uint64_t{384});
    LinkBench bench(room);
    bench.process([&] { bench.read(stream_of(0, 6, 2, 2)); });
    bench.take(8, 100);
    bench.run();
    CHECK(bench.whole[0] == 16 + link_latency);
    CHECK(bench.whole[1] == (room == 384 ? 121 : 121 + 8 + link_latency));
    using Part = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;
    std::vector<Part> expected;
    for (int repeat = 0; repeat < 2; ++repeat) {
        for (const std::uint64_t block : {0U, 384U}) {
            expected.emplace_back(block, 0, 4);
            expected.emplace_back(block, 4, 2);
        }
    }
    CHECK(bench.parts == expected);
}

TEST_CASE("The ring waits for parameters that have not been sent", "[hw][tile_link]") {
    LinkBench bench;
    bench.take(1, 0);
    bench.process([&] {
        bench.at(100);
        bench.read(stream_of(0, 4));
    });
    bench.run();
    CHECK(bench.whole == std::vector<Cycle>{116 + link_latency});
}

TEST_CASE("Host bytes in no buffer are an error, also without values", "[hw][tile_link]") {
    const auto values = GENERATE(hw::Values::TimingOnly, hw::Values::Computed);
    struct Wrong {
        isa::Instruction instruction;
        std::uint64_t first;
        std::uint64_t last;
    };
    const auto wrong =
        GENERATE(Wrong{isa::ReadParameters{.host_address = 4000, .unit = 0, .units = 2}, 4000, 4127},
                 Wrong{isa::ReadTensor{.host_address = 3937, .address = 0}, 3937, 4096},
                 Wrong{isa::WriteTensor{.host_address = 3937, .address = 0}, 3937, 4096},
                 Wrong{isa::WriteTensor{.host_address = 4090, .address = 0, .over_lanes = true}, 4090, 4121},
                 Wrong{stream_of(3841, 4), 3841, 4096}, Wrong{stream_of(3600, 4, 2), 3600, 4111});
    CAPTURE(wrong.first);
    LinkBench bench(512, values);
    bench.process([&] {
        const bool writes = std::holds_alternative<isa::WriteTensor>(wrong.instruction);
        bench.read(isa::ReadProgram{.bytes = 16});
        if (writes) {
            bench.write(wrong.instruction);
        } else {
            bench.read(wrong.instruction);
        }
    });
    try {
        bench.run();
        FAIL("no error");
    } catch (const hw::InstructionError& error) {
        CHECK(error.number == 1);
        CHECK(error.what() == "host bytes " + std::to_string(wrong.first) + " to " +
                                  std::to_string(wrong.last) + " lie in none of the program's buffers");
    }
}

TEST_CASE("Elements go to the tiles that own their pixels, and back", "[hw][tile_link]") {
    LinkBench bench(512, hw::Values::Computed);
    // 5 pixels of 32 channels on 1 x 2 tiles: 3 and 2, each behind a margin of 1 pixel.
    bench.registers.set(Register::ResultLeft, 1);
    bench.registers.set(Register::SourceLeft, 1);
    bench.process([&] {
        bench.read(isa::ReadTensor{.host_address = 256, .address = 64});
        bench.at(100);
        bench.workers.wait_for_all();
        bench.write(isa::WriteTensor{.host_address = 1024, .address = 64});
    });
    bench.run();
    bench.workers.finish();
    for (std::size_t i = 0; i < 160; ++i) {
        CAPTURE(i);
        const std::size_t pixel = i / 32;
        const int expected = static_cast<int>((256 + i) % 251);
        CHECK(int(bench.narrow.tiles[pixel / 3][64 + (1 + pixel % 3) * 32 + i % 32]) == expected);
        CHECK(int(bench.host.bytes[1024 + i]) == expected);
    }
    CHECK(int(bench.narrow.tiles[0][64 + 31]) == 0);
    CHECK(int(bench.narrow.tiles[1][64 + 3 * 32]) == 0);
}
