// Systems of several cores: docs/timing.md, "Several cores".
#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "hw/isa/assembly.h"
#include "hw/isa/program_error.h"
#include "hw/system/system.h"
#include "sim/functional/executor.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/random_program/random_system.h"
#include "tests/support/random_runs.h"
#include "tests/support/sanitizers.h"

using namespace systole;
using Catch::Matchers::Contains;

namespace {

constexpr std::uint32_t systems_a_part = tests::is_instrumented ? 20 : 60;

std::function<unsigned()> shuffled(std::uint64_t seed) {
    return [random = std::mt19937(static_cast<std::uint32_t>(seed))]() mutable {
        const auto drawn = static_cast<unsigned>(random());
        return drawn % 8 == 0 ? drawn / 8 % 9 : drawn / 8 % 3;
    };
}

bool is_partition(const tests::SystemObservation& run, std::size_t core, std::size_t cores,
                  const std::string& unit) {
    const std::string path = (cores == 1 ? "" : "core" + std::to_string(core) + ".") + unit + ".";
    std::uint64_t cycles = 0;
    for (const tests::CounterReading& each : run.counters) {
        const bool is_of_unit = each.name.starts_with(path) && each.name.ends_with("_cycles");
        if (is_of_unit && each.name.find('.', path.size()) == std::string::npos) cycles += each.value;
    }
    return cycles == *std::ranges::max_element(run.cycles);
}

/// Random systems: both engines, calm and shuffled, give the same; values are those of sim/functional; each
/// unit's cycles sum to the run's; without a wait between two cores, the race is named with both.
void check_systems(std::uint64_t first_seed) {
    std::size_t checked = 0, races = 0;
    for (std::uint64_t seed = first_seed; seed < first_seed + tests::random_runs(systems_a_part); ++seed) {
        CAPTURE(seed);
        tests::Choices choices(seed);
        const auto random = tests::random_system(choices);
        if (!random) continue;
        const tests::SystemObservation run = tests::observe(*random, machine::Engine::Wavefront);
        REQUIRE(run.error == "");
        ++checked;
        const auto same = [&](const std::string& how, const tests::SystemObservation& other) {
            const auto differs = tests::difference(run, other);
            INFO(how << ": " << differs.value_or(""));
            CHECK_FALSE(differs);
        };
        same("shuffled", tests::observe(*random, machine::Engine::Wavefront, shuffled(seed)));
        same("pe", tests::observe(*random, machine::Engine::Pe));
        same("pe, shuffled", tests::observe(*random, machine::Engine::Pe, shuffled(seed + 1)));
        const std::vector<tests::Memories> expected = tests::execute(*random);
        for (std::size_t core = 0; core < expected.size(); ++core) {
            const auto differs = tests::difference(expected[core], run.memories[core]);
            INFO(differs.value_or(""));
            CHECK_FALSE(differs);
            for (const char* unit : {"sequencer", "host_read", "host_write", "weight_fifo"}) {
                CHECK(is_partition(run, core, expected.size(), unit));
            }
        }
        for (std::size_t i = 0; i < random->handovers.size(); ++i) {
            const tests::Handover& each = random->handovers[i];
            const tests::SystemCase wrong = tests::without_wait(*random, i);
            const tests::SystemObservation failed = tests::observe(wrong, machine::Engine::Wavefront);
            CHECK_THAT(failed.error,
                       Contains("instruction " + std::to_string(each.write) + " (write_host") &&
                           Contains("instruction " + std::to_string(each.read) + " (read_host"));
            CHECK_THAT(failed.error, Contains("both touch host bytes"));
            CHECK(tests::observe(wrong, machine::Engine::Wavefront, shuffled(seed)).error == failed.error);
            ++races;
        }
    }
    CHECK(checked >= tests::random_share(systems_a_part * 9 / 10));
    CHECK(races >= tests::random_share(systems_a_part));
}

}  // namespace

