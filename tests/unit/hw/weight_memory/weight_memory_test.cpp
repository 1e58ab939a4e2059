#include "hw/weight_memory/weight_memory.h"

#include <tlm_utils/simple_initiator_socket.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <systemc>

#include "hw/common/tag_extension.h"
#include "tests/support/fresh_simulation.h"
#include "tests/unit/hw/weight_memory/dram_support.h"

using namespace systole;

namespace {

machine::MachineConfig slow_memory() {
    machine::MachineConfig machine;
    machine.weight_memory.bytes = 1U << 20U;
    machine.weight_memory.bandwidth_gb_per_s = 2.1;  // 3 bytes a cycle
    machine.weight_memory.latency_cycles = 13;
    return machine;
}

struct Reader : sc_core::sc_module {
    explicit Reader(const sc_core::sc_module_name& name) : sc_module(name) {}
    tlm_utils::simple_initiator_socket<Reader> socket{"socket"};
};

/// A module that reads from a weight memory.
struct Bench : tests::FreshSimulation {
    explicit Bench(const machine::MachineConfig& machine = slow_memory()) : memory("memory", machine, clock) {
        reader.socket.bind(memory.sockets.front());
    }

    void load(std::size_t bytes, std::uint8_t value) {
        hw::WeightImage image;
        std::ranges::fill(image.make(0, bytes), value);
        memory.load(std::move(image));
    }

    /// The cycle in which a read issued now is done.
    Cycle read(std::uint64_t address, std::vector<std::uint8_t>& bytes, hw::Tag tag = 0) {
        hw::TagExtension counted_for(tag);
        tlm::tlm_generic_payload payload;
        if (tag != 0) payload.set_extension(&counted_for);
        payload.set_read();
        payload.set_address(address);
        payload.set_data_ptr(bytes.data());
        payload.set_data_length(static_cast<unsigned>(bytes.size()));
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        reader.socket->b_transport(payload, delay);
        status = payload.get_response_status();
        return clock.after(delay);
    }

    void run(const std::function<void()>& body) {
        sc_core::sc_spawn(body);
        sc_core::sc_start();
    }

    hw::Clock clock;
    hw::WeightMemory memory;
    Reader reader{"reader"};
    tlm::tlm_response_status status = tlm::TLM_INCOMPLETE_RESPONSE;
};

}  // namespace

TEST_CASE("A read takes the latency and its bytes at the bandwidth", "[hw][weight_memory]") {
    Bench bench;
    bench.load(1000, 7);
    bench.run([&] {
        bench.clock.wait_until(100);
        std::vector<std::uint8_t> bytes(300);
        CHECK(bench.read(0, bytes) == 100 + 13 + 100);
        CHECK(bytes == std::vector<std::uint8_t>(300, 7));
    });
}

TEST_CASE("Reads issued ahead follow each other without paying the latency again", "[hw][weight_memory]") {
    Bench bench;
    bench.load(1000, 7);
    bench.run([&] {
        std::vector<std::uint8_t> bytes(100);
        for (std::uint64_t i = 1; i <= 50; ++i) CHECK(bench.read(0, bytes) == 13 + i * 100 / 3);
    });
}

TEST_CASE("Reads beyond the memory are address errors", "[hw][weight_memory]") {
    Bench bench;
    bench.load(1U << 20U, 0);
    bench.run([&] {
        std::vector<std::uint8_t> bytes(16);
        bench.read((1U << 20U) - 16, bytes);
        CHECK(bench.status == tlm::TLM_OK_RESPONSE);
        bench.read((1U << 20U) - 15, bytes);
        CHECK(bench.status == tlm::TLM_ADDRESS_ERROR_RESPONSE);
    });
}

TEST_CASE("The machine's DRAM is behind the same socket: its time, its bytes, its counts",
          "[hw][weight_memory]") {
    machine::MachineConfig machine = slow_memory();
    machine.clock_mhz = 1000;
    machine.weight_memory.model = machine::WeightMemoryModel::Dram;
    machine::DramConfig& dram = machine.weight_memory.dram;
    dram.clock_ns = 1;
    dram.channels = 1;
    Bench bench(machine);
    bench.load(1U << 20U, 7);
    bench.run([&] {
        bench.clock.wait_until(100);
        std::vector<std::uint8_t> bytes(64);
        const Cycle arrived = 100 + 13;
        const Cycle data = dram.cl_clocks + dram.burst_clocks();
        CHECK(bench.read(0, bytes) == arrived + dram.trcd_clocks + data);
        CHECK(bytes == std::vector<std::uint8_t>(64, 7));
        // Another row of the bank: the address arrives.
        const std::uint64_t next_row = std::uint64_t{dram.banks} * dram.row_bytes;
        CHECK(bench.read(next_row, bytes, 3) == arrived + dram.trc_clocks + dram.trcd_clocks + data);
        CHECK(bench.read(next_row - 1, bytes) > 0);
        CHECK(bench.status == tlm::TLM_OK_RESPONSE);
    });
    REQUIRE(bench.memory.counter_groups().size() == 1);
    CHECK(bench.memory.counter_groups()[0].path == bench.memory.basename());
    const hw::CounterGroup& counters = *bench.memory.counter_groups()[0].group;
    for (const hw::Counter& counter : counters) {
        if (counter.name() == "reads") CHECK(counter.value(3) == 1);
    }
    bench.memory.finish(10'000, 0);
    CHECK(tests::memory_clocks(counters) == 10'000);
}

TEST_CASE("A bandwidth counts nothing", "[hw][weight_memory]") {
    const Bench bench;
    CHECK(bench.memory.counter_groups().empty());
}
