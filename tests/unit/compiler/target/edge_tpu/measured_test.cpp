// What was measured of the Edge TPU apart from whole networks' latencies, and what the machine files give:
// the decisions of docs/decisions/061-edge-tpu-from-micro-measurements.md.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "compiler/frontend/door/read_network.h"
#include "compiler/passes/prepare.h"
#include "compiler/target/edge_tpu/family.h"
#include "hw/machine/config_reader.h"
#include "hw/system/system.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/source_dir.h"

using namespace systole;

namespace {

struct ChipTime {
    Cycle begin = 0;  ///< the network's input is in narrow memory
    Cycle end = 0;    ///< the last result is
    Cycle cycles() const { return end - begin; }
};

/// Notes what the chip did between the transfers of the first call.
class ChipTimes final : public hw::TraceListener {
public:
    explicit ChipTimes(const isa::Program& program) : program_(program) {}
    void instruction(const hw::InstructionTimes& times) override {
        const isa::Instruction& instruction = program_.instructions[times.number];
        if (std::holds_alternative<isa::ReadTensor>(instruction)) time.begin = times.complete;
        if (std::holds_alternative<isa::WriteTensor>(instruction)) time.end = times.begun;
    }
    ChipTime time;

private:
    const isa::Program& program_;
};

machine::MachineConfig usb() {
    return machine::read_machine(std::filesystem::path(tests::source_dir()) /
                                 "configs/machines/edge_tpu_usb.json");
}

/// The cycles of a network between its input's arrival and its last result.
Cycle chip_cycles(const std::string& model, const machine::MachineConfig& machine) {
    const auto path = std::filesystem::path(tests::source_dir()) / "models/coral" / (model + ".json");
    const ir::Graph graph =
        passes::prepare(frontend::read_network(path, frontend::WeightValues::Skipped), {});
    const isa::Program program = edge_tpu::family.compile(graph, machine, {}).program;
    const tests::FreshSimulation simulation;
    ChipTimes times(program);
    hw::System system("system", machine, program,
                      {.values = hw::Values::TimingOnly, .trace = &times, .test_delta_delay = {}});
    system.run();
    return times.time.cycles();
}

void check_within(Cycle cycles, double measured, double share) {
    INFO(fmt::format("{} cycles, measured {}: {:+.1f} %", cycles, measured,
                     100 * (static_cast<double>(cycles) / measured - 1)));
    CHECK(static_cast<double>(cycles) > measured * (1 - share));
    CHECK(static_cast<double>(cycles) < measured * (1 + share));
}

}  // namespace

TEST_CASE("The digits' network takes the cycles that the chip's own compiler estimates") {
    // tinycoral, NOTES.md: 15,278.
    check_within(chip_cycles("digits", usb()), 15278, 0.1);
    // If parameters came while the tiles compute, it would be far off.
    machine::MachineConfig overlapping = usb();
    overlapping.tile_array.weight_buffers = 2;
    CHECK(static_cast<double>(chip_cycles("digits", overlapping)) < 0.85 * 15278);
}

TEST_CASE("MobileNet v1 takes the cycles that follow from two clocks") {
    // tinycoral, bench/RESULTS.md: 3.96 ms at 250 MHz and 2.45 ms at 500 MHz.
    check_within(chip_cycles("mobilenet_v1", usb()), 755e3, 0.15);
}