// One process each, so that they run side by side.
TEST_CASE("Engines, process orders and sim/functional agree on random systems, part 1", "[hw][system]") {
    check_systems(200000);
}
TEST_CASE("Engines, process orders and sim/functional agree on random systems, part 2", "[hw][system]") {
    check_systems(210000);
}

namespace {

/// Two cores of a machine whose link moves 4 bytes a cycle in each direction, and arrives 3 cycles later.
machine::MachineConfig two_core_machine() {
    machine::MachineConfig machine;
    machine.matrix_unit.rows = machine.matrix_unit.columns = 4;
    machine.unified_buffer.rows = 64;
    machine.accumulators.rows = 32;
    machine.clock_mhz = 1000;
    machine.host_interface.read_gb_per_s = machine.host_interface.write_gb_per_s = 4.0;
    machine.host_interface.latency_cycles = 3;
    return machine;
}

struct TwoCores {
    explicit TwoCores(const std::string& first, const std::string& second,
                      const machine::MachineConfig& machine = two_core_machine())
        : programs{isa::assemble(first, "first"), isa::assemble(second, "second")},
          system("system", machine, hw::Programs{&programs[0], &programs[1]}, {.test_delta_delay = {}}) {}

    std::uint64_t count(const std::string& path) const { return system.counter(path).value(); }

    tests::FreshSimulation simulation;
    std::vector<isa::Program> programs;
    hw::System system;
};

const std::string reads_40_bytes =
    ".array 4 4\n.buffer in constant 0x1000 40 fill 1\nread_host in ub=0 block=40\nhalt\n";
const std::string reads_80_bytes =
    ".array 4 4\n.buffer in constant 0x2000 80 fill 2\nread_host in ub=0 block=80\nhalt\n";

std::string error_of(const std::string& first, const std::string& second) {
    try {
        TwoCores cores(first, second);
        cores.system.run();
    } catch (const isa::ProgramError& error) {
        return error.what();
    }
    return "no error";
}

}  // namespace

TEST_CASE("Transfers of two cores take turns on the link, by index of the core", "[hw][system]") {
    TwoCores cores(reads_40_bytes, reads_80_bytes);
    cores.system.run();
    // Four instructions of 15 and 1 bytes have left the host at 3.75, 4, 7.75 and 8: core 0 asks for the link
    // in cycle 3 + 3, core 1 in cycle 7 + 3. The data of core 0 leave from 8 to 18, those of core 1 behind.
    CHECK(cores.count("core0.host_read.link_stall_cycles") == 0);
    CHECK(cores.count("core0.host_read.busy_cycles") == 18 - 6);
    CHECK(cores.count("core1.host_read.link_stall_cycles") == 18 - 10);
    CHECK(cores.count("core1.host_read.busy_cycles") == 38 - 18);
    CHECK(cores.system.core(0).end() == 18 + 3);
    CHECK(cores.system.core(1).end() == 38 + 3);
    CHECK(cores.system.cycles() == cores.system.core(1).end());
}

TEST_CASE("A core waits for a semaphore that another core signals", "[hw][system]") {
    const std::string buffer = ".array 4 4\n.buffer shared output 0x9000 4\n";
    TwoCores cores(buffer +
                       ".unified_buffer 0 4; .int8 1 2 3 4\nwrite_host shared ub=0 block=4\n"
                       "sync.signal host_write sem=128\nhalt\n",
                   buffer + "sync.wait host_read sem=128\nread_host shared ub=5 block=4\nhalt\n");
    cores.system.run();
    const std::uint8_t* const row = cores.system.tpu_v1_core(1).unified_buffer().read(5, 1);
    CHECK(std::vector<int>(row, row + 4) == std::vector<int>{1, 2, 3, 4});
    CHECK(cores.count("core1.host_read.sync_cycles") > 0);
}

