// Several simulations in one process: each in a context of its own, also inside one that has not begun yet.
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <systemc>

#include "hw/isa/assembly.h"
#include "hw/isa/program_error.h"
#include "hw/system/system.h"
#include "tests/support/fresh_simulation.h"
#include "tests/unit/hw/core/small_machine.h"

using namespace systole;

namespace {

const std::string head = ".array 8 6\n.buffer in input 0x0 64\n.tile 8 6 random 3\n";
const std::string right =
    head +
    "read_host in ub=0 block=64\nread_weights tile=0\nsync.signal host_read sem=0\nsync.wait matrix sem=0\n"
    "matmul ub=0 acc=0 rows=8\nhalt\n";
/// Ends in the middle, while the host link is at work.
const std::string missing_sync =
    head + "read_host in ub=0 block=64\nread_weights tile=0\nmatmul ub=0 acc=0 rows=8\nhalt\n";

Cycle cycles_of(const std::string& text) {
    const isa::Program program = isa::assemble(text, "test");
    const tests::FreshSimulation simulation;
    hw::System system("system", tests::small_machine(), program, {.test_delta_delay = {}});
    system.run();
    return system.cycles();
}

}  // namespace

TEST_CASE("A simulation that fails leaves the context before it in force", "[core]") {
    const Cycle cycles = cycles_of(right);
    const sc_core::sc_simcontext* const context = sc_core::sc_curr_simcontext;
    const sc_core::sc_simcontext* const by_default = sc_core::sc_default_global_context;
    for (int i = 0; i < 3; ++i) {
        CHECK_THROWS_AS(cycles_of(missing_sync), isa::ProgramError);
        CHECK(sc_core::sc_curr_simcontext == context);
        CHECK(sc_core::sc_default_global_context == by_default);
        CHECK(cycles_of(right) == cycles);
    }
}

TEST_CASE("A core that was made before other simulations runs after them", "[core]") {
    const Cycle cycles = cycles_of(right);
    const isa::Program program = isa::assemble(right, "test");
    const tests::FreshSimulation simulation;
    hw::System system("system", tests::small_machine(), program, {.test_delta_delay = {}});
    CHECK(cycles_of(right) == cycles);
    CHECK_THROWS_AS(cycles_of(missing_sync), isa::ProgramError);
    system.run();
    CHECK(system.cycles() == cycles);
}
