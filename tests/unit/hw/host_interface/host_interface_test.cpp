// Rule 5 of docs/timing.md, spilled weights of rule 4 and the ports of rule 6, on the host interface alone:
// host memory, unified buffer and other units are written in the test. The numbers are computed by hand.
#include "hw/host_interface/host_interface.h"

#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <systemc>
#include <tlm>
#include <tuple>
#include <vector>

#include "hw/common/command_queue.h"
#include "hw/common/host_link.h"
#include "hw/common/order_checker.h"
#include "hw/common/ports.h"
#include "hw/common/trace.h"
#include "hw/common/unit_context.h"
#include "hw/common/value_workers.h"
#include "hw/common/wait_history.h"
#include "hw/isa/access_history.h"
#include "hw/isa/instruction.h"
#include "hw/isa/queue.h"
#include "hw/isa/registers.h"
#include "hw/machine/machine_config.h"
#include "tests/support/unit_bench.h"
#include "tests/support/unit_neighbours.h"

using namespace systole;
using Activity = hw::UnitHistory::Activity;

namespace {

constexpr Cycle latency = 5;

/// 3 bytes a cycle from the host, 2 to it.
machine::MachineConfig machine_of_transfers() {
    machine::MachineConfig machine;
    machine.matrix_unit.rows = 4;
    machine.matrix_unit.columns = 3;
    machine.unified_buffer.rows = 128;
    machine.host_interface.read_gb_per_s = 2.1;
    machine.host_interface.write_gb_per_s = 1.4;
    machine.host_interface.latency_cycles = latency;
    return machine;
}

/// Host memory whose byte at address a is a at first. It grants direct access or not.
class Memory final : public sc_core::sc_module {
public:
    Memory(const sc_core::sc_module_name& name, bool direct) : sc_module(name), direct_(direct) {
        for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i);
        socket.register_b_transport(this, &Memory::transport);
        socket.register_get_direct_mem_ptr(this, &Memory::grant);
    }

    tlm_utils::simple_target_socket<Memory> socket{"socket"};
    std::array<std::uint8_t, 256> bytes{};
    std::size_t transactions = 0;

private:
    void transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& /*delay*/) {
        ++transactions;
        const std::uint64_t first = payload.get_address();
        const std::uint64_t count = payload.get_data_length();
        if (first + count > bytes.size()) {
            payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
            return;
        }
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
        std::uint8_t* const data = payload.get_data_ptr();
        if (data == nullptr) return;
        std::uint8_t* const in_host = bytes.data() + first;
        if (payload.is_read()) {
            std::copy_n(in_host, count, data);
        } else {
            std::copy_n(data, count, in_host);
        }
    }
    bool grant(tlm::tlm_generic_payload& /*payload*/, tlm::tlm_dmi& access) {
        access.allow_read_write();
        access.set_dmi_ptr(bytes.data());
        access.set_start_address(0);
        access.set_end_address(bytes.size() - 1);
        return direct_;
    }

    const bool direct_;
};

struct HostBench : tests::UnitBench {
    explicit HostBench(const machine::MachineConfig& its = machine_of_transfers(),
                       hw::Values values = hw::Values::TimingOnly, bool direct = true)
        : UnitBench(its, values), memory("memory", direct) {
        unit.memory.bind(memory.socket);
    }

    // For use in a process.
    void read(std::uint64_t address, std::uint32_t row, std::uint32_t bytes, std::uint16_t blocks = 1,
              hw::Tag tag = 0) {
        issue(isa::QueueId::HostRead, unit.read_queue(),
              isa::ReadHostMemory{
                  .host_address = address, .unified_buffer_row = row, .block_bytes = bytes, .blocks = blocks},
              tag);
    }
    void write(std::uint64_t address, std::uint32_t row, std::uint32_t bytes, std::uint16_t blocks = 1,
               hw::Tag tag = 0) {
        issue(isa::QueueId::HostWrite, unit.write_queue(),
              isa::WriteHostMemory{
                  .host_address = address, .unified_buffer_row = row, .block_bytes = bytes, .blocks = blocks},
              tag);
    }

    std::uint64_t count(const std::string& path) const { return counter(unit, path).value(); }
    std::uint64_t count(const std::string& path, hw::Tag tag) const { return counter(unit, path).value(tag); }

