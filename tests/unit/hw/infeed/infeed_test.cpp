// docs/timing.md, "Machines with a tensor core", "Transfers": the link to the host alone, between a host and
// a memory that the test writes. The numbers are computed by hand.
#include "hw/infeed/infeed.h"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "base/cycle.h"
#include "hw/common/host_link.h"
#include "hw/common/order_checker.h"
#include "hw/isa/instruction.h"
#include "hw/isa/registers.h"
#include "hw/machine/machine_config.h"
#include "tests/support/tensor_neighbours.h"
#include "tests/support/tile_neighbours.h"
#include "tests/support/unit_bench.h"

using namespace systole;
using isa::Register;

namespace {

constexpr Cycle latency = 5;

/// 16 bytes a cycle from the host, 4 to it; rows of 4 words.
machine::MachineConfig machine_of_link() {
    machine::MachineConfig machine = tests::small_core();
    machine.host_interface.read_gb_per_s = 8;
    machine.host_interface.write_gb_per_s = 2;
    machine.host_interface.latency_cycles = latency;
    return machine;
}

struct LinkBench : tests::UnitBench {
    explicit LinkBench(hw::Values values = hw::Values::TimingOnly) : UnitBench(machine_of_link(), values) {}

    // For use in a process.
    void in(const isa::Infeed& infeed) { issue(isa::QueueId::HostRead, unit.read_queue(), infeed); }
    void out(const isa::Outfeed& outfeed) { issue(isa::QueueId::HostWrite, unit.write_queue(), outfeed); }

    /// Numbers from 1 on in host memory.
    void count_up() {
        for (std::size_t i = 0; i < host.bytes.size() / sizeof(float); ++i) {
            const auto number = static_cast<float>(i + 1);
            std::memcpy(host.bytes.data() + i * sizeof(float), &number, sizeof(float));
        }
    }
    float host_number(std::size_t index) const {
        float number = 0;
        std::memcpy(&number, host.bytes.data() + index * sizeof(float), sizeof(float));
        return number;
    }
    std::uint64_t count(const std::string& path) const { return counter(unit, path).value(); }

    using Times = std::tuple<Cycle, Cycle, Cycle>;
    /// Begun, released and complete of an instruction.
    Times times(hw::InstructionNumber number) const {
        const auto found = std::ranges::find(instructions, number, &hw::InstructionTimes::number);
        REQUIRE(found != instructions.end());
        return {found->begun, found->released, found->complete};
    }
    /// Every cycle of the run is in one of each direction's counters.
    void check_cycles() {
        unit.finish(clock.now(), 0);
        CHECK(cycles_of(unit, "host_read") == clock.now());
        CHECK(cycles_of(unit, "host_write") == clock.now());
    }

    tests::BenchWords hbm{128, 4};
    tests::BenchHost host{1024};
    hw::HostLink link{machine, 1, clock};
    hw::InfeedLink unit{"host_interface", context, link, host, hbm};
};

using Times = LinkBench::Times;

}  // namespace

TEST_CASE("A matrix takes its elements' bytes of the link's rate, and arrives a latency later",
          "[hw][infeed]") {
    LinkBench bench;
    bench.process([&] {
        bench.at(10);
        bench.in({.host_address = 0, .hbm_row = 3, .rows = 5, .columns = 6});     // 120 bytes: 7.5 cycles
        bench.in({.host_address = 256, .hbm_row = 20, .rows = 1, .columns = 2});  // 0.5
        bench.out({.host_address = 512, .hbm_row = 3, .rows = 5, .columns = 6});  // 30
    });
    bench.run();
    // The half cycle of the first is kept for the second.
    CHECK(bench.times(0) == Times{10, 17, 17 + latency});
    CHECK(bench.times(1) == Times{17, 18, 18 + latency});
    CHECK(bench.times(2) == Times{10, 40, 40 + latency});
    CHECK(bench.count("host_interface.read_bytes") == 128);
    CHECK(bench.count("host_interface.write_bytes") == 120);
    // Two panels of 5 rows, and one of one row, of 16 bytes each.
    CHECK(bench.hbm.writes == 11 * 16);
    CHECK(bench.hbm.reads == 120);
    CHECK(bench.count("host_read.idle_cycles") == 10);
    CHECK(bench.count("host_read.busy_cycles") == 8);
    bench.check_cycles();
}

