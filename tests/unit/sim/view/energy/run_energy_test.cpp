#include "sim/view/energy/run_energy.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "hw/machine/event_energies.h"
#include "sim/run/execute/recorders.h"
#include "sim/view/energy/power_over_time.h"
#include "tests/support/chip.h"
#include "tests/support/mixing_host.h"
#include "tests/support/random_program/random_case.h"
#include "tests/support/random_program/synchronize.h"
#include "tests/support/random_runs.h"

using namespace systole;
using energy::Joules;
using tests::TimedChip;

namespace {

constexpr double picojoule = 1e-12;

/// 7 rows in, through one tile, added to through another, out as bytes: what each unit must have done is
/// plain.
const std::string plain =
    ".array 256 256\n"
    ".buffer in constant 0 1792 fill 3\n.buffer out output 2048 1792\n"
    ".tile 256 256 fill 1\n.tile 256 256 fill 1\n"
    "set activation.columns 256; set activation.pixel_bytes 256; set activation.outputs_per_image 7\n"
    "read_weights tile=0 count=2\n"
    "read_host in ub=0 block=1792\nsync.signal host_read sem=0; sync.wait matrix sem=0\n"
    "matmul ub=0 acc=0 rows=7\nmatmul ub=0 acc=0 rows=7 accumulate\n"
    "sync.signal matrix sem=1; sync.wait activation sem=1\n"
    "activate acc=0 ub=100 rows=7 identity\n"
    "sync.signal activation sem=2; sync.wait host_write sem=2\n"
    "write_host out ub=100 block=1792\nhalt\n";

Joules joules_of(const hw::System& system, const machine::MachineConfig& machine) {
    const run::Counters counters = run::counters_of(system);
    return energy::joules(energy::Consumers(system.descriptions(), counters, machine), machine,
                          system.cycles());
}

}  // namespace

TEST_CASE("Each unit's energy is its events times the energy of one", "[energy]") {
    machine::MachineConfig machine = tests::tpu_v1();
    machine.energy->die_dynamic_factor = 1.0;
    const machine::EventEnergies each = machine::event_energies(machine);
    TimedChip chip(machine, plain);
    chip.run();
    const Joules joules = joules_of(*chip, machine);
    const auto check = [&](std::string_view consumer, double picojoules) {
        CAPTURE(consumer);
        CHECK(joules.at(consumer) == Approx(picojoules * picojoule));
        CHECK(joules.at(consumer) > 0.0);
    };
    const double instruction_bytes =
        static_cast<double>(chip->counter("host_interface.instruction_bytes").value());
    check("chip_static", 28.0 * static_cast<double>(chip->cycles()) / 700e6 / picojoule);
    check("matrix_unit", 14 * 65536 * each.mac);
    // Written twice, read once to be added to and once to be activated.
    check("accumulators", 7 * (4 * each.sums_row + each.sums_add));
    // From the host, twice to the array, from the activation unit, to the host.
    check("unified_buffer", 7 * 5 * each.buffer_row);
    check("weight_fifo", 2 * 65536 * 2 * each.fifo_byte);
    check("weight_memory", 2 * 65536 * each.weight_byte);
    check("activation_unit", 7 * 256 * each.requantized);
    check("host_interface", (2 * 1792 + instruction_bytes) * each.host_byte);
    check("sequencer", instruction_bytes * each.instruction_byte);
    double sum = 0.0;
    for (std::size_t i = 0; i < joules.size(); ++i) sum += joules[i];
    CHECK(joules.total() == Approx(sum));
    CHECK(joules.dynamic() == Approx(sum - joules.at("chip_static")));
    CHECK(joules.on_die() == Approx(sum - joules.at("weight_memory")));
}

TEST_CASE("Calibration scales the die's dynamic energy, and neither static power nor weight memory",
          "[energy]") {
    machine::MachineConfig machine = tests::tpu_v1();
    TimedChip chip(machine, plain);
    chip.run();
    machine.energy->die_dynamic_factor = 1.0;
    const Joules before = joules_of(*chip, machine);
    machine.energy->die_dynamic_factor = 1.5;
    const Joules after = joules_of(*chip, machine);
    CHECK(before.size() == 9);
    for (std::size_t i = 0; i < before.size(); ++i) {
        CAPTURE(before.name(i));
        const bool scaled = before.name(i) != "chip_static" && before.name(i) != "weight_memory";
        CHECK(after[i] == Approx((scaled ? 1.5 : 1.0) * before[i]));
    }
}