    using Times = std::tuple<Cycle, Cycle, Cycle>;
    /// Begun, released and complete of a direction's instructions.
    std::vector<Times> times(isa::QueueId direction) const {
        std::vector<Times> chosen;
        for (const hw::InstructionTimes& each : instructions) {
            if (each.unit == static_cast<std::size_t>(direction)) {
                chosen.emplace_back(each.begun, each.released, each.complete);
            }
        }
        return chosen;
    }
    std::vector<Times> reads() const { return times(isa::QueueId::HostRead); }
    std::vector<Times> writes() const { return times(isa::QueueId::HostWrite); }

    Memory memory;
    tests::BenchBuffer buffer{machine};
    hw::HostLink link{machine, 1, clock};
    hw::HostInterface unit{"host_interface", context, link, buffer};
};

using Times = std::vector<HostBench::Times>;

}  // namespace

TEST_CASE("Transfers of a direction follow each other at its exact rate, and arrive the latency later",
          "[hw][host_interface]") {
    HostBench bench;
    bench.process([&] {
        bench.at(10);
        bench.read(0, 0, 10, 2, 1);  // 20 bytes take 6 2/3 cycles
        bench.read(0, 8, 10, 1, 2);  // 10 more end 10 cycles after the beginning
    });
    bench.process([&] {
        bench.at(12);
        bench.write(0, 16, 9, 1, 3);  // 4 1/2 cycles
        bench.write(0, 20, 4, 1, 4);  // until 6 1/2 cycles after the beginning
    });
    bench.run();
    CHECK(bench.reads() == Times{{10, 16, 16 + latency}, {16, 20, 20 + latency}});
    CHECK(bench.writes() == Times{{12, 16, 16 + latency}, {16, 18, 18 + latency}});
    CHECK(bench.count("host_read.idle_cycles") == 10);
    CHECK(bench.count("host_read.busy_cycles", 1) == 6);
    CHECK(bench.count("host_read.busy_cycles", 2) == 4);
    CHECK(bench.count("host_write.idle_cycles") == 12);
    CHECK(bench.count("host_write.busy_cycles", 3) == 4);
    CHECK(bench.count("host_write.busy_cycles", 4) == 2);
    CHECK(bench.count("host_interface.read_bytes") == 30);
    CHECK(bench.count("host_interface.write_bytes") == 13);
    // Rows of 4 bytes: 3 accesses for each block of 10, 3 for 9 bytes.
    CHECK(bench.count("host_interface.buffer_writes") == 9);
    CHECK(bench.count("host_interface.buffer_reads") == 4);
    CHECK(bench.buffer.writes == 9);
    CHECK(bench.buffer.reads == 4);
    bench.unit.finish(40, 6);
    CHECK(bench.count("host_read.idle_cycles", 6) == 40 - 20);
    CHECK(bench.count("host_write.idle_cycles", 6) == 40 - 18);
    CHECK(bench.cycles_of(bench.unit, "host_read") == 40);
    CHECK(bench.cycles_of(bench.unit, "host_write") == 40);
}

TEST_CASE("An instruction interrupts the data under way, in the direction from the host alone",
          "[hw][host_interface]") {
    HostBench bench;
    bench.process([&] {
        bench.read(0, 0, 60);
        bench.write(0, 20, 60);
    });
    Cycle arrives = 0;
    bench.process([&] {
        bench.at(8);
        bench.unit.send_instruction(15, 3);
        arrives = bench.unit.next_arrival();
    });
    bench.run();
    CHECK(arrives == 8 + 5 + latency);
    CHECK(bench.reads() == Times{{0, 20 + 5, 25 + latency}});
    CHECK(bench.writes() == Times{{0, 30, 30 + latency}});
    CHECK(bench.count("host_interface.instruction_bytes", 3) == 15);
    CHECK(bench.count("host_read.busy_cycles") == 25);
}

TEST_CASE("A read holds the buffer's port from its first byte's arrival to its last's",
          "[hw][host_interface]") {
    machine::MachineConfig machine = machine_of_transfers();
    machine.unified_buffer.write_ports = 1;
    HostBench bench(machine);
    // The activation unit writes in the cycles before 40.
    bench.process(
        [&] { bench.ports.acquire(hw::activation_user, {{.port = hw::buffer_write_port, .cycles = 40}}); });
    bench.process([&] {
        bench.at(1);
        bench.read(0, 0, 30, 1, 2);
    });
    Cycle next = 0;
    bench.process([&] {
        bench.at(41);
        bench.ports.acquire(hw::activation_user, {{.port = hw::buffer_write_port, .cycles = 1}});
        next = bench.clock.now();
    });
    bench.run();
    CHECK(bench.reads() == Times{{40 - latency, 45, 45 + latency}});
    CHECK(next == 45 + latency);
    CHECK(bench.count("host_read.idle_cycles") == 1);
    CHECK(bench.count("host_read.port_stall_cycles", 2) == 40 - latency - 1);
    CHECK(bench.count("host_read.link_stall_cycles") == 0);
    CHECK(bench.count("host_read.busy_cycles", 2) == 10);
}

