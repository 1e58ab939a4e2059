// What the link to the host needs at least: docs/timing.md, rule 5 and "Link to the host".
#include <catch2/catch.hpp>

#include "hw/machine/machine_config.h"
#include "hw/timing/transfers.h"

using namespace systole;

TEST_CASE("The host's part of a call holds up data, not instructions", "[timing]") {
    machine::MachineConfig machine;
    machine.family = machine::Family::EdgeTpu;
    machine.clock_mhz = 500;
    machine.host.call_us = 0.2;                    // 100 cycles
    machine.host_interface.read_gb_per_s = 1.0;    // 2 bytes a cycle
    machine.host_interface.write_gb_per_s = 0.25;  // a byte in 2 cycles
    CHECK(timing::host_link_cycles({.data_in = 1000}, machine) == 500);
    CHECK(timing::host_link_cycles({.data_in = 1000, .calls = 3}, machine) == 800);
    // 600 bytes of instructions go in the 300 cycles of the calls; of more, the rest follows.
    CHECK(timing::host_link_cycles({.data_in = 1000, .instructions = 600, .calls = 3}, machine) == 800);
    CHECK(timing::host_link_cycles({.data_in = 1000, .instructions = 602, .calls = 3}, machine) == 801);
    CHECK(timing::host_link_cycles({.data_in = 1000, .out = 401, .calls = 3}, machine) == 802);
}
