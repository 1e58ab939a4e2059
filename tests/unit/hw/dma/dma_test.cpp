// docs/timing.md, "Machines with a tensor core": the DMA alone, between a memory and a socket that the test
// drives.
#include "hw/dma/dma.h"

#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "hw/isa/instruction.h"
#include "hw/isa/registers.h"
#include "tests/support/tensor_neighbours.h"
#include "tests/support/unit_bench.h"

using namespace systole;
using isa::Register;

namespace {

constexpr std::uint64_t row_bytes = 16;
constexpr Cycle row_cycles = 4;
constexpr Cycle latency = 7;

/// Takes four cycles for a row. It keeps what it was asked for.
struct SlowHbm : sc_core::sc_module {
    struct Asked {
        bool is_read = false;
        std::uint64_t row = 0;
        std::uint64_t rows = 0;

        bool operator==(const Asked&) const = default;
    };

    SlowHbm(const sc_core::sc_module_name& name, const hw::Clock& its_clock, tests::BenchWords& its_words)
        : sc_module(name), clock(its_clock), words(its_words) {
        socket.register_b_transport(this, &SlowHbm::b_transport);
        socket.register_get_direct_mem_ptr(this, &SlowHbm::get_direct_mem_ptr);
    }

    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        const std::uint64_t rows = payload.get_data_length() / row_bytes;
        asked.push_back({payload.is_read(), payload.get_address() / row_bytes, rows});
        free_at = std::max(free_at, clock.after(delay)) + rows * row_cycles;
        delay = clock.delay_until(free_at);
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
    bool get_direct_mem_ptr(tlm::tlm_generic_payload& /*payload*/, tlm::tlm_dmi& access) {
        access.allow_read_write();
        access.set_dmi_ptr(reinterpret_cast<unsigned char*>(words.words.data()));
        return true;
    }

    const hw::Clock& clock;
    tests::BenchWords& words;
    std::vector<Asked> asked;
    Cycle free_at = 0;
    tlm_utils::simple_target_socket<SlowHbm> socket{"socket"};
};

machine::MachineConfig machine_of_dma() {
    machine::MachineConfig machine = tests::small_core();
    machine.hbm.latency_cycles = latency;
    return machine;
}

struct DmaBench : tests::UnitBench {
    explicit DmaBench(hw::Values values = hw::Values::TimingOnly) : UnitBench(machine_of_dma(), values) {
        unit.memory.bind(slow.socket);
    }

    // For use in a process.
    void gather(const isa::GatherRows& rows) { issue(isa::QueueId::DmaIn, unit.in_queue(), rows); }
    void in(const isa::DmaIn& dma) { issue(isa::QueueId::DmaIn, unit.in_queue(), dma); }
    void out(const isa::DmaOut& dma) { issue(isa::QueueId::DmaOut, unit.out_queue(), dma); }
    std::uint64_t count(const std::string& name) const { return counter(unit, name).value(); }
    const hw::InstructionTimes& times(hw::InstructionNumber number) const {
        return *std::ranges::find(instructions, number, &hw::InstructionTimes::number);
    }

    tests::BenchWords hbm{128, 4};
    tests::BenchWords memory{64, 4};
    SlowHbm slow{"slow", clock, hbm};
    tests::BenchHbm part{hbm, clock};
    hw::Dma unit{"dma", context, part, memory};
};

}  // namespace

TEST_CASE("A request reaches the memory a cycle later, and is complete a latency after its last byte",
          "[hw][dma]") {
    DmaBench bench;
    bench.process([&] {
        bench.at(10);
        bench.in({.hbm_row = 5, .row = 1, .rows = 3, .blocks = 1});
        bench.in({.hbm_row = 9, .row = 4, .rows = 1, .blocks = 1});
    });
    bench.run();
    CHECK(bench.times(0).begun == 10);
    CHECK(bench.times(0).released == 10 + 1 + 3 * row_cycles);
    CHECK(bench.times(0).complete == bench.times(0).released + latency);
    // The latency holds nobody back.
    CHECK(bench.times(1).begun == bench.times(0).released);
    CHECK(bench.times(1).released == bench.times(1).begun + 1 + row_cycles);
    bench.unit.finish(50, 0);
    CHECK(bench.count("dma_in.busy_cycles") == 4 * row_cycles);
    CHECK(bench.count("dma_in.hbm_cycles") == 2);
    CHECK(bench.cycles_of(bench.unit, "dma_in") == 50);
    CHECK(bench.cycles_of(bench.unit, "dma_out") == 50);
    CHECK(bench.count("dma.in_bytes") == 4 * row_bytes);
    CHECK(bench.memory.writes == 4 * row_bytes);
    CHECK(bench.memory.used == 5);
}

