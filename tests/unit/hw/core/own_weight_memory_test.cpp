// A weight memory of the caller's in place of the chip's own.
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "hw/isa/assembly.h"
#include "hw/machine/unit_description.h"
#include "hw/system/system.h"
#include "hw/timing/transfers.h"
#include "hw/weight_memory/memory_timing.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/mixing_host.h"
#include "tests/support/random_program/observe.h"
#include "tests/support/random_program/random_case.h"
#include "tests/support/random_program/synchronize.h"
#include "tests/support/random_runs.h"

using namespace systole;

namespace {

/// A memory of 1 byte a cycle after its latency, as the chip's own; it can fail. What direct access to it
/// would show are other values, which it takes back with every read.
class OwnMemory final : public sc_core::sc_module {
public:
    OwnMemory(const sc_core::sc_module_name& name, std::size_t bytes, bool is_direct)
        : sc_module(name), bytes_(bytes, not_written), other_bytes_(bytes, 0x2a), is_direct_(is_direct) {
        socket.register_transport_dbg(this, &OwnMemory::load);
        socket.register_b_transport(this, &OwnMemory::read);
        socket.register_get_direct_mem_ptr(this, &OwnMemory::grant);
    }

    tlm_utils::simple_target_socket<OwnMemory> socket{"socket"};
    bool fails = false;

    /// What a byte holds that the core has not written.
    static constexpr unsigned char not_written = 0x55;
    const std::vector<unsigned char>& bytes() const { return bytes_; }

private:
    unsigned load(tlm::tlm_generic_payload& tile) {
        if (!tile.is_write() || tile.get_address() + tile.get_data_length() > bytes_.size()) return 0;
        std::copy_n(tile.get_data_ptr(), tile.get_data_length(), bytes_.data() + tile.get_address());
        return tile.get_data_length();
    }
    void read(tlm::tlm_generic_payload& tile, sc_core::sc_time& delay) {
        if (tile.get_data_ptr() != nullptr) {
            std::copy_n(bytes_.data() + tile.get_address(), tile.get_data_length(), tile.get_data_ptr());
        }
        const sc_core::sc_time now = sc_core::sc_time_stamp();
        free_ = std::max(free_, now + delay + sc_core::sc_time(latency, sc_core::SC_NS)) +
                sc_core::sc_time(tile.get_data_length(), sc_core::SC_NS);
        delay = free_ - now;
        if (is_direct_) socket->invalidate_direct_mem_ptr(0, bytes_.size() - 1);
        tile.set_response_status(fails ? tlm::TLM_GENERIC_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE);
    }
    bool grant(tlm::tlm_generic_payload&, tlm::tlm_dmi& access) {
        access.allow_read();
        access.set_dmi_ptr(other_bytes_.data());
        access.set_start_address(0);
        access.set_end_address(bytes_.size() - 1);
        return is_direct_;
    }

    static constexpr double latency = 20;
    std::vector<unsigned char> bytes_;
    std::vector<unsigned char> other_bytes_;
    const bool is_direct_;
    sc_core::sc_time free_;
};

/// Multiplies a row of four elements, four times, with tiles of 4 x 4 and of 4 x 3.
const std::string four_products =
    ".array 4 4\n"
    ".buffer in constant 0 16\n .int8 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"
    ".buffer parameters constant 16 36\n .int32 4*0 4*0x40000000\n .int8 4*1\n"
    ".buffer out output 64 4\n"
    ".tile 4 4\n .int8 1 0 0 0  0 1 0 0  0 0 1 0  0 0 0 1\n"
    ".tile 4 4 fill 2; .tile 4 3 fill -1; .tile 4 4 fill -2\n"
    "set activation.columns 4; set activation.pixel_bytes 4; set activation.outputs_per_image 1\n"
    "set activation.parameters_row 8; set output.minimum -128; set output.maximum 127\n"
    "read_weights tile=0 count=4\n"
    "read_host in ub=0 block=16; read_host parameters ub=8 block=36; sync.signal host_read sem=0\n"
    "sync.wait matrix sem=0; matmul ub=0 acc=0 rows=1 repeat=3; sync.signal matrix sem=1\n"
    "sync.wait activation sem=1; activate ub=20 acc=0 rows=1 load; sync.signal activation sem=2\n"
    "sync.wait host_write sem=2; write_host out ub=20 block=4\n"
    "halt\n";

struct Result {
    Cycle cycles = 0;
    std::vector<std::uint8_t> out;