TEST_CASE("Every counter that a unit names in its description is there, of one core and of several",
          "[hw][system]") {
    const std::size_t cores = GENERATE(std::size_t{1}, std::size_t{2});
    const tests::FreshSimulation simulation;
    machine::MachineConfig machine = two_core_machine();
    machine.energy.emplace();
    const isa::Program halt = isa::assemble(".array " + std::to_string(machine.matrix_unit.rows) + " " +
                                                std::to_string(machine.matrix_unit.columns) + "\nhalt\n",
                                            "halt");
    const hw::System system("system", machine, hw::Programs(cores, &halt), {.test_delta_delay = {}});
    std::vector<std::string> named;
    for (const machine::UnitDescription& unit : system.descriptions()) {
        for (const machine::EnergyRow& row : unit.energy) named.push_back(row.counter);
        for (const machine::DataPath& path : unit.paths) {
            named.insert(named.end(), path.counters.begin(), path.counters.end());
        }
        for (const machine::CycleCause& cause : unit.causes) {
            named.insert(named.end(), cause.counters.begin(), cause.counters.end());
        }
        if (unit.box && !unit.box->busy_counter.empty()) named.push_back(unit.box->busy_counter);
    }
    CHECK(named.size() > 50);
    for (const std::string& counter : named) {
        CAPTURE(counter);
        for (std::size_t core = 0; core < cores; ++core) {
            // The cores share the weight memory.
            const bool is_alone = cores == 1 || counter.starts_with("weight_memory.");
            CHECK_NOTHROW(system.counter((is_alone ? "" : "core" + std::to_string(core) + ".") + counter));
        }
    }
}

TEST_CASE("Of several cores, a bound is that of the slowest, and of a shared link that of all",
          "[hw][system]") {
    TwoCores cores(reads_40_bytes, reads_80_bytes, two_core_machine());
    cores.system.run();
    std::vector<std::string> names;
    for (const machine::Bound& bound : cores.system.bounds()) {
        names.push_back(bound.name);
        // 40 and 80 bytes, two instructions each of 16 bytes in all; 4 bytes a cycle.
        if (bound.name == "host_link") CHECK(bound.run == (40 + 16 + 80 + 16) / 4);
    }
    CHECK(names ==
          std::vector<std::string>{"array", "data_setup", "weight_memory", "host_link", "activation"});
}

TEST_CASE("Every core's cycles are counted up to the end of the run", "[hw][system]") {
    TwoCores cores(reads_40_bytes, reads_80_bytes);
    cores.system.run();
    REQUIRE(cores.system.core(0).end() < cores.system.core(1).end());
    for (const char* const core : {"core0.", "core1."}) {
        for (const char* const unit : {"sequencer.", "host_read.", "activation_unit."}) {
            std::uint64_t cycles = 0;
            for (const auto& [path, group] : cores.system.counters()) {
                if (path + "." != std::string(core) + unit) continue;
                for (const hw::Counter& counter : *group) {
                    if (counter.unit() == hw::CounterUnit::Cycles) cycles += counter.value();
                }
            }
            CAPTURE(core, unit);
            CHECK(cycles == cores.system.cycles());
        }
        CHECK(cores.count(std::string(core) + "matrix_unit.non_matrix_cycles") == cores.system.cycles());
    }
}

TEST_CASE("Two cores that touch a byte in no order are a race, named with both instructions",
          "[hw][system]") {
    const std::string buffer = ".array 4 4\n.buffer shared output 0x9000 8\n";
    CHECK(error_of(buffer + "write_host shared ub=0 block=6\nhalt\n",
                   buffer + "nop\nread_host shared+4 ub=5 block=4\nhalt\n") ==
          "instruction 0 (write_host 0x9000 ub=0 block=6) of core 0 and instruction 1 (read_host "
          "0x9004 ub=5 block=4) of core 1 both touch host bytes 36868 to 36869, and nothing orders them; a "
          "semaphore of the system is missing");
    // Two readers, and bytes beside each other.
    CHECK(error_of(buffer + "read_host shared ub=0 block=6\nhalt\n",
                   buffer + "read_host shared+4 ub=5 block=4\nhalt\n") == "no error");
    CHECK(error_of(buffer + "write_host shared ub=0 block=4\nhalt\n",
                   buffer + "write_host shared+4 ub=5 block=4\nhalt\n") == "no error");
}

