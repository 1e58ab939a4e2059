#include "sim/study/validate/runs.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <vector>

#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"
#include "sim/study/validate/machines.h"
#include "tests/unit/sim/study/validate/made_target.h"
#include "tests/unit/sim/study/validate/shipped.h"

namespace systole::validate {
namespace {

/// What is run for some names: the specs of each run, by its name.
std::vector<run::RunSpec> specs_of(const Setup& setup, const std::string& name) {
    Formulas formulas = formulas_of(setup);
    std::vector<run::RunSpec> seen;
    MadeUpChip chip([](const run::RunSpec&) { return 1000.0; });
    Runs runs(setup, std::ref(chip));
    runs.need({name + ".seen"}, formulas);
    return chip.seen;
}

TEST_CASE("A run changes the machine, the mapping and the networks that it names", "[sim][validate]") {
    MadeTarget made;
    made.json["runs"]["other"] = nlohmann::json::parse(R"({
        "set": {"weight_fifo.depth_tiles": 2, "clock_mhz": "machine.clock_mhz * table.batch",
                "accumulators.rows": "machine.accumulators.rows / 2", "weight_memory.whole_tiles": false},
        "mapping": {"order": "layer", "join_convolutions": false}, "eight_bits": ["B"], "of": ["B"]})");
    made.json["set"] = {{"activation_unit.latency_ns", 7}};
    const Setup setup = made.setup();
    const std::vector<run::RunSpec> base = specs_of(setup, "base");
    REQUIRE(base.size() == 2);
    const machine::MachineConfig& as_it_is = base[0].machine;
    CHECK(as_it_is.activation_unit.latency_ns == 7.0);
    CHECK(base[0].compiler.batch == 3);
    CHECK(base[0].compiler.limit == 3);
    CHECK(base[0].timing_only);
    CHECK(base[0].network->hash == setup.models.at("A").hash);

    const std::vector<run::RunSpec> other = specs_of(setup, "other");
    REQUIRE(other.size() == 1);
    CHECK(other[0].machine.weight_fifo.depth_tiles == 2);
    CHECK(other[0].machine.clock_mhz == 3.0 * as_it_is.clock_mhz);
    CHECK(other[0].machine.accumulators.rows == as_it_is.accumulators.rows / 2);
    CHECK_FALSE(other[0].machine.weight_memory.whole_tiles);
    CHECK(other[0].machine.activation_unit.latency_ns == 7.0);
    CHECK(other[0].compiler.mapping.order == machine::LayerOrder::Layer);
    CHECK_FALSE(other[0].compiler.mapping.join_convolutions);
    CHECK(other[0].compiler.mapping.group_first_layers == base[0].compiler.mapping.group_first_layers);
    CHECK(other[0].network->hash != setup.models.at("B").hash);
}

TEST_CASE("A run waits for its host, with keys of each model, and is simulated without it",
          "[sim][validate]") {
    MadeTarget made;
    made.json["metrics"]["wait"] = "feeding.wait_ms";
    made.json["metrics"]["whole"] = "feeding.step_ms";
    made.json["values"]["steps.A"] = "table.batch + 2";
    made.json["values"]["steps.B"] = "table.batch + 7";
    made.json["runs"]["fed"] = nlohmann::json::parse(R"({"feeding": {
        "example_us": "table.cycles", "examples": 1000, "loop_steps": "steps", "gap_ms": 30}})");
    made.json["runs"]["base"]["feeding"] = {{"step_ms", 0.001}};
    const Setup setup = made.setup();
    Formulas formulas = formulas_of(setup);
    MadeUpChip chip([](const run::RunSpec&) { return 1400.0; });  // 2 us at 700 MHz
    Runs runs(setup, std::ref(chip));
    runs.need({"fed.wait", "base.wait"}, formulas);
    REQUIRE(chip.seen.size() == 4);
    for (const run::RunSpec& spec : chip.seen) CHECK(spec.feeding == run::Feeding());
    const auto value = [&](const char* name) { return formulas.value(name, "a test").value(); };
    CHECK(value("fed.wait.A") == Approx(100.0 - 0.002));
    CHECK(value("fed.wait.B") == Approx(200.0 - 0.002));
    CHECK(value("fed.whole.A") == Approx(100.0 + 30.0 / 5.0));
    CHECK(value("fed.whole.B") == Approx(200.0 + 30.0 / 10.0));
    CHECK(value("base.wait.A") == 0.0);

    const auto refused = [&](const nlohmann::json& feeding) {
        made.json["runs"]["fed"]["feeding"] = feeding;
        const Setup wrong = made.setup();
        Formulas its = formulas_of(wrong);
        Runs wrong_runs(wrong, std::ref(chip));
        try {
            wrong_runs.need({"fed.wait"}, its);
        } catch (const machine::ConfigError& error) {
            return std::string(error.what());
        }
        return std::string("none");
    };
    CHECK_THAT(refused({{"exmple_us", 1}}),
               Catch::Contains("runs.fed: feeding.exmple_us is 1; it is not a known key"));
    CHECK_THAT(refused({{"example_us", "table.cycles / 0"}}),
               Catch::Contains("runs.fed.feeding.example_us is \"table.cycles / 0\"; it has no value for A"));
    CHECK_THAT(refused({{"loop_steps", "table.batch / 2"}}), Catch::Contains("feeding.loop_steps is 1.5"));
    CHECK_THAT(refused({{"gap_ms", 3}}), Catch::Contains("it needs the steps of a loop, feeding.loop_steps"));
}

