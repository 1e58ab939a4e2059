#include <catch2/catch.hpp>
#include <cmath>

#include "hw/machine/config_error.h"
#include "sim/study/validate/simulate.h"
#include "tests/unit/sim/study/validate/shipped.h"

namespace systole::validate {
namespace {

TEST_CASE("Each curve scales its own parameters and no others", "[sim][validate]") {
    const machine::MachineConfig machine;
    const auto changed = [&](Curve curve, double scale) {
        return machine::to_json(scaled(machine, curve, scale));
    };
    nlohmann::ordered_json expected = machine::to_json(machine);
    SECTION("memory") {
        expected["weight_memory"]["bandwidth_gb_per_s"] = machine.weight_memory.bandwidth_gb_per_s * 4.0;
        CHECK(changed(Memory, 4.0) == expected);
    }
    SECTION("clock") {
        expected["clock_mhz"] = machine.clock_mhz / 4.0;
        CHECK(changed(Clock, 0.25) == expected);
    }
    SECTION("clock and accumulators") {
        expected["clock_mhz"] = machine.clock_mhz * 2.0;
        expected["accumulators"]["rows"] = machine.accumulators.rows * 2;
        CHECK(changed(ClockPlus, 2.0) == expected);
    }
    SECTION("matrix") {
        expected["matrix_unit"]["rows"] = machine.matrix_unit.rows * 2;
        expected["matrix_unit"]["columns"] = machine.matrix_unit.columns * 2;
        expected["unified_buffer"]["rows"] = machine.unified_buffer.rows / 2;
        CHECK(changed(Matrix, 2.0) == expected);
        CHECK(scaled(machine, Matrix, 2.0).unified_buffer_bytes() == machine.unified_buffer_bytes());
    }
    SECTION("matrix and accumulators") {
        const machine::MachineConfig larger = scaled(machine, MatrixPlus, 2.0);
        CHECK(larger.matrix_unit.rows == machine.matrix_unit.rows * 2);
        CHECK(larger.accumulators.rows == machine.accumulators.rows * 4);
    }
    SECTION("a scale of 1 is the machine") {
        for (const Curve curve : {Memory, Clock, ClockPlus, Matrix, MatrixPlus}) {
            CHECK(changed(curve, 1.0) == expected);
        }
    }
}

TEST_CASE("A scale that gives half a row is a ConfigError", "[sim][validate]") {
    machine::MachineConfig machine;
    machine.matrix_unit.rows = 3;
    CHECK_THROWS_WITH(scaled(machine, Matrix, 0.5),
                      "matrix_unit.rows is 3; 0.5 times as many is no whole number of them");
}

/// Time goes with the memory alone.
std::vector<run::RunRecord> memory_bound(std::span<const run::RunSpec> specs) {
    std::vector<run::RunRecord> records;
    for (const run::RunSpec& spec : specs) {
        const double clock_hz = spec.machine.clock_mhz * 1e6;
        const double seconds = 1e-3 * 34.0 / spec.machine.weight_memory.bandwidth_gb_per_s;
        constexpr Cycle head = 500;
        const Cycle cycles = static_cast<Cycle>(std::llround(seconds * clock_hz)) + head;
        run::RunRecord& record = records.emplace_back(made_record(cycles, 0));
        record.spec.machine.clock_mhz = spec.machine.clock_mhz;
        record.phases->head = head;
    }
    return records;
}

TEST_CASE("Sensitivity leaves the host's time out", "[sim][validate]") {
    const Sensitivity result = sensitivity({}, machine::MachineConfig{}, memory_bound);
    for (std::size_t i = 0; i < scales.size(); ++i) {
        CHECK(result[Memory][i][MLP0] == Approx(scales[i]).epsilon(1e-5));
        CHECK(result[Clock][i][CNN1] == Approx(1.0).epsilon(1e-5));
    }
}

}  // namespace
}  // namespace systole::validate