TEST_CASE("Of requests of one cycle, dma_in is served first, and an earlier one before both", "[hw][dma]") {
    DmaBench bench;
    bench.process([&] {
        bench.at(10);
        bench.out({.hbm_row = 20, .row = 1, .rows = 2, .blocks = 1});  // instruction 0
        bench.in({.hbm_row = 5, .row = 8, .rows = 3, .blocks = 1});    // 1
        bench.at(12);
        bench.out({.hbm_row = 30, .row = 1, .rows = 1, .blocks = 1});  // 2
        bench.in({.hbm_row = 9, .row = 12, .rows = 1, .blocks = 1});   // 3
    });
    bench.run();
    const Cycle first = 11 + 3 * row_cycles;
    CHECK(bench.times(1).released == first);
    CHECK(bench.times(0).released == first + 2 * row_cycles);
    // Instruction 3 asks when instruction 1 has moved: before instruction 2 can.
    CHECK(bench.times(3).begun == first);
    CHECK(bench.times(3).released == first + 2 * row_cycles + row_cycles);
    CHECK(bench.times(2).begun == bench.times(0).released);
    CHECK(bench.times(2).released == first + 4 * row_cycles);
    CHECK(bench.count("dma_out.hbm_cycles") == (first - 10) + row_cycles);
}

TEST_CASE("Blocks that follow each other are one transaction, those apart one each", "[hw][dma]") {
    DmaBench bench(hw::Values::Computed);
    bench.hbm.count_up();
    bench.process([&] {
        bench.in({.hbm_row = 4, .row = 0, .rows = 2, .blocks = 3});
        bench.registers.set(Register::DmaHbmRows, 5);
        bench.registers.set(Register::DmaMemoryRows, 3);
        bench.in({.hbm_row = 40, .row = 10, .rows = 2, .blocks = 2});
        bench.registers.set(Register::DmaHbmRows, 3);
        bench.registers.set(Register::DmaMemoryRows, 0);
        bench.at(200);
        bench.out({.hbm_row = 100, .row = 0, .rows = 1, .blocks = 2});
    });
    bench.run();
    CHECK(bench.slow.asked ==
          std::vector<SlowHbm::Asked>{
              {true, 4, 6}, {true, 40, 2}, {true, 45, 2}, {false, 100, 1}, {false, 103, 1}});
    CHECK(bench.memory.number(5, 3) == 40);  // row 9 of HBM
    CHECK(bench.memory.number(10, 0) == 161);
    CHECK(bench.memory.number(11, 0) == 165);
    CHECK(bench.memory.number(12, 0) == 0);
    CHECK(bench.memory.number(13, 0) == 181);
    CHECK(bench.hbm.number(100, 0) == 17);
    CHECK(bench.hbm.number(103, 0) == 21);
    CHECK(bench.hbm.number(101, 0) == 405);
}

TEST_CASE("Rows are gathered in a transfer behind the one of their indices", "[hw][dma]") {
    DmaBench bench(hw::Values::Computed);
    bench.hbm.count_up();
    for (const auto& [lane, index] : {std::pair{0U, 2U}, {1U, 0U}, {2U, 2U}, {3U, 9U}})
        bench.hbm.words.at(50 * 4 + lane) = index;
    bench.process([&] {
        bench.at(10);
        bench.registers.set(Register::DmaHbmRows, 20);
        bench.gather({.hbm_row = 4, .table_rows = 3, .indices = 50, .row = 1, .rows = 3, .blocks = 2});
        bench.in({.hbm_row = 9, .row = 20, .rows = 1, .blocks = 1});
    });
    bench.run();
    const Cycle indices = 10 + 1 + row_cycles + latency;
    CHECK(bench.times(0).begun == 10);
    CHECK(bench.times(0).released == indices + 1 + 6 * row_cycles);
    CHECK(bench.times(0).complete == bench.times(0).released + latency);
    CHECK(bench.times(1).begun == bench.times(0).released);
    std::vector<SlowHbm::Asked> asked(8, {true, 4, 1});
    asked.front().row = 50;
    asked.back().row = 9;
    CHECK(bench.slow.asked == asked);
    CHECK(bench.count("dma_in.busy_cycles") == (1 + 6 + 1) * row_cycles + latency);
    CHECK(bench.count("dma_in.hbm_cycles") == 3);
    CHECK(bench.count("dma.in_bytes") == 8 * row_bytes);
    CHECK(bench.memory.writes == 7 * row_bytes);
    for (const auto& [row, from] : {std::pair{1U, 6U}, {2U, 4U}, {3U, 6U}, {4U, 26U}, {5U, 24U}, {6U, 26U}})
        CHECK(bench.memory.number(row, 1) == bench.hbm.number(from, 1));
}

TEST_CASE("An index of no row of the table stops the DMA", "[hw][dma]") {
    DmaBench bench(hw::Values::Computed);
    bench.hbm.words.at(50 * 4 + 1) = 3;
    bench.process([&] {
        bench.gather({.hbm_row = 4, .table_rows = 3, .indices = 50, .row = 1, .rows = 2, .blocks = 1});
    });
    CHECK_THROWS_WITH(bench.run(), "index 1 is 3; the table has rows 0 to 2");
}