TEST_CASE("A formula of a run that is a row changes the machine of each model", "[sim][validate]") {
    MadeTarget made;
    made.json["runs"]["other"] = {{"set", {{"clock_mhz", "table.cycles + machine.clock_mhz"}}}};
    const Setup setup = made.setup();
    const std::vector<run::RunSpec> specs = specs_of(setup, "other");
    REQUIRE(specs.size() == 2);
    CHECK(specs[0].machine.clock_mhz == setup.machine.clock_mhz + 100.0);
    CHECK(specs[1].machine.clock_mhz == setup.machine.clock_mhz + 200.0);
}

TEST_CASE("What changes every machine changes that of a run of its own, too", "[sim][validate]") {
    MadeTarget made;
    const tests::Folder folder;
    const std::string another = folder.file("another.json", MadeTarget::made_machine("another").dump());
    made.json["runs"]["other"] = {{"machine", another}, {"set", {{"weight_fifo.depth_tiles", 2}}}};
    made.json["set"] = {{"clock_mhz", 300}};
    made.json["set_all"] = {{"weight_fifo.depth_tiles", 3}, {"activation_unit.latency_ns", 9}};
    const Setup setup = made.setup();
    const run::RunSpec base = specs_of(setup, "base").at(0);
    CHECK(base.machine.clock_mhz == 300.0);
    CHECK(base.machine.weight_fifo.depth_tiles == 3);
    CHECK(base.machine.activation_unit.latency_ns == 9.0);
    const run::RunSpec other = specs_of(setup, "other").at(0);
    CHECK(other.machine.clock_mhz != 300.0);
    CHECK(other.machine.weight_fifo.depth_tiles == 2);  // the run's own keys come last
    CHECK(other.machine.activation_unit.latency_ns == 9.0);
}

TEST_CASE("A model changes the machines of all its runs, behind these", "[sim][validate]") {
    MadeTarget made;
    made.json["runs"]["other"] = {{"set", {{"weight_fifo.depth_tiles", 2}}}};
    made.json["models"]["B"]["set"] = {{"weight_fifo.depth_tiles", "machine.weight_fifo.depth_tiles + 5"}};
    const Setup setup = made.setup();
    const std::vector<run::RunSpec> base = specs_of(setup, "base");
    const std::vector<run::RunSpec> other = specs_of(setup, "other");
    REQUIRE(base.size() == 2);
    REQUIRE(other.size() == 2);
    CHECK(base[1].machine.weight_fifo.depth_tiles == base[0].machine.weight_fifo.depth_tiles + 5);
    CHECK(other[0].machine.weight_fifo.depth_tiles == 2);
    CHECK(other[1].machine.weight_fifo.depth_tiles == 7);
}

TEST_CASE("A run with 8 bits has them in every layer, and the network's file stays", "[sim][validate]") {
    MadeTarget made;
    made.json["runs"]["base"]["eight_bits"] = {"B"};
    const Setup setup = made.setup();
    Formulas formulas = formulas_of(setup);
    const auto bits_of = [](const run::RunSpec& spec) {
        const nlohmann::json network = machine::read_json_object(spec.network->path.text);
        return network.at("layers").at(0).at("activation_bits").get<int>() +
               network.at("activation_bits").get<int>();
    };
    Runs runs(setup, MadeUpChip(bits_of));
    runs.need({"base.seen"}, formulas);
    CHECK(formulas.value("base.seen.A", "here") == 16.0 + 8.0);
    CHECK(formulas.value("base.seen.B", "here") == 8.0 + 8.0);
}