TEST_CASE("Vector work, pooling and tables take the energies of their operations", "[energy]") {
    machine::MachineConfig machine = tests::tpu_v1();
    machine.energy->die_dynamic_factor = 1.0;
    const machine::EventEnergies each = machine::event_energies(machine);
    const auto activation_joules = [&](const std::string& work) {
        TimedChip chip(machine, ".array 256 256\n" + work + "halt\n");
        chip.run();
        return joules_of(*chip, machine).at("activation_unit") / picojoule;
    };
    CHECK(activation_joules("vector add dst=32 src=0 other=8 rows=3\n") ==
          Approx(2 * 3 * 256 * each.operand));
    CHECK(activation_joules("vector multiply dst=32 src=0 other=8 rows=3\n") ==
          Approx(2 * 3 * 256 * each.operand));
    CHECK(activation_joules("vector lookup dst=32 src=0 rows=3\n") == Approx(3 * 256 * each.lookup));
    // 5 x 4 windows of 2 x 3 pixels of 16 channels.
    CHECK(activation_joules("set window.input_height 6; set window.input_width 6; set window.channels 16\n"
                            "set window.kernel_height 2; set window.kernel_width 3\n"
                            "set window.output_height 5; set window.output_width 4\n"
                            "vector max_pool dst=32 src=0 lines=5\n") ==
          Approx(5 * 4 * 2 * 3 * 16 * each.pooled));
    CHECK(activation_joules("set activation.columns 10; set activation.pixel_bytes 16\n"
                            "set activation.outputs_per_image 5\n"
                            "activate acc=0 ub=0 rows=5 lookup\n") ==
          Approx(50 * (each.requantized + each.lookup)));
}

TEST_CASE("Random runs: energy by tag and by window sums to the run's, by unit", "[energy]") {
    constexpr std::uint64_t first_seed = 4200;
    for (std::uint64_t seed = first_seed; seed < first_seed + tests::random_runs(40); ++seed) {
        CAPTURE(seed);
        tests::Choices choices(seed);
        tests::Case random = tests::random_case(choices);
        machine::MachineConfig& machine = random.machine;
        machine.power = {.idle_watts = 1e-3, .busy_watts = 2e-3, .tdp_watts = 0};
        machine.energy.emplace();
        machine.energy->unused_mac_fraction = 0.25;
        const isa::Program program = tests::synchronized(random);

        const tests::FreshSimulation simulation;
        run::ActivityRecorder recorder;
        hw::System system("system", machine, program,
                          {.trace = &recorder, .host = &tests::mixing_host(), .test_delta_delay = {}});
        system.run();
        const run::Counters counters = run::counters_of(system);
        const energy::Consumers consumers(system.descriptions(), counters, machine);
        const Joules run = energy::joules(consumers, machine, system.cycles());

        std::set<hw::Tag> tags{0};
        for (const isa::Instruction& instruction : program.instructions) {
            if (const auto* tag = std::get_if<isa::DebugTag>(&instruction)) tags.insert(tag->tag);
        }
        std::vector<Joules> parts;
        for (const hw::Tag tag : tags) {
            const std::uint64_t cycles = system.counter("matrix_unit.active_cycles").value(tag) +
                                         system.counter("matrix_unit.weight_stall_cycles").value(tag) +
                                         system.counter("matrix_unit.weight_shift_cycles").value(tag) +
                                         system.counter("matrix_unit.non_matrix_cycles").value(tag);
            parts.push_back(energy::joules(consumers, machine, cycles, tag));
        }
        const auto check_sum = [&](const std::vector<Joules>& summands) {
            for (std::size_t i = 0; i < run.size(); ++i) {
                double sum = 0.0;
                for (const Joules& part : summands) sum += part[i];
                INFO(run.name(i));
                CHECK(sum == Approx(run[i]).epsilon(1e-9));
            }
        };
        check_sum(parts);
        for (const std::uint32_t windows : {1U, 7U, 100U}) {
            CAPTURE(windows);
            const energy::PowerOverTime power =
                energy::power_over_time(consumers, machine, recorder.work(), system.cycles(), windows);
            CHECK(power.windows.size() <= windows);
            check_sum(power.windows);
            double seconds = 0.0;
            for (const double each : power.seconds) seconds += each;
            CHECK(seconds * static_cast<double>(machine.clock_hz()) ==
                  Approx(static_cast<double>(system.cycles())));
        }
    }
}