TEST_CASE("What is wrong in one of several programs names its core", "[hw][system]") {
    const std::string head = ".array 4 4\n";
    CHECK_THAT(error_of(head + "halt\n", head + "nop\n"),
               Contains("core1: ") && Contains("the program ends without halt"));
    CHECK_THAT(error_of(head + "halt\n", head + "sync.wait matrix sem=200\nhalt\n"),
               Contains("core1: ") && Contains("for semaphore 200 of the system"));
    CHECK_THAT(error_of(head + "sync.wait matrix sem=3\nhalt\n", head + "sync.signal weights sem=3\nhalt\n"),
               Contains("core0: ") && Contains("semaphore 3, which no instruction signals"));
    CHECK_THAT(
        error_of(".array 4 4\n.buffer a output 0 8\nhalt\n", ".array 4 4\n.buffer b output 4 8\nhalt\n"),
        Contains("host buffer b") && Contains("another core's program"));
    CHECK_THAT(error_of(head + "halt\n", ".array 4 5\nhalt\n"), Contains("made for an array of 4 x 5"));
}

TEST_CASE("The functional executor names the core that waits in vain", "[hw][system]") {
    const isa::Program halts = isa::assemble(".array 4 4\nhalt\n", "first");
    const isa::Program waits = isa::assemble(".array 4 4\nsync.wait matrix sem=200\nhalt\n", "second");
    functional::Executor executor(functional::Executor::Programs{&halts, &waits}, two_core_machine());
    CHECK_THROWS_WITH(executor.run(), Contains("core1: instruction 0") && Contains("no core signals"));
}

TEST_CASE("Buffers of two programs that overlap, or of which one is constant, are refused in every model",
          "[hw][system]") {
    const std::string output = ".array 4 4\n.buffer a output 0 8\nhalt\n";
    const std::string constant = ".array 4 4\n.buffer b constant 0 8 fill 1\nhalt\n";
    const std::string shorter = ".array 4 4\n.buffer c output 0 4\nhalt\n";
    const std::string around = ".array 4 4\n.buffer d constant 0 32 fill 1\nhalt\n";
    const auto executor_error = [](const std::string& first, const std::string& second) -> std::string {
        const isa::Program one = isa::assemble(first, "first");
        const isa::Program other = isa::assemble(second, "second");
        try {
            functional::Executor(functional::Executor::Programs{&one, &other}, two_core_machine()).run();
        } catch (const isa::ProgramError& error) {
            return error.what();
        }
        return "no error";
    };
    CHECK(error_of(output, output) == "no error");
    CHECK(executor_error(output, output) == "no error");
    for (const auto& [first, second] : std::vector<std::pair<std::string, std::string>>{
             {output, constant}, {constant, output}, {output, shorter}, {output, around}}) {
        CAPTURE(first, second);
        CHECK_THAT(error_of(first, second), Contains("another core's program"));
        CHECK_THAT(executor_error(first, second), Contains("another core's program"));
    }
}

TEST_CASE("A system has 1 to 8 cores", "[hw][system]") {
    const isa::Program halts = isa::assemble(".array 4 4\nhalt\n", "halts");
    const auto run = [&](std::size_t cores) {
        const tests::FreshSimulation simulation;
        hw::System system("system", two_core_machine(), hw::Programs(cores, &halts),
                          {.test_delta_delay = {}});
        system.run();
    };
    CHECK_NOTHROW(run(8));
    CHECK_THROWS_WITH(run(9), "there are 9 programs; a system has 1 to 8 cores, with one each");
    CHECK_THROWS_AS(run(0), isa::ProgramError);
}