    bool operator==(const Result&) const = default;
};

machine::MachineConfig byte_a_cycle() {
    machine::MachineConfig machine;
    machine.matrix_unit.rows = machine.matrix_unit.columns = 4;
    machine.clock_mhz = 1000;
    machine.weight_memory.bandwidth_gb_per_s = 1;  // 1 byte a cycle
    machine.weight_memory.latency_cycles = 20;
    return machine;
}

Result run_on(tlm::tlm_target_socket<>* memory, hw::Values values = hw::Values::Computed,
              const std::string& text = four_products) {
    const isa::Program program = isa::assemble(text, "test");
    hw::SystemOptions options;
    options.values = values;
    options.weight_memory = memory;
    hw::System system("system", byte_a_cycle(), program, options);
    system.run();
    if (values == hw::Values::TimingOnly) return {.cycles = system.cycles(), .out = {}};
    const auto out = system.host_bytes(program.buffers.back());
    return {.cycles = system.cycles(), .out = {out.begin(), out.end()}};
}

Result run_with_own(bool is_direct, hw::Values values = hw::Values::Computed) {
    const tests::FreshSimulation simulation;
    OwnMemory memory("memory", 64, is_direct);
    return run_on(&memory.socket, values);
}

/// The bytes of a random machine's weight memory, with its timing.
class MemoryOf final : public sc_core::sc_module {
public:
    MemoryOf(const sc_core::sc_module_name& name, const machine::MachineConfig& machine)
        : sc_module(name),
          timing_(hw::make_memory_timing(machine)),
          cycle_(1, sc_core::SC_NS),
          most_bytes_(machine.weight_memory.bytes) {
        socket.register_transport_dbg(this, &MemoryOf::load);
        socket.register_b_transport(this, &MemoryOf::read);
    }

    tlm_utils::simple_target_socket<MemoryOf> socket{"socket"};

private:
    unsigned load(tlm::tlm_generic_payload& tile) {
        const std::uint64_t end = tile.get_address() + tile.get_data_length();
        if (end > most_bytes_) return 0;
        if (bytes_.size() < end) bytes_.resize(end);
        std::copy_n(tile.get_data_ptr(), tile.get_data_length(), bytes_.data() + tile.get_address());
        return tile.get_data_length();
    }
    void read(tlm::tlm_generic_payload& tile, sc_core::sc_time& delay) {
        const std::uint64_t begin = tile.get_address();
        if (tile.get_data_ptr() != nullptr) {
            bytes_.resize(std::max<std::size_t>(bytes_.size(), begin + tile.get_data_length()));
            std::copy_n(bytes_.data() + begin, tile.get_data_length(), tile.get_data_ptr());
        }
        const auto cycle = [&](const sc_core::sc_time& time) { return time.value() / cycle_.value(); };
        const Cycle now = cycle(sc_core::sc_time_stamp());
        const Cycle done = timing_->read(begin, tile.get_data_length(), now + cycle(delay), 0);
        delay = static_cast<double>(done - now) * cycle_;
        tile.set_response_status(tlm::TLM_OK_RESPONSE);
    }

    std::unique_ptr<hw::MemoryTiming> timing_;
    const sc_core::sc_time cycle_;
    const std::uint64_t most_bytes_;
    std::vector<unsigned char> bytes_;
};

Result run_without(hw::Values values = hw::Values::Computed) {
    const tests::FreshSimulation simulation;
    return run_on(nullptr, values);
}

}  // namespace

TEST_CASE("A weight memory of the caller's that is as fast as the chip's own gives the same cycles and bits",
          "[hw][core]") {
    const Result chips_own = run_without();
    const auto signed_byte = [&](std::size_t i) {
        return int{static_cast<std::int8_t>(chips_own.out.at(i))};
    };
    CHECK(signed_byte(0) == 1 + 2 * 26 - 42 - 2 * 58 + 0);
    CHECK(signed_byte(3) == 4 + 2 * 26 - 2 * 58);
    CHECK(run_with_own(false) == chips_own);
    CHECK(run_with_own(true) == chips_own);
}

TEST_CASE("The core writes the last tile whole, although it has fewer rows than the array", "[hw][core]") {
    std::string text = four_products;
    const std::string last = ".tile 4 4 fill -2";
    text.replace(text.find(last), last.size(), ".tile 3 4 fill -2");
    const auto chips_own = [&] {
        const tests::FreshSimulation simulation;
        return run_on(nullptr, hw::Values::Computed, text);
    }();
    const tests::FreshSimulation simulation;
    OwnMemory memory("memory", 80, false);
    CHECK(run_on(&memory.socket, hw::Values::Computed, text) == chips_own);
    const std::vector<unsigned char> fourth_tile(memory.bytes().begin() + 48, memory.bytes().end());
    std::vector<unsigned char> expected(12, 0xfe);
    expected.resize(16, 0);  // the row that the tile does not have
    expected.resize(32, OwnMemory::not_written);
    CHECK(fourth_tile == expected);
}

