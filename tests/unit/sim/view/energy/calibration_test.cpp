// The one calibrated number of TPU v1, derived anew from what was published.
#include <catch2/catch.hpp>
#include <string>

#include "hw/isa/assembly.h"
#include "sim/run/execute/recorders.h"
#include "sim/view/energy/run_energy.h"
#include "tests/support/chip.h"

using namespace systole;
using energy::Joules;

namespace {

/// What CNN0 asks of each cycle of the array, by its published facts: 2888 rows a weight tile (operations a
/// weight byte, Table 1), which are the 19 x 19 points of eight boards; convolutions of 3 x 3 x 256 in nine
/// tiles; every cell useful (Table 3).
std::string cnn0_layers(int layers) {
    std::string text = ".array 256 256\n";
    for (int tile = 0; tile < 9; ++tile) text += ".tile 256 256 fill 1\n";
    text +=
        "set window.input_height 19; set window.input_width 19; set window.channels 256\n"
        "set window.kernel_height 3; set window.kernel_width 3\n"
        "set window.pad_top 1; set window.pad_left 1\n"
        "set window.output_height 19; set window.output_width 19; set window.image_rows 361\n"
        "set activation.columns 256; set activation.pixel_bytes 256\n"
        "set activation.outputs_per_image 361; set activation.image_rows 361\n";
    for (int layer = 0; layer < layers; ++layer) {
        const std::string from = std::to_string(4096 * (layer % 2));
        const std::string to = std::to_string(4096 * ((layer + 1) % 2));
        text += "tag " + std::to_string(layer + 1) + "; read_weights tile=0 count=9\n";
        text += "convolve ub=" + from + " acc=0 lines=152 repeat=8\n";
        text += "sync.signal matrix sem=0; sync.wait activation sem=0\n";
        text += "activate acc=0 ub=" + to + " rows=2888 identity\n";
        text += "sync.signal activation sem=1; sync.wait matrix sem=1\n";
    }
    return text + "halt\n";
}

/// Joules of one cycle of array activity.
Joules active_cycle(const machine::MachineConfig& machine) {
    const isa::Program program = isa::assemble(cnn0_layers(14), "cnn0");
    const tests::FreshSimulation simulation;
    hw::System system("system", machine, program, {.values = hw::Values::TimingOnly, .test_delta_delay = {}});
    system.run();
    CHECK(system.counter("matrix_unit.unused_macs").value() == 0);
    CHECK(system.counter("matrix_unit.active_cycles").value() == 14 * 9 * 2888);
    CHECK(system.counter("unified_buffer.reads").value() ==
          system.counter("matrix_unit.active_cycles").value());  // a row a cycle
    const auto cycles = static_cast<double>(system.counter("matrix_unit.active_cycles").value());
    const run::Counters counters = run::counters_of(system);
    Joules joules = energy::joules(energy::Consumers(system.descriptions(), counters, machine), machine, 0);
    for (std::size_t i = 0; i < joules.size(); ++i) joules[i] /= cycles;
    return joules;
}

constexpr double clock_hz = 700e6;
constexpr double active = 0.782;                   // Table 3, row 1, CNN0
constexpr double published_dynamic = 40.0 - 28.0;  // Table 2: busy and idle watts of a die

/// Watts of the die at the published load, beyond the idle ones.
double die_watts(const machine::MachineConfig& machine) {
    return active_cycle(machine).on_die() * active * clock_hz;
}

}  // namespace

TEST_CASE("The factor of TPU v1 gives the published busy watts under CNN0's published load", "[energy]") {
    CHECK(die_watts(tests::tpu_v1()) == Approx(published_dynamic).epsilon(0.005));
}

TEST_CASE("Uncalibrated, TPU v1's events come within a twentieth of the published watts", "[energy]") {
    machine::MachineConfig machine = tests::tpu_v1();
    const double factor = machine.energy->die_dynamic_factor;
    machine.energy->die_dynamic_factor = 1.0;
    const Joules joules = active_cycle(machine);
    const double watts = die_watts(machine);
    for (std::size_t i = 0; i < joules.size(); ++i) {
        UNSCOPED_INFO(joules.name(i) << ": " << joules[i] * active * clock_hz << " W");
    }
    CHECK(watts == Approx(published_dynamic).epsilon(0.05));
    CHECK(factor == Approx(published_dynamic / watts).epsilon(0.005));
}