namespace {

/// Cores with 16 bytes a row, whose chip's memory moves as many in a cycle.
machine::MachineConfig tensor_machine(std::uint32_t chips, std::uint32_t cores) {
    machine::MachineConfig machine;
    machine.name = "small";
    machine.family = machine::Family::TensorCore;
    machine.clock_mhz = 1000;
    machine.system = {.chips = chips, .cores = cores};
    machine.matrix_unit.rows = machine.matrix_unit.columns = 4;
    machine.matrix_unit.formats = machine::float_array_formats();
    machine.vector_unit.lanes = 4;
    machine.vector_memory.rows = 64;
    machine.hbm.bytes = 64 * machine.vector_row_bytes() * cores;
    machine.hbm.bandwidth_gb_per_s = 16;
    machine.host_interface.read_gb_per_s = machine.host_interface.write_gb_per_s = 16;
    machine.sequencer.issue_cycles = 0;
    return machine;
}

/// A program that all cores of a machine run.
struct TensorCores {
    TensorCores(std::uint32_t chips, std::uint32_t cores, const std::string& text)
        : program(isa::assemble(".tensor_core 4 4 lanes=4\n" + text, "program")),
          system("system", tensor_machine(chips, cores), program, {.test_delta_delay = {}}) {
        system.run();
    }

    std::uint64_t count(const std::string& path) const { return system.counter(path).value(); }

    tests::FreshSimulation simulation;
    isa::Program program;
    hw::System system;
};

const std::string reads_four_rows = "dma_in hbm=0 at=0 rows=4\nhalt\n";

}  // namespace

TEST_CASE("Two tensor cores share the memory of their chip", "[hw][system]") {
    const Cycle alone = TensorCores(1, 1, reads_four_rows).system.cycles();
    const TensorCores cores(1, 2, reads_four_rows);
    // Both ask in one cycle: a transfer takes 4 cycles, and a request one.
    CHECK(cores.count("core0.dma_in.hbm_cycles") == 1);
    CHECK(cores.count("core0.dma_in.busy_cycles") == 4);
    CHECK(cores.count("core1.dma_in.hbm_cycles") == 1 + 4);
    CHECK(cores.count("core1.dma_in.busy_cycles") == 4);
    CHECK(cores.count("hbm.read_bytes") == 2 * 4 * 16);
    // Instructions leave the host two cycles after they were asked for.
    CHECK(cores.system.core(0).end() == alone + 2);
    CHECK(cores.system.core(1).end() == alone + 2 + 4);
    // Chips do not wait for each other.
    const TensorCores chips(2, 1, reads_four_rows);
    CHECK(chips.count("chip1.dma_in.hbm_cycles") == 1);
    CHECK(chips.count("chip1.hbm.read_bytes") == 4 * 16);
    CHECK(chips.system.cycles() == alone);
}

TEST_CASE("Cores that run one program find their own parts of the data", "[hw][system]") {
    TensorCores cores(2, 2,
                      ".buffer in constant 0 64\n  .int32 10 11 12 13 20 21 22 23 30 31 32 33 40 41 42 43\n"
                      ".buffer out output 256 64\n"
                      "set host.core_bytes 16\n"
                      "infeed in hbm=3 rows=1 columns=4\n"
                      "sync.signal host_read sem=0; sync.wait dma_in sem=0\n"
                      "dma_in hbm=3 at=1 rows=1\n"
                      "sync.signal dma_in sem=1; sync.wait dma_out sem=1\n"
                      "dma_out hbm=9 at=1 rows=1\n"
                      "sync.signal dma_out sem=2; sync.wait host_write sem=2\n"
                      "outfeed out hbm=9 rows=1 columns=4\n"
                      "halt\n");
    const auto bytes = cores.system.host_bytes(cores.program.buffers[1]);
    CHECK(std::vector<std::uint8_t>(bytes.begin(), bytes.end()) == cores.program.buffers[0].contents);
    for (std::size_t core = 0; core < 4; ++core) {
        CHECK(cores.system.tensor_core(core).vector_memory()[4] == (core + 1) * 10);
        CHECK(cores.system.tensor_core(core).hbm().size() == 64 * 4);
        CHECK(cores.system.tensor_core(core).hbm()[9 * 4 + 3] == (core + 1) * 10 + 3);
    }
}

