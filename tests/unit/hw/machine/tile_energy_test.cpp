// The energy of a call in the shipped machine files: what is derived there is what its sources give.
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <string>

#include "hw/machine/machine_config.h"
#include "hw/machine/published_energies.h"
#include "tests/support/source_dir.h"

using namespace systole;

TEST_CASE("With all lanes at work, the shipped tiles take the published watts", "[machine][tiles]") {
    const std::string name = GENERATE("edge_tpu_usb", "edge_tpu_pcie");
    const machine::MachineConfig machine = machine::read_machine(std::filesystem::path(tests::source_dir()) /
                                                                 "configs/machines" / (name + ".json"));
    INFO(name);
    const machine::TileEnergyConfig& energy = machine.tile_energy.value();
    constexpr double process_nm = 28.0;
    const double mac = machine::int8_multiply.at(process_nm) + machine::int32_add.at(process_nm);
    CHECK(energy.mac_pj == std::round(100.0 * mac) / 100.0);
    const double picojoules = 1e6 * machine.power.busy_watts / machine.clock_mhz;  // of a cycle
    const double macs = static_cast<double>(machine.macs_a_cycle()) * energy.mac_pj;
    CHECK(energy.tile_cycle_pj == std::round((picojoules - macs) / machine.tile_array.tiles()));
}

TEST_CASE("The host takes its watts for as long as it works", "[machine][tiles]") {
    const machine::TileEnergyConfig energy{.host_watts = 2.5};
    CHECK(energy.host_pj(4.0) == Approx(2.5 * 4e-6 / 1e-12));
}
