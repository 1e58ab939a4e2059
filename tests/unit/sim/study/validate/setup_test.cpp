#include "sim/study/validate/setup.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"
#include "tests/support/files.h"
#include "tests/unit/sim/study/validate/shipped.h"

namespace systole::validate {
namespace {

nlohmann::json shipped_file() {
    return machine::read_json_object(project / "configs/validation/tpu_v1.json");
}

Setup setup_of(const nlohmann::json& target) {
    const tests::Folder folder;
    return read_setup(folder.file("target.json", target.dump()), run::PathFinder({}));
}

std::string message_of(const nlohmann::json& target) {
    try {
        setup_of(target);
    } catch (const machine::ConfigError& error) {
        return error.what();
    }
    return "nothing thrown";
}

TEST_CASE("A workload of another content than the pinned one is refused", "[sim][validate]") {
    nlohmann::json target = shipped_file();
    CHECK(message_of(target) == "nothing thrown");
    target["models"]["MLP1"]["file"] = target["models"]["MLP0"]["file"];
    CHECK_THAT(message_of(target), Catch::Contains("models.MLP1: ") &&
                                       Catch::Contains("mlp0.json has the SHA-256 790cc77f") &&
                                       Catch::Contains("pinned is ec248124"));
}

TEST_CASE("Errors of a variant name the target's key", "[sim][validate]") {
    nlohmann::json target = shipped_file();
    SECTION("a workload that does not exist") {
        target["choices"][0]["models"] = {{"MLP7", "x.json"}};
        CHECK_THAT(message_of(target),
                   Catch::Contains("choices[0].models") && Catch::Contains("MLP7 is none of the workloads"));
    }
    SECTION("a loss that does not exist") {
        target["choices"][0]["loss"] = "least";
        CHECK_THAT(message_of(target), Catch::Contains("choices[0].loss") && Catch::Contains("mean_square"));
    }
    SECTION("a setting without a value") {
        target["mechanisms"][0]["machine"] = {"weight_fifo.depth_tiles"};
        CHECK_THAT(message_of(target), Catch::Contains("weight_fifo.depth_tiles"));
    }
}

TEST_CASE("A variant changes the mapping, the machine and the networks that it names", "[sim][validate]") {
    const Setup setup = setup_of(shipped_file());
    Variant variant;
    variant.label = "v";
    variant.mapping = {run::parse_setting("order=layer"), run::parse_setting("join_convolutions=false")};
    variant.machine = {run::parse_setting("weight_fifo.depth_tiles=2")};
    variant.fitted_machine = {run::parse_setting("activation_unit.latency_ns=7")};
    variant.models = {{"LSTM0", "models/isca17/choices/lstm0_8_bit.json"}};
    variant.batches = 3;
    const ByWorkload<run::RunSpec> workloads = workloads_of(setup, variant);
    CHECK(workloads[MLP0].compiler.mapping.order == run::LayerOrder::Layer);
    CHECK_FALSE(workloads[CNN1].compiler.mapping.join_convolutions);
    CHECK(workloads[CNN1].compiler.mapping.group_first_layers);
    CHECK(workloads[MLP0].compiler.limit == 600);
    CHECK(workloads[MLP0].network->hash == setup.workloads[MLP0].network->hash);
    CHECK(workloads[LSTM0].network->hash != setup.workloads[LSTM0].network->hash);
    CHECK(machine_of(setup, variant, setup.machine).weight_fifo.depth_tiles == 2);
    CHECK(machine_of(setup, variant, setup.machine).activation_unit.latency_ns == 7.0);
    CHECK(machine_of(setup, variant, setup.published_machine).activation_unit.latency_ns == 0.0);

    variant.mapping = {run::parse_setting("ordre=layer")};
    CHECK_THROWS_WITH(workloads_of(setup, variant),
                      Catch::Contains("mapping.ordre") && Catch::Contains("\"order\""));
}

TEST_CASE("Of several batches, the cycles of one in the middle count", "[sim][validate]") {
    const Setup setup = setup_of(shipped_file());
    Variant variant;
    variant.label = "v";
    variant.batches = 3;
    // 500 cycles for what happens once, 100 for each batch.
    const Simulate simulate = [](std::span<const run::RunSpec> specs) {
        std::vector<run::RunRecord> records;
        for (const run::RunSpec& spec : specs) {
            const std::uint64_t batches = spec.compiler.limit / spec.compiler.batch;
            records.push_back(made_record(500 + 100 * batches, 40 * batches));
            records.back().program.batch = spec.compiler.batch;
            records.back().program.inferences = spec.compiler.limit;
        }
        return records;
    };
    for (const run::RunRecord& record : run_variant(setup, variant, setup.machine, simulate).records) {
        CHECK(record.cycles == 100);
        CHECK(useful_share(record) == Approx(0.4));
    }
}

}  // namespace
}  // namespace systole::validate