TEST_CASE("A write holds the buffer's port until its last byte has left", "[hw][host_interface]") {
    machine::MachineConfig machine = machine_of_transfers();
    machine.unified_buffer.read_ports = 1;
    HostBench bench(machine);
    bench.process(
        [&] { bench.ports.acquire(hw::matrix_user, {{.port = hw::buffer_read_port, .cycles = 7}}); });
    bench.process([&] { bench.write(0, 0, 20, 1, 2); });
    Cycle next = 0;
    bench.process([&] {
        bench.at(8);
        bench.ports.acquire(hw::activation_user, {{.port = hw::buffer_read_port, .cycles = 1}});
        next = bench.clock.now();
    });
    bench.run();
    CHECK(bench.writes() == Times{{7, 17, 17 + latency}});
    CHECK(next == 17);
    CHECK(bench.count("host_write.port_stall_cycles", 2) == 7);
    CHECK(bench.count("host_write.busy_cycles", 2) == 10);
}

TEST_CASE("Spilled weights and data take the link one after the other; data that wait as well go first",
          "[hw][host_interface]") {
    machine::MachineConfig machine = machine_of_transfers();
    machine.weight_memory.spill = true;
    HostBench bench(machine);
    struct Tile {
        Cycle sent, arrived;
    };
    std::vector<Tile> tiles;
    bench.process([&] {
        for (int i = 0; i < 2; ++i) {
            const Cycle arrives = bench.unit.receive_weights(12, 8);
            tiles.push_back({bench.clock.now(), arrives});
        }
    });
    bench.process([&] {
        bench.at(1);
        bench.read(0, 0, 30, 1, 2);
        bench.read(0, 8, 9, 1, 3);
    });
    bench.run();
    // Tile, data, then the second tile and the second data ask in the same cycle: data go first.
    CHECK(bench.reads() == Times{{4, 14, 14 + latency}, {14, 17, 17 + latency}});
    REQUIRE(tiles.size() == 2);
    CHECK(tiles[0].sent == 4);
    CHECK(tiles[0].arrived == 4 + latency);
    CHECK(tiles[1].sent == 17 + 4);
    CHECK(tiles[1].arrived == 21 + latency);
    CHECK(bench.count("host_read.link_stall_cycles", 2) == 4 - 1);
    CHECK(bench.count("host_read.link_stall_cycles", 3) == 0);
    CHECK(bench.count("host_read.busy_cycles") == 10 + 3);
    CHECK(bench.count("host_interface.weight_bytes", 8) == 24);
}

TEST_CASE("An interrupt takes the latency and no cycle of the link", "[hw][host_interface]") {
    HostBench bench;
    bench.process([&] {
        bench.write(0, 0, 8);
        bench.issue(isa::QueueId::HostWrite, bench.unit.write_queue(), isa::InterruptHost{}, 7);
        bench.write(0, 2, 8);
    });
    bench.run();
    CHECK(bench.writes() == Times{{0, 4, 4 + latency}, {4, 4, 4 + latency}, {4, 8, 8 + latency}});
    CHECK(bench.count("host_interface.interrupts", 7) == 1);
    CHECK(bench.count("host_write.busy_cycles") == 8);
}

TEST_CASE("A write that waits for a read begins when the read's last byte has arrived",
          "[hw][host_interface]") {
    HostBench bench;
    bench.process([&] {
        bench.at(2);
        bench.read(0, 0, 12);
        bench.issue(bench.unit.read_queue(), hw::Command::Kind::Signal, 1);
    });
    bench.process([&] {
        bench.issue(bench.unit.write_queue(), hw::Command::Kind::Wait, 1, 4);
        bench.write(64, 0, 12, 1, 4);
    });
    bench.run();
    CHECK(bench.reads() == Times{{2, 6, 6 + latency}});
    CHECK(bench.writes() == Times{{6 + latency, 17, 17 + latency}});
    CHECK(bench.count("host_write.sync_cycles", 4) == 6 + latency);
}

