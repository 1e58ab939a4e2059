// Networks without the values of their weights become the program that they become with values.
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "base/random_values.h"
#include "compiler/frontend/door/read_network.h"
#include "compiler/passes/drop_weights.h"
#include "compiler/passes/prepare.h"
#include "compiler/target/tpu_v1/emit/emit_program.h"
#include "compiler/target/tpu_v1/emit/program_data.h"
#include "compiler/target/tpu_v1/lowering/lowering.h"
#include "hw/isa/program_error.h"
#include "hw/isa/program_rules.h"
#include "tests/support/bare_program.h"
#include "tests/support/random_graph_file.h"
#include "tests/support/random_runs.h"

using namespace systole;
using frontend::WeightValues;
using tests::bare;

namespace {

tpu_v1::Network with_values(const std::string& text, std::uint64_t seed) {
    const ir::Graph graph = frontend::build_json_graph(text, WeightValues::Read);
    constexpr std::uint32_t count = 3;
    std::vector<float> inputs(count * graph.input().shape.elements());
    fill_random(inputs, 1.0F, seed);
    return tpu_v1::lower(
        passes::prepare(graph, {.inputs = inputs, .count = count, .encoding = std::nullopt}));
}

tpu_v1::Network without_values(const std::string& text) {
    return tpu_v1::lower(passes::prepare(frontend::build_json_graph(text, WeightValues::Skipped), {}));
}

}  // namespace

TEST_CASE("Without values of weights normalizations of an input become the same instructions",
          "[compiler][emit]") {
    // Their scales are constants that are known, although the network has no values.
    const std::string text = R"({"schema": "sim.graph/1", "name": "net", "input": {"shape": [5, 8, 4]},
        "weights": {"seed": 3}, "output": "out", "layers": [
        {"name": "first", "op": "batch_normalization", "inputs": ["input"]},
        {"name": "positive", "op": "relu", "inputs": ["first"]},
        {"name": "second", "op": "batch_normalization", "inputs": ["positive"]},
        {"name": "out", "op": "dense", "inputs": ["second"], "units": 5}]})";
    const tpu_v1::Target target{
        .geometry = {.rows = 16, .columns = 16}, .accumulator_rows = 64, .unified_buffer_rows = 60'000};
    const mapping::Batches options{.batch = 3, .inferences = 5};
    const isa::Program full = tpu_v1::compile(with_values(text, 1), target, options);
    CHECK(bare(full).instructions ==
          bare(tpu_v1::compile(without_values(text), target, options)).instructions);
}

TEST_CASE("Without values of weights a network becomes the same instructions and tiles", "[compiler][emit]") {
    constexpr std::uint32_t first_seed = 4200;
    std::map<std::string, std::uint32_t> kinds;
    for (std::uint32_t seed = first_seed; seed < first_seed + tests::random_runs(200); ++seed) {
        const std::string text = tests::RandomGraphFile(seed).draw().dump();
        INFO("seed " << seed << ": " << text);
        std::mt19937 random(seed);
        const tpu_v1::Target target{.geometry = {.rows = 1 + static_cast<std::uint32_t>(random() % 40),
                                                 .columns = 1 + static_cast<std::uint32_t>(random() % 40)},
                                    .accumulator_rows = 64,
                                    .unified_buffer_rows = 60'000};
        const mapping::Batches options{.batch = 3, .inferences = 5};
        const isa::Program full = tpu_v1::compile(with_values(text, seed), target, options);
        const isa::Program timed = tpu_v1::compile(without_values(text), target, options);
        for (const isa::WeightTile& tile : timed.tiles) REQUIRE(tile.values.capacity() == 0);
        for (const isa::LayerInfo& layer : timed.layers) ++kinds[layer.kind];
        REQUIRE(bare(timed).instructions == bare(full).instructions);
        REQUIRE(bare(timed) == bare(full));
    }
    for (const char* kind : {"convolution", "depthwise_convolution", "dense", "max_pool", "average_pool",
                             "add", "lookup", "concat"}) {
        CAPTURE(kind);
        CHECK(kinds[kind] >= tests::random_share(11));
    }
}

TEST_CASE("Networks that differ only in values have the same number of instructions", "[compiler][emit]") {
    nlohmann::json network = tests::RandomGraphFile(7).draw();
    const tpu_v1::Target target{.geometry = {.rows = 16, .columns = 16}};
    std::set<std::size_t> sizes;
    for (std::uint64_t seed = 0; seed < tests::random_runs(20); ++seed) {
        network["weights"]["seed"] = seed;
        const isa::Program program =
            tpu_v1::compile(with_values(network.dump(), seed), target, {.batch = 1, .inferences = 1});
        sizes.insert(program.instructions.size());
    }
    CHECK(sizes.size() == 1);
}

TEST_CASE("Dropping weights equals reading a network without them", "[compiler][emit]") {
    const std::string text = tests::RandomGraphFile(11).draw().dump();
    const tpu_v1::Target target{.geometry = {.rows = 8, .columns = 8}};
    const mapping::Batches options{.batch = 2, .inferences = 2};
    const ir::Graph dropped = passes::drop_weights(frontend::build_json_graph(text, WeightValues::Read));
    CHECK(tpu_v1::compile(tpu_v1::lower(passes::prepare(dropped, {})), target, options) ==
          tpu_v1::compile(without_values(text), target, options));
}

TEST_CASE("A program without values is no program file", "[compiler][emit]") {
    const std::string text = tests::RandomGraphFile(11).draw().dump();
    const isa::Program program = tpu_v1::compile(
        without_values(text), {.geometry = {.rows = 8, .columns = 8}}, {.batch = 1, .inferences = 1});
    CHECK_THROWS_WITH(isa::validate(program), "tile 0: it has no values; such a program can only be timed");
}
