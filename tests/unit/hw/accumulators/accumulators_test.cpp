#include "hw/accumulators/accumulators.h"

#include <catch2/catch.hpp>

#include "tests/support/fresh_simulation.h"

using namespace systole;

TEST_CASE("Banks are equal parts of consecutive rows", "[hw][accumulators]") {
    tests::FreshSimulation simulation;
    machine::MachineConfig machine;
    machine.matrix_unit.columns = 3;
    machine.accumulators.rows = 12;
    machine.accumulators.banks = 4;
    const hw::Accumulators accumulators("accumulators", machine);
    CHECK(accumulators.columns() == 3);
    CHECK(accumulators.banks(0, 3) == std::pair<std::size_t, std::size_t>(0, 0));
    CHECK(accumulators.banks(2, 2) == std::pair<std::size_t, std::size_t>(0, 1));
    CHECK(accumulators.banks(11, 1) == std::pair<std::size_t, std::size_t>(3, 3));
    CHECK(accumulators.banks(0, 12) == std::pair<std::size_t, std::size_t>(0, 3));
}