TEST_CASE("A sum over four cores goes up the chain and back", "[hw][system]") {
    machine::MachineConfig machine = tensor_machine(2, 2);
    machine.interconnect = {.gb_per_s = 4, .chunk_bytes = 8, .latency_cycles = 1};
    const tests::FreshSimulation simulation;
    const isa::Program program = isa::assemble(
        ".tensor_core 4 4 lanes=4\n.buffer in constant 0 64\n"
        // 1 2 3 4, 1e8 20 30 40, 1 200 300 400, -1e8 2000 3000 4000
        "  .int32 1065353216 1073741824 1077936128 1082130432\n"
        "  .int32 1287568416 1101004800 1106247680 1109393408\n"
        "  .int32 1065353216 1128792064 1133903872 1137180672\n"
        "  .int32 -859915232 1157234688 1161527296 1165623296\n"
        "set host.core_bytes 16\ninfeed in hbm=0 rows=1 columns=4\n"
        "sync.signal host_read sem=0; sync.wait dma_in sem=0\ndma_in hbm=0 at=1 rows=1\n"
        "sync.signal dma_in sem=1; sync.wait collective sem=1\n"
        "collective all_reduce cores=4 dst=8 src=1 rows=1\nhalt\n",
        "program");
    hw::System system("system", machine, program, {.test_delta_delay = {}});
    system.run();
    for (std::size_t core = 0; core < 4; ++core) {
        CAPTURE(core);
        const auto words = system.tensor_core(core).vector_memory().subspan(8 * 4, 4);
        // In the order of the cores, 1e8 takes both ones with it.
        CHECK(std::bit_cast<float>(words[0]) == 0.0F);
        CHECK(std::bit_cast<float>(words[3]) == 4444.0F);
        const std::string unit =
            "chip" + std::to_string(core / 2) + ".core" + std::to_string(core % 2) + ".collective_unit.";
        const std::uint64_t links = 3 + (3 - core);
        CHECK(system.counter(unit + "busy_cycles").value() == (16 + (links - 1) * 8) / 4 + links);
        CHECK(system.counter(unit + "sent_bytes").value() == (core == 0 || core == 3 ? 16 : 32));
    }
}

TEST_CASE("Each core gets its own rows of a collective", "[hw][system]") {
    // Word `word` of row `row` of a core.
    const auto given = [](std::size_t core, std::size_t row, std::size_t word) {
        return static_cast<float>(1000 * core + 10 * row + word + 1);
    };
    std::string words;
    for (std::size_t i = 0; i < 64; ++i)
        words += " " + std::to_string(std::bit_cast<std::int32_t>(given(i / 16, i / 4 % 4, i % 4)));
    const tests::FreshSimulation simulation;
    const isa::Program program =
        isa::assemble(".tensor_core 4 4 lanes=4\n.buffer in constant 0 256\n.int32" + words +
                          "\nset host.core_bytes 64\ninfeed in hbm=0 rows=4 columns=4\n"
                          "sync.signal host_read sem=0; sync.wait dma_in sem=0\ndma_in hbm=0 at=0 rows=4\n"
                          "sync.signal dma_in sem=1; sync.wait collective sem=1\n"
                          "collective all_reduce cores=4 dst=10 src=1 rows=2\n"
                          "collective reduce_scatter cores=4 dst=20 src=0 rows=1\n"
                          "collective all_gather cores=4 dst=30 src=2 rows=2\n"
                          "collective broadcast cores=4 dst=40 src=1 rows=3\nhalt\n",
                      "program");
    const machine::MachineConfig machine = tensor_machine(2, 2);
    hw::System system("system", machine, program, {.test_delta_delay = {}});
    system.run();
    const auto sum_of = [&](std::size_t row, std::size_t word) {
        return given(0, row, word) + given(1, row, word) + given(2, row, word) + given(3, row, word);
    };
    for (std::size_t core = 0; core < 4; ++core) {
        const auto found = [&](std::size_t row, std::size_t word) {
            return std::bit_cast<float>(system.tensor_core(core).vector_memory()[row * 4 + word]);
        };
        for (std::size_t word = 0; word < 4; ++word) {
            CAPTURE(core, word);
            for (std::size_t i = 0; i < 2; ++i) CHECK(found(10 + i, word) == sum_of(1 + i, word));
            CHECK(found(20, word) == sum_of(core, word));
            for (std::size_t i = 0; i < 8; ++i) CHECK(found(30 + i, word) == given(i / 2, 2 + i % 2, word));
            for (std::size_t i = 0; i < 3; ++i) CHECK(found(40 + i, word) == given(0, 1 + i, word));
        }
    }
}

