// LSTM0 and LSTM1 as Keras networks of LSTM layers beside the graphs of gates that the validation runs.
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>

#include "compiler/frontend/door/read_network.h"
#include "compiler/ir/graph.h"
#include "tests/system/sim_process.h"

using namespace systole;
using Json = nlohmann::ordered_json;

namespace {

const std::filesystem::path folder = tests::project / "models/isca17";

struct Sizes {
    std::uint64_t macs = 0;
    std::uint64_t weights = 0;

    bool operator==(const Sizes&) const = default;
};

Sizes sizes_of(const std::filesystem::path& file) {
    const ir::Graph graph = frontend::read_network(file, frontend::WeightValues::Skipped);
    Sizes sizes{.macs = ir::macs(graph)};
    for (const ir::Node& node : graph.nodes) sizes.weights += ir::weight_count({graph, node});
    return sizes;
}

/// Of an inference on the chip: a matrix of weights fills whole tiles.
Sizes on_chip(const Json& report) {
    Sizes sizes;
    for (const Json& layer : report.at("layers")) {
        sizes.macs += layer.at("macs_per_inference").get<std::uint64_t>();
        sizes.weights += layer.at("weight_bytes").get<std::uint64_t>();
    }
    return sizes;
}

}  // namespace

TEST_CASE("LSTM layers of Keras have the multiply-accumulates and weights of the validation's gates",
          "[system][isca17]") {
    const std::string name = GENERATE("lstm0", "lstm1");
    CAPTURE(name);
    const std::filesystem::path gates = folder / (name + ".json");
    const std::filesystem::path layers = folder / "keras" / (name + ".h5");
    const Sizes expected = sizes_of(gates);
    CHECK(expected.macs > 30'000'000);
    CHECK(sizes_of(layers) == expected);
    const auto run = [](const std::filesystem::path& model) {
        return tests::report_of("--machine tpu_v1 --timing-only --batch 64 --limit 64 --model " +
                                model.string());
    };
    const Json of_layers = run(layers);
    CHECK(on_chip(of_layers) == on_chip(run(gates)));
    CHECK(on_chip(of_layers).macs == expected.macs);
    // All of it is the chip's.
    CHECK(of_layers.at("host_operations").empty());
}