TEST_CASE("Runs that nothing names are not run, and none is run twice", "[sim][validate]") {
    MadeTarget made;
    made.json["runs"]["other"] = {{"like", "best"}};
    const Setup setup = made.setup();
    Formulas formulas = formulas_of(setup);
    MadeUpChip chip([](const run::RunSpec& spec) { return spec.compiler.mapping.pipeline ? 10.0 : 20.0; });
    Runs runs(setup, std::ref(chip));
    runs.need({"base.seen", "table.cycles", "based.x"}, formulas);
    CHECK(chip.seen.size() == 2);
    runs.need({"base.other", "other"}, formulas);
    CHECK(chip.seen.size() == 4);
    CHECK(formulas.value("base.seen.A - other.seen.B", "here") == 10.0);
}

TEST_CASE("Of several batches, the cycles of one in the middle count", "[sim][validate]") {
    MadeTarget made;
    made.json["runs"]["several"] = {{"batches", 3}};
    made.json["metrics"]["device"] = "cycles - phases.host_only_cycles";
    made.json["metrics"]["fetch"] = "phases.fetch_cycles";
    made.json["metrics"]["tiles"] = "matrix_unit.tiles";
    // 500 cycles for what happens once, 100 for each batch.
    const auto chip = [](const run::RunSpec& spec) {
        const std::uint64_t batches = spec.compiler.limit / spec.compiler.batch;
        return 500.0 + 100.0 * static_cast<double>(batches);
    };
    for (const bool by_target : {false, true}) {
        CAPTURE(by_target);
        if (by_target) made.json["batches"] = 2;
        const Setup setup = made.setup();
        Formulas formulas = formulas_of(setup);
        Runs runs(setup, MadeUpChip(chip));
        runs.need({"several.seen", "base.seen"}, formulas);
        CHECK(formulas.value("several.seen.A", "here") == 100.0);
        CHECK(formulas.value("several.device.A", "here") == 100.0);
        CHECK_FALSE(formulas.value("several.fetch.A", "here"));  // of neither batch
        CHECK_FALSE(formulas.value("several.latency_ms.A", "here"));
        CHECK(formulas.value("base.seen.B", "here") == (by_target ? 100.0 : 600.0));
        // The made-up chip's counters do not grow with the batches.
        CHECK(formulas.value("several.tiles.A", "here") == 0.0);
        Runs shrinking(setup, MadeUpChip([](const run::RunSpec& spec) {
                           return 900.0 - static_cast<double>(spec.compiler.limit);
                       }));
        CHECK_THROWS_WITH(shrinking.need({"several.seen"}, formulas),
                          "891 cycles of 3 batches, 894 of one fewer: there is no batch in the middle");
    }
}

TEST_CASE("Programs of several batches that differ have no batch in the middle", "[sim][validate]") {
    MadeTarget made;
    made.json["batches"] = 3;
    const Setup setup = made.setup();
    Formulas formulas = formulas_of(setup);
    MadeUpChip chip(
        [](const run::RunSpec& spec) { return 100.0 * static_cast<double>(spec.compiler.limit); });
    const auto changed = [&](const std::function<void(run::RunRecord&)>& change) -> Simulate {
        return [&chip, change](std::span<const run::RunSpec> specs) {
            std::vector<run::RunRecord> records = chip(specs);
            for (run::RunRecord& record : records) {
                if (record.program.inferences / record.program.batch == 2) change(record);
            }
            return records;
        };
    };
    const auto refused = [&](const std::function<void(run::RunRecord&)>& change) {
        CHECK_THROWS_WITH(Runs(setup, changed(change)).need({"base.seen"}, formulas),
                          Catch::Contains("the programs of 3 batches and of one fewer have other layers, or "
                                          "other numbers of images at a time"));
    };
    refused([](run::RunRecord& record) { record.program.layers.push_back({.name = "sum", .kind = "add"}); });
    refused([](run::RunRecord& record) { record.batch = machine::BatchFacts{.at_a_time = 1}; });
    CHECK_NOTHROW(Runs(setup, changed([](run::RunRecord&) {})).need({"base.seen"}, formulas));
}

