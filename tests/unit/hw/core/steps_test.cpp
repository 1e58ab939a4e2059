// A run that stops every so many cycles to say how far it is.
#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>

#include "tests/support/chip.h"
#include "tests/unit/hw/core/odd_machine.h"

using namespace systole;
using tests::Chip;

TEST_CASE("A run in steps takes the cycles of a run in one, also where nothing happens for many steps",
          "[tpu]") {
    const auto pause =
        GENERATE(std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{999}, std::uint64_t{100000});
    machine::MachineConfig machine = tests::odd_machine();
    machine.unified_buffer.rows = 1024;
    machine.host_interface.write_gb_per_s = 0.7;  // a byte a cycle at 700 MHz
    const std::string text = ".array 7 5\n.buffer out output 0 4000\nwrite_host out ub=0 block=4000\nhalt\n";
    Chip whole(machine, text);
    whole.run();
    REQUIRE(whole->cycles() >= 4000);

    Chip in_steps(machine, text);
    std::uint64_t steps = 0;
    const std::uint64_t most_steps = whole->cycles() / pause + 2;
    in_steps->run(
        [&](hw::InstructionNumber) {
            if (++steps > most_steps) throw std::runtime_error("the run stands still");
        },
        pause);
    CHECK(in_steps->cycles() == whole->cycles());
    CHECK(steps + 1 >= whole->cycles() / pause);
}
