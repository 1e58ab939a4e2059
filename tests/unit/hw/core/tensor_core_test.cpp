// A core of the family tensor_core: which programs it takes, and what it says of wrong ones.
#include <catch2/catch.hpp>
#include <string>

#include "hw/isa/assembly.h"
#include "hw/isa/program_error.h"
#include "hw/system/system.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/tensor_neighbours.h"

using namespace systole;
using Catch::Matchers::Contains;

namespace {

/// The message of a program that the machine refuses, or that fails; empty if it ends.
std::string message_of(const std::string& text, const machine::MachineConfig& machine = tests::small_core()) {
    tests::FreshSimulation simulation;
    try {
        const isa::Program program = isa::assemble(text, "test");
        hw::System system("system", machine, program, {});
        system.run();
    } catch (const isa::ProgramError& error) {
        return error.what();
    }
    return {};
}

const std::string core = ".tensor_core 4 4 lanes=4\n";

}  // namespace

TEST_CASE("A missing sync is an error that names both instructions", "[hw][tensor_core]") {
    const std::string synced = core + R"(
        dma_in hbm=0 at=0 rows=4
        sync.signal dma_in sem=0; sync.wait weights sem=0
        load_weights src=0 depth=4 columns=4
        dma_in hbm=8 at=8 rows=2
        sync.signal dma_in sem=1; sync.wait matrix sem=1
        product dst=16 src=8 rows=2 depth=4 columns=4
        sync.signal matrix sem=2; sync.wait dma_out sem=2
        dma_out hbm=16 at=16 rows=2
        halt)";
    CHECK(message_of(synced) == "");
    std::string without = synced;
    without.replace(without.find("sync.wait matrix sem=1"), 22, "nop");
    CHECK_THAT(message_of(without), Contains("product dst=16 src=8 rows=2") && Contains("dma_in hbm=8") &&
                                        Contains("is not ordered behind") &&
                                        Contains("vector-memory rows 8 to 9"));
    without = synced;
    without.replace(without.find("sync.wait dma_out sem=2"), 23, "nop");
    CHECK_THAT(message_of(without),
               Contains("dma_out hbm=16") && Contains("product dst=16") && Contains("is not ordered behind"));
}

TEST_CASE("A product needs no semaphore for its weights, but weights of its size", "[hw][tensor_core]") {
    CHECK(message_of(core + "load_weights src=0 depth=4 columns=3\n"
                            "product dst=16 src=8 rows=2 depth=4 columns=3\nhalt") == "");
    CHECK_THAT(message_of(core + "load_weights src=0 depth=4 columns=3\n"
                                 "product dst=16 src=8 rows=2 depth=4 columns=4\nhalt"),
               Contains("the weights that it meets are 4 x 3"));
    CHECK_THAT(message_of(core + "product dst=16 src=8 rows=2 depth=4 columns=4\n"
                                 "load_weights src=0 depth=4 columns=4\nhalt"),
               Contains("no weights are loaded for it"));
    CHECK_THAT(message_of(core + "product dst=16 src=8 rows=2 depth=4 columns=4 keep\nhalt"),
               Contains("there are none yet"));
}

TEST_CASE("Weights that no product takes hold up those behind them", "[hw][tensor_core]") {
    CHECK(message_of(core + "load_weights src=0 depth=4 columns=4\nhalt") == "");
    CHECK_THAT(message_of(core + "load_weights src=0 depth=4 columns=4\n"
                                 "load_weights src=4 depth=4 columns=4\nhalt"),
               Contains("the program cannot finish") &&
                   Contains("for the array's shadow plane, whose weights no instruction takes"));
    // The product would write what the second weights are read from, and waits for them.
    CHECK_THAT(message_of(core + "load_weights src=0 depth=4 columns=4\n"
                                 "load_weights src=4 depth=4 columns=4\n"
                                 "sync.signal weights sem=0; sync.wait matrix sem=0\n"
                                 "product dst=4 src=8 rows=2 depth=4 columns=4\nhalt"),
               Contains("the program cannot finish") && Contains("for the array's shadow plane") &&
                   Contains("semaphore 0"));
}