TEST_CASE("Of several batches on several cores, the cycles under tags are those of one in the middle",
          "[sim][validate]") {
    MadeTarget made;
    made.json["batches"] = 3;
    made.json["metrics"]["layer"] = "layers.a.cycles";
    made.json["metrics"]["bound"] = "bounds.array";
    made.json["metrics"]["scope"] = "scope_bounds.a";
    const Setup setup = made.setup();
    Formulas formulas = formulas_of(setup);
    // The second core ends last: 7 cycles once, and 40 under the layer and 60 outside it for each batch.
    MadeUpChip chip([](const run::RunSpec& spec) {
        const std::uint64_t batches = spec.compiler.limit / spec.compiler.batch;
        return 7.0 + 100.0 * static_cast<double>(batches);
    });
    const Simulate on_two_cores = [&](std::span<const run::RunSpec> specs) {
        std::vector<run::RunRecord> records = chip(specs);
        for (run::RunRecord& record : records) {
            const Cycle batches = record.program.inferences / record.program.batch;
            record.parts.assign(3, run::MachinePart());
            record.parts[0].cycles = record.cycles - 50;
            record.parts[0].by_tag = {7 + (61 * batches), 39 * batches};
            record.parts[1].cycles = record.cycles;
            record.parts[1].by_tag = {7 + (60 * batches), 40 * batches};
            if (batches == 3) record.parts[0].by_tag.push_back(5);  // a tag that two batches did not come to
            // The third is what both share.
            const auto bound = std::ranges::find(record.bounds, "array", &machine::Bound::name);
            bound->run = 9 * batches;
            bound->by_tag = {0, 1'000'000 + (8 * batches)};
        }
        return records;
    };
    Runs runs(setup, on_two_cores);
    runs.need({"base.seen"}, formulas);
    CHECK(formulas.value("base.seen.A", "here") == 100.0);
    CHECK(formulas.value("base.layer.A", "here") == 39.0);  // of the first of cores that take as long
    CHECK(formulas.value("base.bound.A", "here") == 9.0);
    CHECK(formulas.value("base.scope.A", "here") == 8.0);
}

TEST_CASE("A model's training file says which of its outputs are inputs again", "[sim][validate]") {
    MadeTarget made;
    const tests::Folder folder;
    made.json["models"]["B"]["training"] = folder.file("training.json", R"({"schema": "sim.training/1",
        "state": [{"input": "0", "output": "1", "count": 4}], "images": "x"})");
    const std::vector<run::RunSpec> specs = specs_of(made.setup(), "base");
    REQUIRE(specs.size() == 2);
    CHECK(specs[0].state.empty());
    REQUIRE(specs[1].state.size() == 1);
    CHECK(specs[1].state[0].output == "1");
    CHECK(specs[1].state[0].count == 4);
    made.json["models"]["B"]["training"] = folder.file("other.json", R"({"schema": "sim.machine/1"})");
    CHECK_THROWS_WITH(specs_of(made.setup(), "base"), Catch::Contains("other.json: schema"));
}

TEST_CASE("Runs on another machine replace the numbers", "[sim][validate]") {
    const MadeTarget made;
    const Setup setup = made.setup();
    Formulas formulas = formulas_of(setup);
    Runs runs(setup, MadeUpChip([](const run::RunSpec& spec) { return 1e4 / spec.machine.clock_mhz; }));
    machine::MachineConfig machine = setup.machine;
    machine.clock_mhz = 100;
    runs.run_on(machine, {"base"}, formulas);
    CHECK(formulas.value("base.seen.A", "here") == 100.0);
    machine.clock_mhz = 50;
    runs.run_on(machine, {"base"}, formulas);
    CHECK(formulas.value("base.seen.A", "here") == 200.0);
    CHECK_THROWS_WITH(runs.run_on(machine, {"bas"}, formulas), Catch::EndsWith(": bas is none of the runs"));
    Setup other = setup;
    other.target.runs.at("base").set["clock_mhz"] = 25;
    Runs(other, MadeUpChip([](const run::RunSpec& spec) { return 1e4 / spec.machine.clock_mhz; }))
        .run_on(machine, {"base"}, formulas);
    CHECK(formulas.value("base.seen.A", "here") == 400.0);
    other.target.runs.at("base").machine = "another";
    CHECK_THROWS_WITH(Runs(other, {}).run_on(machine, {"base"}, formulas),
                      Catch::EndsWith("base has a machine of its own; here it runs on another"));
}