TEST_CASE("A run without values asks the caller's memory for times only", "[hw][core]") {
    CHECK(run_with_own(false, hw::Values::TimingOnly) == run_without(hw::Values::TimingOnly));
}

TEST_CASE("The bound of weight memory is of the bytes that reached the array; the chip's DRAM counts clocks",
          "[hw][core]") {
    const auto bounds_of = [](tlm::tlm_target_socket<>* memory, const machine::MachineConfig& machine) {
        const isa::Program program = isa::assemble(four_products, "test");
        hw::SystemOptions options;
        options.weight_memory = memory;
        hw::System system("system", machine, program, options);
        system.run();
        std::vector<Cycle> found;
        for (const machine::Bound& bound : system.bounds()) {
            if (bound.name == "weight_memory") found.push_back(bound.run);
        }
        return found;
    };
    machine::MachineConfig machine = byte_a_cycle();
    const auto with_own = [&] {
        const tests::FreshSimulation simulation;
        OwnMemory memory("memory", 64, false);
        return bounds_of(&memory.socket, machine);
    };
    const auto with_chips = [&] {
        const tests::FreshSimulation simulation;
        return bounds_of(nullptr, machine);
    };
    // Four tiles of 16 bytes are fetched; three shift in, and the fourth into the shadow plane.
    CHECK(with_own() == std::vector<Cycle>{4 * 16});
    CHECK(with_chips() == std::vector<Cycle>{4 * 16});
    machine.weight_memory.model = machine::WeightMemoryModel::Dram;
    machine.weight_memory.dram = {};
    const Cycle at_the_most = timing::weight_read_cycles(4 * 16, machine);
    CHECK(with_own() == std::vector<Cycle>{at_the_most});
    REQUIRE(with_chips().size() == 1);
    CHECK(with_chips().front() > at_the_most);  // it opens rows
}

TEST_CASE("A weight memory that fails is an error that names the address", "[hw][core]") {
    const tests::FreshSimulation simulation;
    OwnMemory memory("memory", 64, false);
    memory.fails = true;
    CHECK_THROWS_WITH(run_on(&memory.socket),
                      "weight memory: reading 16 bytes at address 0 gives TLM_GENERIC_ERROR_RESPONSE");
}

TEST_CASE("A weight memory that does not take the weights is an error", "[hw][core]") {
    const tests::FreshSimulation simulation;
    OwnMemory memory("memory", 40, false);
    CHECK_THROWS_WITH(run_on(&memory.socket),
                      "weight memory: transport_dbg wrote 0 of 16 bytes at address 32");
}

TEST_CASE("Random programs give the same cycles and bits with a memory of the caller's", "[hw][core]") {
    constexpr std::uint64_t first_seed = 340000;
    std::size_t read = 0;
    for (std::uint64_t seed = first_seed; seed < first_seed + tests::random_runs(200); ++seed) {
        tests::Choices choices(seed);
        const tests::Case random = tests::random_case(choices);
        if (random.machine.weight_memory.writable) continue;  // such programs write it
        const isa::Program program = tests::synchronized(random);
        const machine::Engine engine = random.machine.matrix_unit.engine;
        CAPTURE(seed);
        const tests::Observation chips_own = tests::observe(program, random.machine, engine);
        REQUIRE(chips_own.error.empty());
        const tests::FreshSimulation simulation;
        MemoryOf memory("memory", random.machine);
        hw::SystemOptions options;
        options.weight_memory = &memory.socket;
        options.host = &tests::mixing_host();
        hw::System system("system", random.machine, program, options);
        system.run();
        read += system.counter("weight_fifo.tiles").value();
        CHECK(system.cycles() == chips_own.cycles);
        for (std::size_t i = 0; i < program.buffers.size(); ++i) {
            const auto bytes = system.host_bytes(program.buffers[i]);
            CHECK(std::equal(bytes.begin(), bytes.end(), chips_own.memories.host[i].begin(),
                             chips_own.memories.host[i].end()));
        }
        const std::vector<std::int32_t>& expected = chips_own.memories.accumulators;
        const std::int32_t* const sums =
            system.tpu_v1_core().accumulators().read(0, random.machine.accumulators.rows);
        CHECK(std::equal(expected.begin(), expected.end(), sums));
    }
    CHECK(read >= tests::random_share(500));
}