TEST_CASE("Packed, a matrix takes 2 bytes of the link's rate for each number, and half of the rows",
          "[hw][infeed]") {
    LinkBench bench(hw::Values::Computed);
    bench.count_up();
    bench.hbm.count_up();
    bench.process([&] {
        bench.at(10);
        bench.in({.host_address = 0, .hbm_row = 3, .rows = 5, .columns = 6, .packed = true});
    });
    bench.run();
    CHECK(bench.times(0) == Times{10, 13, 13 + latency});  // 60 bytes: 3.75 cycles
    CHECK(bench.count("host_interface.read_bytes") == 60);
    CHECK(bench.hbm.writes == 2 * 3 * 16);  // two panels of 3 rows, of 16 bytes each
    for (std::size_t row = 0; row < 6; ++row) {
        for (std::size_t column = 0; column < 8; ++column) {
            CAPTURE(row, column);
            const auto word =
                std::bit_cast<std::uint32_t>(bench.hbm.number(3 + column / 4 * 3 + row / 2, column % 4));
            const std::uint32_t half = row % 2 == 0 ? word & 0xFFFF : word >> 16U;
            // Small whole numbers are bfloat16.
            const float number = column < 6 && row < 5 ? static_cast<float>(1 + row * 6 + column) : 0.0F;
            CHECK(half == std::bit_cast<std::uint32_t>(number) >> 16U);
        }
    }
}

TEST_CASE("Words of a matrix go to panels, and zeros to the lanes behind them", "[hw][infeed]") {
    LinkBench bench(hw::Values::Computed);
    bench.count_up();
    bench.hbm.count_up();
    bench.process([&] {
        bench.registers.set(Register::ResultPanelRows, 4);
        bench.in({.host_address = 4, .hbm_row = 8, .rows = 3, .columns = 6});
        bench.registers.set(Register::SourcePanelRows, 4);
        bench.at(100);
        bench.out({.host_address = 512, .hbm_row = 8, .rows = 3, .columns = 6});
    });
    bench.run();
    for (std::size_t row = 0; row < 3; ++row) {
        for (std::size_t column = 0; column < 8; ++column) {
            CAPTURE(row, column);
            const float expected = column < 6 ? static_cast<float>(2 + row * 6 + column) : 0.0F;
            CHECK(bench.hbm.number(8 + column / 4 * 4 + row, column % 4) == expected);
        }
        for (std::size_t column = 0; column < 6; ++column) {
            CHECK(bench.host_number(128 + row * 6 + column) == static_cast<float>(2 + row * 6 + column));
        }
    }
    // The row between the panels stays as it was, and so does what follows in host memory.
    CHECK(bench.hbm.number(11, 0) == 11 * 4 + 1);
    CHECK(bench.host_number(128 + 18) == 128 + 19);
}

TEST_CASE("Instructions have priority over matrices", "[hw][infeed]") {
    LinkBench bench;
    bench.process([&] { bench.in({.host_address = 0, .hbm_row = 0, .rows = 4, .columns = 8}); });  // 8 cycles
    bench.process([&] {
        bench.at(3);
        bench.unit.send_instruction(32, 0);
        CHECK(bench.unit.next_arrival() == 5 + latency);
    });
    bench.run();
    CHECK(bench.times(0) == Times{0, 10, 10 + latency});
    CHECK(bench.count("host_interface.instruction_bytes") == 32);
}

TEST_CASE("An interrupt takes no time of the link, and follows what was written", "[hw][infeed]") {
    LinkBench bench;
    bench.process([&] {
        bench.out({.host_address = 512, .hbm_row = 0, .rows = 1, .columns = 4});  // 4 cycles
        bench.issue(isa::QueueId::HostWrite, bench.unit.write_queue(), isa::InterruptHost{});
    });
    bench.run();
    CHECK(bench.times(0) == Times{0, 4, 4 + latency});
    CHECK(bench.times(1) == Times{4, 4, 4 + latency});
    CHECK(bench.count("host_interface.interrupts") == 1);
    bench.check_cycles();
}

TEST_CASE("Bytes of the host that no buffer has are an error that names the instruction", "[hw][infeed]") {
    LinkBench bench;
    bench.process([&] { bench.in({.host_address = 1016, .hbm_row = 0, .rows = 1, .columns = 4}); });
    CHECK_THROWS_WITH(bench.run(), "host bytes 1016 to 1031 lie in none of the program's buffers");
}