TEST_CASE("Metrics name what report.json has, phases, and waits by kind of layer", "[sim][validate]") {
    const MadeTarget made;
    const Setup setup = made.setup();
    Formulas formulas = formulas_of(setup);
    run::RunSpec spec = Runs(setup, {}).spec("A", formulas);
    spec.machine = setup.machine;
    const tests::FreshSimulation simulation;
    const run::RunRecord record = run::run(spec);
    const nlohmann::ordered_json numbers = run_numbers(record);
    CHECK(numbers["cycles"] == record.cycles);
    CHECK(numbers["network_macs"] == 3 * 64);
    CHECK(numbers["weight_tile_bytes"] == 64);
    const run::Phases& phases = record.phases.value();
    CHECK(numbers["phases"]["host_only_cycles"] == phases.head + record.cycles - phases.last_result);
    CHECK(numbers["phases"]["fetch_cycles"] == phases.last_tile - phases.first_fetch.value());
    CHECK(numbers["phases"]["fetch_cycles"] > 0);
    const nlohmann::ordered_json& array = numbers["matrix_unit"];
    CHECK(numbers["weight_waits"]["dense"] ==
          array["weight_stall_cycles"].get<int>() + array["weight_shift_cycles"].get<int>());
    CHECK(numbers["weight_waits"]["convolution"] == 0);
    const nlohmann::ordered_json& bounds = numbers["layers"][0]["bounds"];
    CHECK(numbers["scope_bounds"]["a"] ==
          std::max(bounds["weight_memory"].get<int>(), bounds["array"].get<int>()));
    CHECK(numbers["scope_bounds"]["outside"] > 0);  // transfers to and from the host
    nlohmann::ordered_json without = run_numbers(record, false);
    CHECK(without["layers"].empty());
    without["layers"] = numbers["layers"];
    CHECK(without == numbers);
}

TEST_CASE("Metrics may name layers", "[sim][validate]") {
    MadeTarget made;
    made.json["metrics"]["macs"] = "layers.a.macs_per_inference";
    const Setup setup = made.setup();
    Formulas formulas = formulas_of(setup);
    Runs runs(setup, MadeUpChip([](const run::RunSpec&) { return 100.0; }));
    runs.need({"base.macs"}, formulas);
    CHECK(formulas.value("base.macs.B", "here") == 64.0);
}

TEST_CASE("An error in a run is one line", "[sim][validate]") {
    MadeTarget made;
    const auto message = [&] {
        try {
            specs_of(made.setup(), "base");
        } catch (const machine::ConfigError& error) {
            return std::string(error.what());
        }
        return std::string("nothing thrown");
    };
    nlohmann::json& base = made.json["runs"]["base"];
    SECTION("half a row") {
        base["set"]["accumulators.rows"] = "machine.accumulators.rows / 4096 + 0.5";
        CHECK_THAT(message(), Catch::Contains("accumulators.rows is 1.5; it must be a whole number"));
    }
    SECTION("no value") {
        base["set"]["accumulators.rows"] = "1 / (table.batch - 3)";
        CHECK_THAT(message(),
                   Catch::EndsWith("runs.base.set.accumulators.rows is \"1 / (table.batch - 3)\"; it has "
                                   "no value here"));
    }
    SECTION("a key that no machine has") {
        base["set"]["accumulators.row"] = 1;
        CHECK_THAT(message(), Catch::Contains("accumulators.row is 1; it is not a known key"));
    }
    SECTION("a key that no mapping has") {
        base["mapping"]["ordre"] = "layer";
        CHECK_THAT(message(), Catch::Contains("mapping.ordre") && Catch::Contains("\"order\""));
    }
    SECTION("a model that is not there") {
        base["of"] = {"C"};
        CHECK_THAT(message(), Catch::EndsWith(": C is none of the models"));
    }
    SECTION("8 bits of a model that it does not run") {
        base["of"] = {"A"};
        base["eight_bits"] = {"B"};
        CHECK_THAT(message(), Catch::EndsWith(": runs.base.eight_bits: B is none of its models"));
    }
    SECTION("8 bits of a network that is no graph file") {
        base["eight_bits"] = {"A"};
        made.json["models"]["A"]["file"] = made.json["machine"];
        CHECK_THAT(
            message(),
            Catch::EndsWith("machine.json: it is no graph file, whose activations could have other bits"));
    }
    SECTION("a value of the target's machine") {
        made.json["values"]["twice"] = "2 * machine.clock_mhz";
        base["set"]["clock_mhz"] = "twice";
        CHECK_THAT(message(),
                   Catch::EndsWith("runs.base.set.clock_mhz is \"twice\"; twice names machine.clock_mhz of "
                                   "the target's machine: write it here"));
    }
    SECTION("a key of a model's machines that no machine has") {
        made.json["models"]["A"]["set"] = {{"accumulators.row", 1}};
        CHECK_THAT(message(), Catch::Contains("accumulators.row is 1; it is not a known key"));
    }
    SECTION("a batch that is none") {
        made.json["models"]["A"]["batch"] = "table.batch / 2";
        CHECK_THAT(message(),
                   Catch::EndsWith(": models.A.batch is 1.5; it must be a whole number from 1 to 1000000"));
    }
    SECTION("a metric that no report has") {
        made.json["metrics"]["seen"] = "cycle";
        CHECK_THAT(message(), Catch::Contains("metrics.seen names cycle, which is no path of report.json"));
    }
}

