// Each layer's row is held against a calculation from outputs alone: the network with every layer's result as
// an output, whose place says which is which. Names do not: layers with a function make several values of
// one.
#include "sim/run/execute/layer_accuracy.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/random_values.h"
#include "base/stored_integers.h"
#include "compiler/frontend/door/read_network.h"
#include "compiler/ir/encoding.h"
#include "compiler/passes/prepare.h"
#include "compiler/passes/ready_for_run.h"
#include "compiler/reference/executor.h"
#include "sim/run/calibration.h"
#include "tests/support/random_graph_file.h"
#include "tests/support/random_runs.h"

using namespace systole;

namespace {

constexpr std::uint32_t images = 3;

/// A random network; every other one ends in a softmax, which the host computes.
ir::Graph random_graph(std::uint32_t seed) {
    nlohmann::json file = tests::RandomGraphFile(seed).draw();
    if (seed % 2 == 0) {
        file["layers"].push_back({{"name", "logits"},
                                  {"op", "dense"},
                                  {"units", 5},
                                  {"inputs", nlohmann::json::array({file["output"]})}});
        file["layers"].push_back(
            {{"name", "classes"}, {"op", "softmax"}, {"inputs", nlohmann::json::array({"logits"})}});
        file["output"] = "classes";
    }
    return passes::ready_for_run(frontend::build_json_graph(file.dump(), frontend::WeightValues::Read));
}

std::vector<run::NamedImages> random_input(const ir::Graph& graph, std::uint32_t seed) {
    const ir::FeatureMap map = graph.input_map();
    std::vector<float> values(images * graph.input().shape.elements());
    fill_random(values, 1.0F, seed);
    return {{.name = "random",
             .images = {.count = images,
                        .height = map.height,
                        .width = map.width,
                        .channels = map.channels,
                        .values = std::move(values)},
             .in_files = images,
             .input = graph.input().name}};
}

/// The graph with all results of nodes as outputs.
ir::Graph with_all_outputs(ir::Graph graph) {
    graph.outputs.clear();
    for (const ir::Node& node : graph.nodes) {
        graph.outputs.insert(graph.outputs.end(), node.outputs.begin(), node.outputs.end());
    }
    return graph;
}

std::vector<double> real_numbers(const ir::Value& value, const std::vector<std::uint8_t>& bytes) {
    if (value.type == DataType::Float32) {
        std::vector<float> floats(bytes.size() / sizeof(float));
        std::memcpy(floats.data(), bytes.data(), bytes.size());
        return {floats.begin(), floats.end()};
    }
    std::vector<std::int32_t> stored(bytes.size() / bytes_of(value.type));
    widen(bytes.data(), value.type, stored);
    std::vector<double> reals;
    for (const std::int32_t number : stored) {
        reals.push_back(value.quantization->scales[0] * (number - value.quantization->zero_points[0]));
    }
    return reals;
}

struct Row {
    ir::NodeId node = 0;  ///< of the network on integers
    std::string name;
    std::string kind;
    std::optional<double> decibels;
};

/// The outputs' rows, in the order in which the network on integers computes them.
std::vector<Row> rows_of_outputs(const run::RunSpec& spec, const ir::Graph& graph,
                                 const std::vector<run::NamedImages>& inputs) {
    const ir::Graph stored = passes::prepare(graph, run::calibration_of(graph, spec, inputs));
    const std::vector<float>& floats = *inputs.front().images.floats();
    const std::span<const float> given(floats);
    const auto expected = reference::execute(graph, std::span(&given, 1), images);
    const ir::Encoding encoding = ir::encoding_of(stored.input());
    std::vector<std::uint8_t> bytes(floats.size() * bytes_of(encoding.type));
    run::store(inputs.front().images, {}, {encoding.scale, encoding.zero_point, encoding.type}, bytes);
    const std::span<const std::uint8_t> stored_input(bytes);
    const auto results = reference::run(stored, std::span(&stored_input, 1), images);
    const auto producers = ir::producers(stored);
    std::vector<Row> rows;
    std::set<ir::ValueId> seen;
    for (std::size_t i = 0; i < results.size(); ++i) {
        const ir::ValueId id = stored.outputs[i];
        // An identity has the numbers of its input, and no row.
        if (!producers[id] || !seen.insert(id).second) continue;
        const std::vector<double> numbers = real_numbers(stored.values[id], results[i]);
        REQUIRE(numbers.size() == expected[i].size());
        double signal = 0.0;
        double noise = 0.0;
        for (std::size_t j = 0; j < numbers.size(); ++j) {
            const double real = expected[i][j];
            signal += real * real;
            noise += (numbers[j] - real) * (numbers[j] - real);
        }
        Row row{.node = producers[id].value(), .name = stored.values[id].name, .kind = {}, .decibels = {}};
        row.kind = stored.nodes[row.node].op->name();
        if (noise > 1e-12 * signal && signal > 0.0) row.decibels = 10.0 * std::log10(signal / noise);
        rows.push_back(std::move(row));
    }
    std::ranges::sort(rows, {}, &Row::node);
    return rows;
}

}  // namespace

TEST_CASE("Each row of the accuracy by layer is that of its layer, in random networks", "[run][accuracy]") {
    for (std::uint32_t seed = 0, runs = tests::random_runs(40); seed < runs; ++seed) {
        CAPTURE(seed);
        const ir::Graph graph = with_all_outputs(random_graph(seed));
        const std::vector<run::NamedImages> inputs = random_input(graph, seed + 1);
        const run::RunSpec spec;
        const std::vector<run::LayerAccuracy> rows = run::layer_accuracy(spec, graph, inputs);
        // Quantization adds rows, in which it stores a value of the host or rescales one.
        auto row = rows.begin();
        for (const Row& expected : rows_of_outputs(spec, graph, inputs)) {
            CAPTURE(expected.name, expected.kind, expected.decibels);
            const auto is_it = [&](const run::LayerAccuracy& each) {
                if (each.name != expected.name || each.kind != expected.kind) return false;
                if (each.decibels.has_value() != expected.decibels.has_value()) return false;
                return !each.decibels || std::abs(*each.decibels - *expected.decibels) < 0.01;
            };
            row = std::find_if(row, rows.end(), is_it);
            REQUIRE(row != rows.end());
            ++row;
        }
    }
}

TEST_CASE("The accuracy by layer does not depend on the layers' names", "[run][accuracy]") {
    std::uint32_t of_host = 0;
    for (std::uint32_t seed = 0, runs = tests::random_runs(30); seed < runs; ++seed) {
        CAPTURE(seed);
        const ir::Graph graph = random_graph(seed);
        const std::vector<run::NamedImages> inputs = random_input(graph, seed + 1);
        ir::Graph alike = graph;
        ir::Graph different = graph;
        for (ir::ValueId id = 0; id < graph.values.size(); ++id) {
            if (graph.values[id].constant || ir::is_input(graph, id)) continue;
            alike.values[id].name = "same";
            different.values[id].name = "value_" + std::to_string(id);
        }
        const std::vector<run::LayerAccuracy> rows = run::layer_accuracy({}, graph, inputs);
        for (const ir::Graph& renamed : {alike, different}) {
            std::vector<run::LayerAccuracy> others = run::layer_accuracy({}, renamed, inputs);
            REQUIRE(others.size() == rows.size());
            for (std::size_t i = 0; i < rows.size(); ++i) others[i].name = rows[i].name;
            CHECK(others == rows);
        }
        if (rows.back().kind == "softmax") ++of_host;
    }
    CHECK(of_host >= tests::random_share(10));
}