TEST_CASE("A transfer that no sync orders behind what it needs is refused when it begins",
          "[hw][host_interface]") {
    const auto direction = GENERATE(isa::QueueId::HostRead, isa::QueueId::HostWrite);
    HostBench bench;
    isa::QueuePositions activation{};
    activation[static_cast<std::size_t>(isa::QueueId::Activation)] = 4 + 1;
    bench.process([&] {
        if (direction == isa::QueueId::HostRead) {
            bench.issue(direction, bench.unit.read_queue(), isa::ReadHostMemory{.block_bytes = 4}, 0,
                        activation);
        } else {
            bench.issue(direction, bench.unit.write_queue(), isa::WriteHostMemory{.block_bytes = 4}, 0,
                        activation);
        }
    });
    CHECK_THROWS_AS(bench.run(), hw::OrderViolation);
}

TEST_CASE("The next instruction is taken when the one before has left the host", "[hw][host_interface]") {
    machine::MachineConfig machine = machine_of_transfers();
    machine.sequencer.queue_depth = 1;
    HostBench bench(machine);
    std::vector<Cycle> issued;
    bench.process([&] {
        for (std::uint32_t i = 0; i < 4; ++i) {
            bench.read(0, 4 * i, 12);
            issued.push_back(bench.clock.now());
        }
    });
    bench.run();
    CHECK(bench.reads() == Times{{0, 4, 9}, {4, 8, 13}, {8, 12, 17}, {12, 16, 21}});
    CHECK(issued == std::vector<Cycle>{0, 0, 4, 8});
}

TEST_CASE("The history of the host's reads has their waits and their work", "[hw][host_interface]") {
    machine::MachineConfig machine = machine_of_transfers();
    machine.unified_buffer.write_ports = 1;
    machine.weight_memory.spill = true;
    HostBench bench(machine);
    bench.process([&] { bench.unit.receive_weights(12, 0); });
    bench.process(
        [&] { bench.ports.acquire(hw::activation_user, {{.port = hw::buffer_write_port, .cycles = 20}}); });
    bench.process([&] {
        bench.at(1);
        bench.read(0, 0, 9, 1, 6);
    });
    bench.run();
    using Span = std::tuple<Activity, Cycle, Cycle, hw::Tag>;
    std::vector<Span> spans;
    const auto& history = bench.waits.inputs().spans();
    for (std::size_t i = 0; i < history.size(); ++i) {
        spans.emplace_back(history[i].activity, history[i].from, history[i].until, history[i].tag);
    }
    // The link until cycle 4, the buffer's port until 20 - latency.
    CHECK(spans == std::vector<Span>{{Activity::NoInstruction, 0, 1, hw::Tag{0}},
                                     {Activity::Port, 1, 4, hw::Tag{0}},
                                     {Activity::Port, 4, 15, hw::Tag{0}},
                                     {Activity::Work, 15, 18, hw::Tag{6}}});
    CHECK(history[3].complete == 18 + latency);
}

TEST_CASE("Blocks move between host memory and rows, with direct access and without",
          "[hw][host_interface]") {
    const bool direct = GENERATE(true, false);
    CAPTURE(direct);
    HostBench bench(machine_of_transfers(), hw::Values::Computed, direct);
    bench.registers.set(isa::Register::HostBlockStride, 10);
    bench.registers.set(isa::Register::HostBlockRows, 3);
    bench.process([&] {
        bench.read(100, 5, 6, 2);
        bench.issue(bench.unit.read_queue(), hw::Command::Kind::Signal, 1);
    });
    bench.process([&] {
        bench.issue(bench.unit.write_queue(), hw::Command::Kind::Wait, 1);
        bench.write(200, 5, 6, 2);
    });
    bench.run();
    std::vector<std::uint8_t> rows(bench.buffer.bytes.begin() + 20, bench.buffer.bytes.begin() + 20 + 18);
    CHECK(rows == std::vector<std::uint8_t>{100, 101, 102, 103, 104, 105, 0, 0, 0, 0, 0, 0, 110, 111, 112,
                                            113, 114, 115});
    std::vector<std::uint8_t> host(bench.memory.bytes.begin() + 200, bench.memory.bytes.begin() + 216);
    CHECK(host == std::vector<std::uint8_t>{100, 101, 102, 103, 104, 105, 206, 207, 208, 209, 110, 111, 112,
                                            113, 114, 115});
    CHECK(bench.memory.transactions == (direct ? 0 : 4));
}

TEST_CASE("Host bytes that are in no buffer are an error that names them", "[hw][host_interface]") {
    const auto values = GENERATE(hw::Values::Computed, hw::Values::TimingOnly);
    HostBench bench(machine_of_transfers(), values, false);
    bench.process([&] { bench.write(250, 0, 10); });
    CHECK_THROWS_WITH(bench.run(), "host bytes 250 to 259 lie in none of the program's buffers");
}