TEST_CASE("A machine runs the program that was compiled for it, whatever ran before", "[sim][validate]") {
    // How convolutions share the accumulators depends on the latency of the activation unit.
    Formulas formulas = formulas_of(shipped_setup());
    run::RunSpec slow = Runs(shipped_setup(), {}).spec("CNN1", formulas);
    slow.compiler.batch = 8;
    slow.compiler.limit = 8;
    slow.machine = shipped_setup().machine;
    run::RunSpec fast = slow;
    slow.machine.activation_unit.latency_ns = 4250.0;
    fast.machine.activation_unit.latency_ns = 0.0;

    const auto own = make_simulate()(std::vector{fast});
    const auto both = make_simulate()(std::vector{slow, fast});

    CHECK(both.at(1).cycles == own.at(0).cycles);
    CHECK(both.at(0).cycles != own.at(0).cycles);
}

/// Section 7 of the article: what it scales, and what stays as it is.
TEST_CASE("Each curve of Figure 11 scales its own parameters and no others", "[sim][validate]") {
    const Setup& setup = shipped_setup();
    Formulas formulas = formulas_of(setup);
    const machine::MachineConfig& machine = setup.machine;
    const auto changed_to = [&](const std::string& run) {
        return machine::to_json(changed(machine, setup.target.runs.at(run).set, formulas, run));
    };
    nlohmann::ordered_json expected = machine::to_json(machine);
    SECTION("memory") {
        expected["weight_memory"]["bandwidth_gb_per_s"] = machine.weight_memory.bandwidth_gb_per_s * 4.0;
        CHECK(changed_to("memory_fourfold") == expected);
    }
    SECTION("clock") {
        expected["clock_mhz"] = machine.clock_mhz / 4.0;
        CHECK(changed_to("eight_bits_clock_quarter") == expected);
    }
    SECTION("clock and accumulators") {
        expected["clock_mhz"] = machine.clock_mhz * 2.0;
        expected["accumulators"]["rows"] = machine.accumulators.rows * 2;
        CHECK(changed_to("clock_plus_double") == expected);
    }
    SECTION("matrix") {
        expected["matrix_unit"]["rows"] = machine.matrix_unit.rows * 2;
        expected["matrix_unit"]["columns"] = machine.matrix_unit.columns * 2;
        expected["unified_buffer"]["rows"] = machine.unified_buffer.rows / 2;
        CHECK(changed_to("matrix_double") == expected);
        CHECK(changed_to("tiling_512") == expected);
    }
    SECTION("matrix and accumulators") {
        const auto larger = changed_to("eight_bits_matrix_plus_double");
        CHECK(larger["matrix_unit"]["rows"] == machine.matrix_unit.rows * 2);
        CHECK(larger["accumulators"]["rows"] == machine.accumulators.rows * 4);
    }
    SECTION("a scale of 1 is the machine") {
        for (const char* const curve : {"memory", "clock", "clock_plus", "matrix", "matrix_plus"}) {
            CHECK(changed_to(std::string(curve) + "_same") == expected);
        }
    }
}

}  // namespace
}  // namespace systole::validate
