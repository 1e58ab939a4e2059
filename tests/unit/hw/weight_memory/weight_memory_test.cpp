#include "hw/weight_memory/weight_memory.h"

#include <tlm_utils/simple_initiator_socket.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <systemc>

#include "tests/support/fresh_simulation.h"

using namespace systole;
using hw::Cycle;

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

/// Someone who reads from a weight memory.
struct Bench : tests::FreshSimulation {
    Bench() { reader.socket.bind(memory.socket); }

    void load(std::size_t bytes, std::uint8_t value) {
        hw::ZeroedMemory<std::uint8_t> image(bytes);
        std::fill_n(image.data(), bytes, value);
        memory.load(std::move(image), bytes);
    }

    /// The cycle in which a read issued now is done.
    Cycle read(std::uint64_t address, std::vector<std::uint8_t>& bytes) {
        tlm::tlm_generic_payload payload;
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
    hw::WeightMemory memory{"memory", slow_memory(), clock};
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

TEST_CASE("What is not there is refused", "[hw][weight_memory]") {
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