TEST_CASE("Rule 8: a product that waits for rows of high-bandwidth memory names them", "[hw][tensor_core]") {
    // A row of 16 bytes takes a cycle.
    machine::MachineConfig machine = tests::small_core();
    machine.clock_mhz = 500;
    machine.hbm.bandwidth_gb_per_s = 8;
    machine.hbm.efficiency = 1.0;
    const auto waits_for_inputs = [&](int rows) {
        tests::FreshSimulation simulation;
        const isa::Program program = isa::assemble(core + "load_weights src=0 depth=4 columns=4\n" +
                                                       "dma_in hbm=0 at=8 rows=" + std::to_string(rows) +
                                                       "\nsync.signal dma_in sem=0; sync.wait matrix sem=0\n"
                                                       "product dst=60 src=8 rows=2 depth=4 columns=4\nhalt",
                                                   "test");
        hw::System system("system", machine, program, {});
        system.run();
        CHECK(system.counter("matrix_unit.non_matrix_reasons.sync_cycles").value() == 0);
        return system.counter("matrix_unit.non_matrix_reasons.input_cycles").value();
    };
    CHECK(waits_for_inputs(32) > 0);
    CHECK(waits_for_inputs(48) == waits_for_inputs(32) + 16);
}

TEST_CASE("A core takes programs for its array and its lanes, with rows that it has", "[hw][tensor_core]") {
    CHECK_THAT(message_of(".tensor_core 4 5 lanes=4\nhalt"), Contains("an array of 4 x 5"));
    CHECK_THAT(message_of(".tensor_core 4 4 lanes=8\nhalt"), Contains("for 8 lanes; machine machine has 4"));
    CHECK_THAT(message_of(".array 4 4\nhalt"),
               Contains("for a unified buffer; machine machine has a tensor core"));
    CHECK_THAT(message_of(".tiles 4 4\nhalt"), Contains("for tiles; machine machine has a tensor core"));
    CHECK_THAT(message_of(core + "halt", machine::MachineConfig()),
               Contains("for a tensor core; machine machine has none"));
    CHECK(message_of(core + "dma_in hbm=126 at=62 rows=2\nhalt") == "");
    CHECK_THAT(message_of(core + "dma_in hbm=126 at=63 rows=2\nhalt"),
               Contains("vector-memory row 64; the machine has 64"));
    CHECK_THAT(message_of(core + "dma_in hbm=127 at=62 rows=2\nhalt"),
               Contains("high-bandwidth-memory row 128; the machine has 128"));
    CHECK_THAT(message_of(core + ".buffer in input 0 16\ninfeed in+4 hbm=0 rows=1 columns=4\nhalt"),
               Contains("host bytes 4 to 19 lie in none of the program's buffers"));
}

TEST_CASE("Tensors that stay lie in the memory of each core", "[hw][tensor_core]") {
    const std::string declared = core +
                                 ".input x shape=2x5\n.output y shape=2x5\n.buffer x input 0 80\n"
                                 ".buffer y output 80 80\n";
    const auto message = [&](const std::string& resident, const machine::MachineConfig& machine) {
        return message_of(declared + ".resident " + resident + " columns=5\nhalt", machine);
    };
    machine::MachineConfig machine = tests::small_core();
    CHECK(message("input 0 2 3 hbm=104 panel_rows=20", machine).empty());
    CHECK(message("input 0 2 3 hbm=105 panel_rows=20", machine) ==
          "input 0 of the program stays in memory up to high-bandwidth-memory row 128; the machine has 128 "
          "rows");
    CHECK(message("output 0 2 3 hbm=4294967272 panel_rows=20", machine) ==
          "output 0 of the program stays in memory up to high-bandwidth-memory row 4294967295; the machine "
          "has 128 rows");
    // A program for any number of cores has a part of the buffer for each.
    machine.system.chips = 3;
    CHECK(message("input 0 2 3 hbm=20 panel_rows=20", machine) ==
          "input 0, which stays in memory: 3 cores of 40 bytes each; buffer \"x\" has 80");
}