TEST_CASE("Cores that meet in different collectives, or not at all, are told", "[hw][system]") {
    const auto error_of = [](const std::string& first, const std::string& second) -> std::string {
        const tests::FreshSimulation simulation;
        const std::vector<isa::Program> programs{
            isa::assemble(".tensor_core 4 4 lanes=4\n" + first, "first"),
            isa::assemble(".tensor_core 4 4 lanes=4\n" + second, "second")};
        try {
            hw::System system("system", tensor_machine(1, 2), hw::Programs{&programs[0], &programs[1]},
                              {.test_delta_delay = {}});
            system.run();
        } catch (const isa::ProgramError& error) {
            return error.what();
        }
        return "no error";
    };
    const std::string sum = "collective all_reduce cores=2 dst=0 src=0 rows=1\n";
    CHECK(error_of(sum + "halt\n", sum + "halt\n") == "no error");
    CHECK_THAT(error_of(sum + "halt\n", "collective broadcast cores=2 dst=0 src=0 rows=1\nhalt\n"),
               Contains("core 1 is at collective broadcast") && Contains("core 0 at collective all_reduce"));
    CHECK_THAT(error_of(sum + "halt\n", "halt\n"), Contains("core0: the program cannot finish") &&
                                                       Contains("for all other cores, of which one has no "
                                                                "collective left"));
    CHECK(error_of("collective all_reduce cores=3 dst=0 src=0 rows=1\nhalt\n", sum + "halt\n") ==
          "instruction 0 (collective all_reduce cores=3 dst=0 src=0 rows=1): cores is 3; it must be the "
          "machine's "
          "number, 2");
}

TEST_CASE("A machine of tensor cores runs as many programs as it has cores", "[hw][system]") {
    const tests::FreshSimulation simulation;
    const isa::Program halt = isa::assemble(".tensor_core 4 4 lanes=4\nhalt\n", "halt");
    CHECK_THROWS_WITH(
        hw::System("system", tensor_machine(2, 2), hw::Programs(3, &halt), {.test_delta_delay = {}}),
        "there are 3 programs; machine small has 4 cores");
}

TEST_CASE("A program for a number of cores runs on a machine with that number alone", "[hw][system]") {
    const auto cycles_on = [](const isa::Program& program, std::uint32_t chips, std::uint32_t cores) {
        const tests::FreshSimulation simulation;
        hw::System system("system", tensor_machine(chips, cores), program, {.test_delta_delay = {}});
        system.run();
        return system.cycles();
    };
    const isa::Program of_four = isa::assemble(".tensor_core 4 4 lanes=4 cores=4\nhalt\n", "four");
    const isa::Program of_any = isa::assemble(".tensor_core 4 4 lanes=4\nhalt\n", "any");
    CHECK(isa::assemble(isa::disassemble(of_four), "again").geometry == of_four.geometry);
    CHECK_NOTHROW(cycles_on(of_four, 2, 2));
    CHECK_NOTHROW(cycles_on(of_any, 2, 1));
    CHECK_THROWS_WITH(cycles_on(of_four, 1, 1), "the program was made for 4 cores; the machine has 1");
    CHECK_THROWS_WITH(cycles_on(of_four, 4, 2), "the program was made for 4 cores; the machine has 8");
}
