#include "sim/study/validate/simulator.h"

#include <catch2/catch.hpp>
#include <vector>

#include "hw/machine/machine_config.h"
#include "sim/run/record/content.h"
#include "tests/unit/sim/study/validate/shipped.h"

using namespace systole;
using validate::Case;
using validate::ChipSimulator;
using validate::project;

namespace {

machine::MachineConfig with_latency(double nanoseconds) {
    machine::MachineConfig machine = machine::read_machine(project / "configs/machines/tpu_v1.json");
    machine.activation_unit.latency_ns = nanoseconds;
    return machine;
}

TEST_CASE("A machine runs the program that was compiled for it, whatever ran before", "[sim][validate]") {
    // How convolutions share the accumulators depends on the latency of the activation unit.
    const run::Content network = run::content_of(project / "models/isca17/cnn1.json");
    constexpr std::uint32_t batch = 8;
    const machine::MachineConfig slow = with_latency(4250.0);
    const machine::MachineConfig fast = with_latency(0.0);

    ChipSimulator alone;
    const auto own = alone.run(std::vector<Case>{{alone.add(network, batch), fast}});
    ChipSimulator after;
    const validate::NetworkId added = after.add(network, batch);
    const auto both = after.run(std::vector<Case>{{added, slow}, {added, fast}});

    CHECK(both.at(1).cycles == own.at(0).cycles);
    CHECK(both.at(0).cycles != own.at(0).cycles);
}

}  // namespace
