#include "hw/unified_buffer/unified_buffer.h"

#include <catch2/catch.hpp>

#include "tests/support/fresh_simulation.h"

using namespace systole;

TEST_CASE("Rows hold what was written and begin as zeros", "[hw][unified_buffer]") {
    tests::FreshSimulation simulation;
    machine::MachineConfig machine;
    machine.matrix_unit.rows = 5;
    machine.unified_buffer.rows = 9;
    hw::UnifiedBuffer buffer("buffer", machine);
    CHECK(buffer.row_bytes() == 5);
    buffer.write(8, 1)[4] = 77;
    CHECK(buffer.read(8, 1)[4] == 77);
    CHECK(buffer.read(0, 9)[44] == 77);
    CHECK(buffer.read(0, 1)[0] == 0);
}

TEST_CASE("Each row counts once in the bytes that were touched", "[hw][unified_buffer]") {
    tests::FreshSimulation simulation;
    machine::MachineConfig machine;
    machine.matrix_unit.rows = 5;
    machine.unified_buffer.rows = 9;
    hw::UnifiedBuffer buffer("buffer", machine);
    CHECK(buffer.touched_bytes() == 0);
    buffer.write(2, 3);
    buffer.write(4, 2);
    CHECK(buffer.touched_bytes() == 4 * 5);
    CHECK_NOTHROW(buffer.read(0, 9));
    CHECK(buffer.touched_bytes() == 4 * 5);
}
