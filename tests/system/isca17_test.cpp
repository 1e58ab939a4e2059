// The shipped workloads of the TPU paper: their script writes them, they have the published sizes, and the
// chip computes them correctly.
#include <fmt/format.h>

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>

#include "compiler/frontend/door/read_network.h"
#include "compiler/ir/encoding.h"
#include "compiler/passes/prepare.h"
#include "hw/machine/machine_config.h"
#include "sim/run/calibration.h"
#include "sim/run/images.h"
#include "sim/run/network.h"
#include "sim/run/network_input.h"
#include "tests/support/sanitizers.h"
#include "tests/support/truth.h"
#include "tests/system/sim_process.h"

using namespace systole;
using Json = nlohmann::ordered_json;

namespace {

const std::filesystem::path folder = tests::project / "models/isca17";

/// ISCA 2017, Table 1.
struct Workload {
    std::string_view name;
    std::uint32_t dense = 0;
    std::uint32_t convolutions = 0;
    std::uint32_t pools = 0;
    double weights = 0.0;  ///< millions
    std::uint32_t batch = 0;
};

constexpr std::array workloads{
    Workload{"mlp0", 5, 0, 0, 20, 200},  Workload{"mlp1", 4, 0, 0, 5, 168},
    Workload{"lstm0", 24, 0, 0, 52, 64}, Workload{"lstm1", 37, 0, 0, 34, 96},
    Workload{"cnn0", 0, 16, 0, 8, 8},    Workload{"cnn1", 4, 72, 13, 100, 32},
};

std::string file_of(const Workload& workload) {
    return (folder / fmt::format("{}.json", workload.name)).string();
}

/// "20,971,520".
std::string with_commas(std::uint64_t number) {
    std::string text = std::to_string(number);
    for (std::size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
    return text;
}

}  // namespace

TEST_CASE("The workload files are those that their script writes", "[system][isca17]") {
    if (std::system("python3 --version >/dev/null 2>&1") != 0) {
        WARN("SKIPPED: there is no python3");
        return;
    }
    const tests::Folder made;
    const std::string script = (folder / "make.py").string();
    REQUIRE(std::system(fmt::format("python3 -B '{}' '{}'", script, (made / "").string()).c_str()) == 0);
    for (const Workload& workload : workloads) {
        CAPTURE(workload.name);
        CHECK(tests::text_in(made / fmt::format("{}.json", workload.name)) ==
              tests::text_in(file_of(workload)));
    }
    CHECK(tests::text_in(made / "shapes.json") == tests::text_in(folder / "shapes.json"));
    int choices = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "choices")) {
        CAPTURE(entry.path());
        ++choices;
        CHECK(tests::text_in(made / ("choices/" + entry.path().filename().string())) ==
              tests::text_in(entry.path()));
    }
    CHECK(choices == std::distance(std::filesystem::directory_iterator(made / "choices"), {}));
}

TEST_CASE("The workloads have the layers and weights of the paper", "[system][isca17]") {
    const std::string readme = tests::text_in(folder / "README.md");
    for (const Workload& workload : workloads) {
        CAPTURE(workload.name);
        const ir::Graph graph = frontend::read_network(file_of(workload), frontend::WeightValues::Skipped);
        CHECK(graph.name == workload.name);
        std::uint32_t dense = 0;
        std::uint32_t convolutions = 0;
        std::uint32_t pools = 0;
        std::uint64_t weights = 0;
        for (const ir::Node& node : graph.nodes) {
            weights += ir::weight_count({graph, node});
            dense += node.is("dense") ? 1 : 0;
            convolutions += node.is("convolution") ? 1 : 0;
            pools += node.is("max_pool") || node.is("average_pool") ? 1 : 0;
        }
        CHECK(dense == workload.dense);
        CHECK(convolutions == workload.convolutions);
        CHECK(pools == workload.pools);
        CHECK(static_cast<double>(weights) / 1e6 == Approx(workload.weights).epsilon(0.15));
        CHECK(readme.find(fmt::format("| {} | {}M | {} |", with_commas(weights), workload.weights,
                                      with_commas(ir::macs(graph)))) != std::string::npos);
    }
}

TEST_CASE("The workloads compute on the chip what the integer reference computes", "[system][isca17]") {
    const Workload workload = GENERATE(from_range(workloads));
    CAPTURE(workload.name);
    if (tests::is_instrumented && workload.name != "mlp1") {
        WARN("SKIPPED: " << workload.name << " takes minutes under the sanitizers");
        return;
    }
    run::RunSpec spec;
    spec.network = run::content_of(file_of(workload));
    spec.data.random_input = 1;
    const std::uint32_t batch = workload.name.starts_with("cnn") ? 1 : 3;
    spec.compiler.batch = batch;
    const ir::Graph graph = run::read_model(spec).graph;
    const auto input = run::read_input(spec, graph);
    const ir::Graph quantized = passes::prepare(graph, run::calibration_of(graph, spec, input));
    const ir::Encoding encoding = ir::encoding_of(quantized.input());
    tests::Bytes stored(batch * quantized.input().shape.elements() * bytes_of(encoding.type));
    run::store(input.at(0).images, run::normalizations_of(spec, graph).front(),
               {encoding.scale, encoding.zero_point, encoding.type}, stored);
    tests::check_truth(quantized, machine::read_machine(tests::project / "configs/machines/tpu_v1.json"),
                       {.batch = batch, .inferences = batch}, stored);
}

TEST_CASE("A timing-only run of the workloads needs no weights", "[system][isca17]") {
    const Workload workload = GENERATE(from_range(workloads));
    CAPTURE(workload.name);
    if (tests::is_instrumented && workload.name != "mlp1") {
        WARN("SKIPPED: " << workload.name << " takes minutes under the sanitizers");
        return;
    }
    const std::string arguments = fmt::format("--machine tpu_v1 --model {} --batch {}", file_of(workload),
                                              workload.name.starts_with("cnn") ? 1 : 2);
    const Json timing = tests::report_of(arguments + " --timing-only");
    const Json values = tests::report_of(arguments + " --random-input 1");
    CHECK(timing["cycles"] == values["cycles"]);
    CHECK(timing["units"] == values["units"]);
    CHECK(timing["layers"] == values["layers"]);
    CHECK(timing["traffic"] == values["traffic"]);
    CHECK(timing["memory"] == values["memory"]);
    CHECK(timing["predictions"].empty());
    CHECK(timing["simulator"]["peak_rss_bytes"].get<std::uint64_t>() <
          values["simulator"]["peak_rss_bytes"].get<std::uint64_t>());
}
