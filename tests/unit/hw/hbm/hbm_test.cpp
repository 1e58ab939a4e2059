// docs/timing.md, "Machines with a tensor core": high-bandwidth memory alone, behind its TLM-2.0 socket.
#include "hw/hbm/hbm.h"

#include <tlm_utils/simple_initiator_socket.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <systemc>
#include <tlm>
#include <vector>

#include "hw/common/process.h"
#include "tests/support/tensor_neighbours.h"
#include "tests/support/unit_bench.h"

using namespace systole;

namespace {

struct Initiator : sc_core::sc_module {
    explicit Initiator(const sc_core::sc_module_name& name) : sc_module(name) {}
    tlm_utils::simple_initiator_socket<Initiator> socket{"socket"};
};

struct HbmBench : tests::UnitBench {
    explicit HbmBench(const machine::MachineConfig& its) : UnitBench(its) {
        initiator.socket.bind(memory.sockets[0]);
    }

    /// The cycles until the last byte of a transaction that is issued now.
    Cycle time(tlm::tlm_command command, std::uint64_t address, std::vector<std::uint8_t>& bytes,
               bool with_data = false) {
        tlm::tlm_generic_payload payload;
        payload.set_command(command);
        payload.set_address(address);
        payload.set_data_ptr(with_data ? bytes.data() : nullptr);
        payload.set_data_length(static_cast<unsigned>(bytes.size()));
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        initiator.socket->b_transport(payload, delay);
        status = payload.get_response_status();
        return clock.after(delay) - clock.now();
    }

    Initiator initiator{"initiator"};
    hw::Hbm memory{"hbm", machine, clock};
    tlm::tlm_response_status status = tlm::TLM_INCOMPLETE_RESPONSE;
};

machine::MachineConfig of_bandwidth(double gb_per_s, double efficiency) {
    machine::MachineConfig machine = tests::small_core();
    machine.hbm.bandwidth_gb_per_s = gb_per_s;  // at 500 MHz: 2 bytes a cycle for each GB/s
    machine.hbm.efficiency = efficiency;
    return machine;
}

}  // namespace

TEST_CASE("Transactions follow each other at the exact rate of bandwidth and efficiency", "[hw][hbm]") {
    HbmBench bench(of_bandwidth(5, 0.6));  // 6 bytes a cycle
    std::vector<std::uint8_t> bytes(16);
    bench.process([&] {
        bench.at(10);
        CHECK(bench.time(tlm::TLM_READ_COMMAND, 0, bytes) == 2);   // 2.67 cycles
        CHECK(bench.time(tlm::TLM_WRITE_COMMAND, 0, bytes) == 5);  // 5.33, behind the first
        CHECK(bench.time(tlm::TLM_READ_COMMAND, 64, bytes) == 8);
        bench.at(100);
        CHECK(bench.time(tlm::TLM_READ_COMMAND, 0, bytes) == 2);
    });
    bench.run();
    CHECK(bench.counter(bench.memory, "hbm.read_bytes").value() == 48);
    CHECK(bench.counter(bench.memory, "hbm.written_bytes").value() == 16);
}

TEST_CASE("A transaction with a data pointer moves bytes, and direct access sees them", "[hw][hbm]") {
    HbmBench bench(of_bandwidth(10, 1));
    std::vector<std::uint8_t> bytes{1, 2, 3, 4};
    std::vector<std::uint8_t> back(4);
    bench.process([&] {
        bench.time(tlm::TLM_WRITE_COMMAND, 20, bytes, true);
        CHECK(bench.status == tlm::TLM_OK_RESPONSE);
        bench.time(tlm::TLM_READ_COMMAND, 20, back, true);
    });
    bench.run();
    CHECK(back == bytes);
    tlm::tlm_generic_payload payload;
    tlm::tlm_dmi access;
    REQUIRE(bench.initiator.socket->get_direct_mem_ptr(payload, access));
    CHECK(access.is_read_write_allowed());
    CHECK(access.get_dmi_ptr()[20] == 1);
    CHECK(bench.memory.part(0).from_row(1)[1] == 0x04030201);  // rows of 16 bytes
}

TEST_CASE("A transaction that ends behind the memory is an address error", "[hw][hbm]") {
    HbmBench bench(of_bandwidth(10, 1));
    std::vector<std::uint8_t> bytes(4);
    bench.process([&] {
        bench.time(tlm::TLM_READ_COMMAND, bench.machine.hbm.bytes - 4, bytes);
        CHECK(bench.status == tlm::TLM_OK_RESPONSE);
        bench.time(tlm::TLM_READ_COMMAND, bench.machine.hbm.bytes - 3, bytes);
        CHECK(bench.status == tlm::TLM_ADDRESS_ERROR_RESPONSE);
    });
    bench.run();
}
