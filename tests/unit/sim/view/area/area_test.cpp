#include "sim/view/area/area.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/view/energy/operating_point.h"
#include "tests/support/source_dir.h"
#include "tests/support/unit_descriptions.h"

using namespace systole;
using area::Area;
using machine::MachineConfig;

namespace {

MachineConfig tpu_v1() {
    return machine::read_machine(std::filesystem::path(tests::source_dir()) / "configs/machines/tpu_v1.json");
}

std::optional<Area> area_of(const MachineConfig& machine) {
    return area::area_of(machine, tests::descriptions_of(machine));
}

double static_watts(const MachineConfig& machine) {
    return energy::static_watts(machine, tests::descriptions_of(machine));
}

double unit(const Area& area, std::string_view name) {
    return std::ranges::find(area.units, name, &area::UnitArea::name)->mm2.nominal;
}

double die(const std::function<void(MachineConfig&)>& change) {
    MachineConfig machine = tpu_v1();
    change(machine);
    return area_of(machine)->die.nominal;
}

TEST_CASE("TPU v1 has the published floorplan") {
    const Area area = *area_of(tpu_v1());
    CHECK(area.die.nominal == 331.0);  // exactly: static power is then the published 28 W
    CHECK(area.die.low == Approx(331.0).epsilon(1e-12));
    CHECK(area.die.high == Approx(331.0).epsilon(1e-12));
    const auto percent = [&](std::string_view name) { return 100.0 * unit(area, name) / area.die.nominal; };
    // Jouppi et al., ISCA 2017, Figure 2.
    CHECK(percent("unified_buffer") == Approx(29.0));
    CHECK(percent("matrix_unit") == Approx(24.0));
    CHECK(percent("accumulators") == Approx(6.0));
    CHECK(percent("activation_unit") == Approx(6.0));
    CHECK(percent("host_interface") == Approx(5.0));
    CHECK(percent("weight_memory_ports") == Approx(6.0));
    CHECK(percent("sequencer") == Approx(2.0));
    CHECK(percent("io") == Approx(1.0));
    CHECK(percent("weight_fifo") + percent("other") == Approx(21.0));
    for (const char* const other : {"tpu_v1_published", "tpu_v1_dram"}) {
        const auto file =
            std::filesystem::path(tests::source_dir()) / "configs/machines" / (std::string(other) + ".json");
        CHECK(area_of(machine::read_machine(file))->die.nominal == Approx(331.0).epsilon(1e-12));
    }
}

TEST_CASE("The faster memory of the paper's other machine makes the die a tenth larger") {
    // ISCA 2017, section 7: GDDR5 at 183 GB/s, +10 %, recovered by a unified buffer of 14 MiB.
    const auto faster = [](MachineConfig& machine) { machine.weight_memory.bandwidth_gb_per_s = 183.0; };
    CHECK(die(faster) / 331.0 == Approx(1.10).epsilon(0.001));
    const double smaller = die([&](MachineConfig& machine) {
        faster(machine);
        machine.unified_buffer.rows = 14 * 1024 * 1024 / 256;
    });
    CHECK(smaller < 331.0);
}

TEST_CASE("More of each unit is a larger die, within its error bar") {
    const auto grows = [](const char* what, const std::function<void(MachineConfig&)>& change) {
        CAPTURE(what);
        MachineConfig machine = tpu_v1();
        change(machine);
        const Area area = *area_of(machine);
        CHECK(area.die.nominal > 331.1);
        CHECK(area.die.low <= area.die.nominal);
        CHECK(area.die.high >= area.die.nominal);
        double sum = 0.0;
        for (const area::UnitArea& each : area.units) {
            CHECK(each.mm2.low <= each.mm2.nominal);
            CHECK(each.mm2.high >= each.mm2.nominal);
            sum += each.mm2.nominal;
        }
        CHECK(sum == Approx(area.die.nominal));
    };
    grows("rows", [](MachineConfig& m) { m.matrix_unit.rows = 512; });
    grows("columns", [](MachineConfig& m) { m.matrix_unit.columns = 512; });
    grows("buffer", [](MachineConfig& m) { m.unified_buffer.rows *= 2; });
    grows("accumulators", [](MachineConfig& m) { m.accumulators.rows *= 2; });
    grows("fifo", [](MachineConfig& m) { m.weight_fifo.depth_tiles = 8; });
    grows("memory", [](MachineConfig& m) { m.weight_memory.bandwidth_gb_per_s = 40.0; });
    grows("host", [](MachineConfig& m) { m.host_interface.write_gb_per_s = 20.0; });
    grows("instructions", [](MachineConfig& m) { m.sequencer.instruction_buffer_bytes = 1U << 20U; });
    grows("process", [](MachineConfig& m) { m.energy->process_nm = 45.0; });
    CHECK(die([](MachineConfig& m) { m.energy->process_nm = 16.0; }) < 250.0);
}

TEST_CASE("A 512 x 512 array with the same buffer is not free") {
    const double larger = die([](MachineConfig& m) {
        m.matrix_unit.rows = 512;
        m.matrix_unit.columns = 512;
        m.unified_buffer.rows /= 2;
        m.accumulators.rows /= 2;
    });
    // Four times the cells, 3.5 % larger each for the longer sum: 24 -> 99.3 % of the old die.
    CHECK(larger > 331.0 * 1.75);
    MachineConfig machine = tpu_v1();
    machine.matrix_unit.rows = 512;
    machine.matrix_unit.columns = 512;
    CHECK(unit(*area_of(machine), "matrix_unit") == Approx(331.0 * 0.24 * 4.0 * 1.035).epsilon(0.001));
    CHECK(larger < 331.0 * 2.6);
}

TEST_CASE("SRAM cells are the published ones, and between them in between") {
    CHECK(area::sram_cell_um2(7.0) == 0.027);
    CHECK(area::sram_cell_um2(16.0) == 0.07);
    CHECK(area::sram_cell_um2(28.0) == 0.127);
    CHECK(area::sram_cell_um2(45.0) == 0.346);
    CHECK(area::sram_cell_um2(10.0) > 0.027);
    CHECK(area::sram_cell_um2(10.0) < 0.07);
}

TEST_CASE("A machine without a process has no area") {
    MachineConfig machine = tpu_v1();
    machine.energy.reset();
    CHECK_FALSE(area_of(machine));
}

TEST_CASE("A core of the Cloud TPU v2 has half of the published die") {
    MachineConfig machine = machine::read_machine(std::filesystem::path(tests::source_dir()) /
                                                  "configs/machines/tpu_v2_1core.json");
    const Area area = *area_of(machine);
    CHECK(area.die.nominal == Approx(312.5));
    CHECK(area.die.low == Approx(312.5));
    CHECK(area.die.high == Approx(312.5));
    CHECK(unit(area, "matrix_unit") == Approx(0.08 * 312.5));
    CHECK(unit(area, "io") == Approx(0.13 * 312.5));
    // 29 % of 331 mm2 for 24 MiB in 28 nm, with cells of 0.127 and 0.07 um2.
    CHECK(unit(area, "vector_memory") == Approx(331.0 * 0.29 * 16 / 24 * 0.07 / 0.127));
    CHECK(area.units.size() == 4);
    CHECK(area.note.find("vector unit, cross-lane unit, scalar unit") != std::string::npos);
    CHECK(static_watts(machine) == Approx(26.5));

    // Four times the cells take four times their area, and what lies between the units grows or stays.
    machine.matrix_unit.rows = 256;
    machine.matrix_unit.columns = 256;
    machine.vector_unit.lanes = 256;
    machine.vector_unit.sublanes = 4;
    machine.vector_memory.rows = 16384;
    const Area larger = *area_of(machine);
    CHECK(unit(larger, "matrix_unit") == Approx(4 * 0.08 * 312.5));
    CHECK(unit(larger, "vector_memory") == Approx(unit(area, "vector_memory")));
    CHECK(larger.die.low == Approx(312.5 * (1 + 3 * 0.08)));
    CHECK(larger.die.nominal > larger.die.low);
    CHECK(larger.die.high == Approx(larger.die.nominal));

    machine.tensor_energy->process_nm = 7.0;
    CHECK(unit(*area_of(machine), "matrix_unit") == Approx(4 * 0.08 * 312.5 * 0.027 / 0.07));
    machine.tensor_energy.reset();
    CHECK_FALSE(area_of(machine));
}

TEST_CASE("The same parts of several cores are one") {
    const MachineConfig machine = machine::read_machine(std::filesystem::path(tests::source_dir()) /
                                                        "configs/machines/tpu_v2_1core.json");
    std::vector<machine::UnitDescription> units = tests::descriptions_of(machine);
    const std::vector<machine::UnitDescription> other = units;
    units.insert(units.end(), other.begin(), other.end());
    const Area both = *area::area_of(machine, units);
    CHECK(both.units.size() == 4);
    CHECK(both.die.nominal == Approx(625.0));
    CHECK(unit(both, "matrix_unit") == Approx(0.08 * 625.0));
    CHECK(unit(both, "io") == Approx(0.13 * 625.0));
}

TEST_CASE("The area of a die follows from what its units say, of whatever name") {
    const MachineConfig machine = tpu_v1();
    std::vector<machine::UnitDescription> units = tests::descriptions_of(machine);
    machine::UnitDescription sorter{.name = "toy_sorter"};
    // 3 % of TPU v1's die, of what its floorplan does not name; twice as much here, and it does not shrink.
    sorter.die_part = {.name = "toy_sorter",
                       .label = "sorter",
                       .place = 1,
                       .percent = {6.0, 5.0, 7.0},
                       .shrinks = false,
                       .unnamed_percent = 3.0};
    units.push_back(sorter);
    const Area area = *area::area_of(machine, units);
    CHECK(unit(area, "toy_sorter") == Approx(331.0 * 0.06));
    CHECK(area.die.nominal == Approx(331.0 * 1.03));
    CHECK(area.die.low == Approx(331.0 * 1.02));
    CHECK(area.die.high == Approx(331.0 * 1.04));
    // That of a die whose main unit has no known area is none.
    for (machine::UnitDescription& each : units) {
        if (each.main) each.die_part.reset();
    }
    CHECK_FALSE(area::area_of(machine, units));
}

TEST_CASE("The voltage follows the clock within limits") {
    MachineConfig machine = tpu_v1();
    const auto voltage = [&](double mhz) {
        machine.clock_mhz = mhz;
        return energy::operating_point(machine).voltage;
    };
    CHECK(voltage(700.0) == 1.0);
    CHECK(voltage(800.0) > 1.0);
    CHECK(voltage(800.0) < voltage(840.0));
    CHECK(voltage(600.0) < 1.0);
    CHECK(voltage(100.0) == Approx(0.7));
    CHECK(voltage(5000.0) == Approx(1.2));
    const energy::OperatingPoint limits = energy::operating_point(machine);
    CHECK(voltage(limits.most_mhz) == Approx(1.2));
    CHECK(voltage(limits.least_mhz) == Approx(0.7));
    // (V - 0.4)^1.3 / V at 1.1 against 1: 1.110 times the clock.
    CHECK(voltage(777.1) == Approx(1.1).epsilon(0.001));
    machine.power.clock_mhz = 0.0;
    CHECK(voltage(5000.0) == 1.0);
}

TEST_CASE("Static power goes with the die's area and the square of the voltage") {
    MachineConfig machine = tpu_v1();
    CHECK(static_watts(machine) == Approx(28.0).epsilon(1e-12));
    machine.unified_buffer.rows *= 2;
    CHECK(static_watts(machine) == Approx(28.0 * area_of(machine)->die.nominal / 331.0));
    machine.clock_mhz = 5000.0;
    CHECK(static_watts(machine) == Approx(1.44 * 28.0 * area_of(machine)->die.nominal / 331.0));
    machine.power.die_mm2 = 0.0;
    CHECK(static_watts(machine) == Approx(1.44 * 28.0));
}

}  // namespace
