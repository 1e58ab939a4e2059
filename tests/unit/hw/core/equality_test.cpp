// Random programs on random machines: every engine gives the same times, counters and values, in every order
// of the kernel's processes, and the values are those of sim/functional.
#include <catch2/catch.hpp>
#include <cstdint>

#include "hw/isa/assembly.h"
#include "tests/support/random_program/judge.h"
#include "tests/support/random_program/observe.h"
#include "tests/support/random_program/shrink.h"
#include "tests/support/random_program/synchronize.h"
#include "tests/support/random_runs.h"
#include "tests/support/sanitizers.h"

using namespace systole;

namespace {

constexpr std::uint64_t cases_a_part = tests::is_instrumented ? 70 : 250;

/// Runs the cases of a number of seeds. A seed reproduces its case; a failing case is shrunk before it is
/// printed.
void check_equality(std::uint64_t first_seed) {
    for (std::uint64_t seed = first_seed; seed < first_seed + tests::random_runs(cases_a_part); ++seed) {
        tests::Choices choices(seed);
        const tests::Case random = tests::random_case(choices);
        const auto failure = tests::judge(random);
        CAPTURE(seed);
        if (!failure) continue;
        const tests::FailingCase small = tests::shrink({random, *failure}, tests::judge);
        FAIL(failure->text << "\nshrunk to: " << tests::describe(small.failing, small.failure));
    }
    SUCCEED("all alike");
}

}  // namespace

// One process each, so that they run side by side.
TEST_CASE("Engines, process orders and sim/functional agree on random programs, part 1", "[equality]") {
    check_equality(100000);
}
TEST_CASE("Engines, process orders and sim/functional agree on random programs, part 2", "[equality]") {
    check_equality(110000);
}
TEST_CASE("Engines, process orders and sim/functional agree on random programs, part 3", "[equality]") {
    check_equality(120000);
}
TEST_CASE("Engines, process orders and sim/functional agree on random programs, part 4", "[equality]") {
    check_equality(130000);
}
TEST_CASE("Engines, process orders and sim/functional agree on random programs, part 5", "[equality]") {
    check_equality(140000);
}
TEST_CASE("Engines, process orders and sim/functional agree on random programs, part 6", "[equality]") {
    check_equality(150000);
}
TEST_CASE("Engines, process orders and sim/functional agree on random programs, part 7", "[equality]") {
    check_equality(160000);
}
TEST_CASE("Engines, process orders and sim/functional agree on random programs, part 8", "[equality]") {
    check_equality(170000);
}

TEST_CASE("A stream whose rows come in the middle of a cycle begins in that cycle in every engine",
          "[equality]") {
    // Behind a long transfer one byte from the host takes the rest of a cycle and is there in its middle; the
    // product has been waiting for it.
    const tests::Case random{
        .machine =
            [] {
                machine::MachineConfig machine;
                machine.matrix_unit.rows = machine.matrix_unit.columns = 1;
                machine.unified_buffer.rows = 128;
                machine.accumulators.rows = 2;
                return machine;
            }(),
        .program = isa::assemble(".array 1 1\n.buffer in constant 0 100 fill 3\n.tile 1 1 fill 5\n"
                                 "read_weights tile=0\nread_host in ub=8 block=100\n"
                                 "read_host in ub=0 block=1\nmatmul ub=0 acc=0 rows=1\nhalt\n",
                                 "test"),
        .sync = {}};
    const tests::Observation run =
        tests::observe(tests::synchronized(random), random.machine, machine::Engine::Wavefront);
    const auto& reads = run.times[static_cast<std::size_t>(isa::QueueId::HostRead)];
    const auto& products = run.times[static_cast<std::size_t>(isa::QueueId::Matrix)];
    REQUIRE(reads.size() == 2);
    REQUIRE(products.size() == 1);
    CHECK(reads[1].complete == reads[1].begun);
    CHECK(products[0].begun == reads[1].complete);

    const auto failure = tests::judge(random);
    INFO((failure ? failure->text : ""));
    CHECK(!failure);
}
