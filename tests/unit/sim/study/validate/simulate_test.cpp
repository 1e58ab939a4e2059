#include "sim/study/validate/simulate.h"

#include <catch2/catch.hpp>
#include <vector>

#include "hw/machine/machine_config.h"
#include "sim/run/record/content.h"
#include "tests/unit/sim/study/validate/shipped.h"

using namespace systole;
using validate::project;

namespace {

machine::MachineConfig with_latency(double nanoseconds) {
    machine::MachineConfig machine = machine::read_machine(project / "configs/machines/tpu_v1.json");
    machine.activation_unit.latency_ns = nanoseconds;
    return machine;
}

TEST_CASE("A machine runs the program that was compiled for it, whatever ran before", "[sim][validate]") {
    // How convolutions share the accumulators depends on the latency of the activation unit.
    const run::RunSpec cnn1 = validate::batch_of(run::content_of(project / "models/isca17/cnn1.json"), 8);
    const run::RunSpec slow = validate::with_machine(cnn1, with_latency(4250.0));
    const run::RunSpec fast = validate::with_machine(cnn1, with_latency(0.0));

    const auto own = validate::make_simulate()(std::vector{fast});
    const auto both = validate::make_simulate()(std::vector{slow, fast});

    CHECK(both.at(1).cycles == own.at(0).cycles);
    CHECK(both.at(0).cycles != own.at(0).cycles);
}

}  // namespace
