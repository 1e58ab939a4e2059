// What the files of the Edge TPU's validation must agree with, without a run.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <string>

#include "compiler/frontend/door/read_network.h"
#include "hw/machine/machine_config.h"
#include "sim/run/baselines/expected.h"
#include "sim/study/validate/null_models/roofline.h"
#include "sim/study/validate/setup.h"
#include "tests/unit/sim/study/validate/shipped.h"

namespace systole::validate {
namespace {

const Setup& edge_tpu_setup() {
    static const Setup setup =
        read_setup((project / "configs/validation/edge_tpu.json").string(), run::PathFinder({}));
    return setup;
}

TEST_CASE("The shapes of Coral's networks have the products and weights of the graph files",
          "[sim][validate][tiles]") {
    CHECK(edge_tpu_setup().shapes.size() == 5);
    for (const auto& [name, shapes] : edge_tpu_setup().shapes) {
        INFO(name);
        const std::string& file = edge_tpu_setup().models.at(name).path.text;
        const baselines::Network network =
            baselines::network_of(frontend::read_network(file, frontend::WeightValues::Skipped));
        CHECK(null_models::macs_of(shapes) == network.macs());
        CHECK(null_models::weights_of(shapes) == network.weights());
    }
}

TEST_CASE("The Edge TPU's tiles have the published numbers", "[sim][validate][tiles]") {
    for (const char* const name : {"edge_tpu_usb", "edge_tpu_pcie"}) {
        INFO(name);
        const machine::MachineConfig machine =
            machine::read_machine(project / "configs/machines" / (std::string(name) + ".json"));
        // Google, libedgetpu, beagle_chip_structures.h: number_x_tiles, number_y_tiles, num_cells,
        // narrow_memory_capacity.
        CHECK(machine.tile_array.columns == 4);
        CHECK(machine.tile_array.lines == 4);
        CHECK(machine.tile_array.lanes == 64);
        CHECK(machine.narrow_memory.bytes == 196608);
        // coral.ai: about 8 MB of memory for parameters, 4 TOPS.
        CHECK(machine.wide_memory.bytes * machine.tile_array.tiles() == 8U << 20U);
        const double macs = 4.0 * machine.tile_array.lanes * machine.tile_array.tiles();
        CHECK(2.0 * macs * machine.clock_mhz * 1e6 == Approx(4e12).epsilon(0.03));
        // Coral's datasheets: 2 watts at 4 TOPS.
        CHECK(machine.power.busy_watts == 2.0);
        CHECK(machine.power.tdp_watts == 2.0);
    }
}

TEST_CASE("What a null model says of the Edge TPU needs no machine", "[sim][validate][tiles]") {
    Setup setup = edge_tpu_setup();
    const auto worst = [&] {
        Formulas formulas = formulas_of(setup);
        return formulas.value("null_3.others_worst", "here").value();
    };
    const double before = worst();
    CHECK(before > 0.0);
    setup.machine.clock_mhz = 1.0;
    setup.machine.host_interface.read_gb_per_s = 1.0;
    CHECK(worst() == before);
}

}  // namespace
}  // namespace systole::validate
