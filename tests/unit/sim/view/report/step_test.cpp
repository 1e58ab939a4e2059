#include <catch2/catch.hpp>

#include "sim/view/report/sections.h"
#include "tests/unit/hw/machine/machine_files.h"

using namespace systole;

TEST_CASE("A report has a further step's examples, time, speed and bounds", "[report][step]") {
    run::RunRecord record;
    record.spec.machine = machine::read_machine(tests::shipped_machine("tpu_v2_8.json"));
    record.program.examples = 512;
    record.program.examples_of_core = 64;
    record.step =
        run::FurtherStep{.cycles = 7000,
                         .bounds = {{.name = "macs", .part = "", .meaning = "", .run = 600, .by_tag = {}},
                                    {.name = "hbm", .part = "", .meaning = "", .run = 5000, .by_tag = {}}}};
    record.units = {{.name = "matrix_unit", .main = machine::MainUnit()}};
    const report::Json step = report::step_json(report::Basis(record));
    CHECK(step.at("examples") == 512);
    CHECK(step.at("examples_of_core") == 64);
    CHECK(step.at("cycles") == 7000);
    CHECK(step.at("seconds").get<double>() == Approx(1e-5));  // 7,000 cycles at 700 MHz
    CHECK(step.at("examples_per_second").get<double>() == Approx(512e5));
    CHECK(step.at("bounds") == report::Json{{"macs", 600}, {"hbm", 5000}});
}
