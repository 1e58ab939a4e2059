// Rule 8 of docs/timing.md in reports: each non-matrix cycle has one reason, in the run and in each layer.
#include <catch2/catch.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/system/sim_process.h"

using namespace systole;
using Json = nlohmann::ordered_json;

namespace {

std::uint64_t explained(const Json& unit) {
    std::uint64_t sum = 0;
    for (const Json& cycles : unit["non_matrix_reasons"]) sum += cycles.get<std::uint64_t>();
    return sum;
}

/// Of the run, of each layer, and of each kind of instruction.
void check_reasons(const Json& report) {
    CHECK(explained(report["matrix_unit"]) == report["matrix_unit"]["non_matrix_cycles"]);
    for (const char* part : {"layers", "instruction_kinds"}) {
        for (const Json& each : report[part]) {
            CHECK(explained(each["matrix_unit"]) == each["matrix_unit"]["non_matrix_cycles"]);
        }
    }
}

}  // namespace

TEST_CASE("Every non-matrix cycle of the shipped networks has one reason", "[system]") {
    const std::string run =
        GENERATE("mnist_cnn", "--machine tpu_v1 --model models/isca17/mlp0.json --batch 200",
                 "--machine tpu_v1 --model models/isca17/mlp1.json --batch 168",
                 "--machine tpu_v1 --model models/isca17/lstm0.json --batch 64",
                 "--machine tpu_v1 --model models/isca17/lstm1.json --batch 96",
                 "--machine tpu_v1 --model models/isca17/cnn0.json --batch 8",
                 "--machine tpu_v1_dram --model models/isca17/cnn1.json --batch 32");
    INFO(run);
    check_reasons(tests::report_of(run + " --timing-only"));
}

TEST_CASE("Both engines give the reasons of the digits alike", "[system]") {
    const std::string run =
        "mnist_cnn --limit 8 --batch 2 --timing-only --set machine.matrix_unit.rows=32 "
        "--set machine.matrix_unit.columns=48 --set machine.unified_buffer.rows=65536 "
        "--set machine.matrix_unit.engine=";
    const Json wavefront = tests::report_of(run + "wavefront");
    const Json pe = tests::report_of(run + "pe");
    check_reasons(wavefront);
    CHECK(wavefront["matrix_unit"] == pe["matrix_unit"]);
    CHECK(wavefront["matrix_unit"]["non_matrix_cycles"] > 0);
    for (std::size_t i = 0; i < wavefront["layers"].size(); ++i) {
        CHECK(wavefront["layers"][i]["matrix_unit"] == pe["layers"][i]["matrix_unit"]);
    }
}

TEST_CASE("A layer of pooling shows the cycles in which the array waits for it", "[system]") {
    const Json report =
        tests::report_of("--machine tpu_v1 --model models/isca17/cnn1.json --batch 32 --timing-only");
    std::uint64_t pooling = 0;
    for (const Json& layer : report["layers"]) {
        const bool pools = layer["kind"] == "max_pool" || layer["kind"] == "average_pool";
        const Json& reasons = layer["matrix_unit"]["non_matrix_reasons"];
        if (pools) pooling += layer["cycles"].get<std::uint64_t>();
        CHECK((reasons["vector_work_cycles"] == 0 || pools));
    }
    CHECK(pooling == report["matrix_unit"]["non_matrix_reasons"]["vector_work_cycles"]);
    CHECK(pooling > 0);
}
