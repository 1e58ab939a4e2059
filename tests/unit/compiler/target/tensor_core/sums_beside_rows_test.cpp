// Sums of rows that come in once for all of them, also beside what chains write: as the gradients of batch
// normalization and of biases need them.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <random>
#include <string>

#include "compiler/ir/model_error.h"
#include "compiler/ir/text.h"
#include "compiler/target/tensor_core/emit.h"
#include "compiler/target/tensor_core/network.h"
#include "tests/support/random_runs.h"
#include "tests/support/tensor_networks.h"
#include "tests/support/text_graphs.h"

using namespace systole;
using namespace systole::tensor_core;
using namespace systole::tests;

namespace {

struct RowSizes {
    std::uint32_t rows = 1;
    std::uint32_t columns = 1;
    std::uint32_t lanes = 16;
    bool is_bfloat16 = false;  ///< the rows are, and come from chains; else they are inputs
};

/// Of rows x and g: the sum of g; of x times g, plus the first sum; a chain of all of them; its sum.
ir::Graph sums(const RowSizes& sizes) {
    const std::string rows = fmt::format("1x{}x{}", sizes.rows, sizes.columns);
    const std::string row = fmt::format("1x1x{}", sizes.columns);
    const char* const type = sizes.is_bfloat16 ? "bfloat16" : "float32";
    const std::string x = sizes.is_bfloat16 ? "%10" : "%0";
    const std::string g = sizes.is_bfloat16 ? "%11" : "%1";
    const std::string sum = fmt::format("{{reduction \"sum\", axes [1], keep 1, sum_tile {}}}", sizes.lanes);
    std::string text = fmt::format(
        "graph \"g\"\ninputs %0, %1\noutputs %8, %9\n%0 float32 {0} \"x\"\n%1 float32 {0} \"g\"\n"
        "%2 float32 {1} \"s\"\n%3 float32 {0} \"p\"\n"
        "%4 float32 {1} \"t\"\n%5 float32 {1} \"u\"\n%6 {2} {0} \"c\"\n%7 float32 {1} \"v\"\n"
        "%8 float32 {1} \"w\"\n%9 float32 {0} \"o\"\n",
        rows, row, type);
    const char* const rounded = sizes.is_bfloat16 ? ", \"round_to_bfloat16 6\"" : "";
    if (sizes.is_bfloat16) {
        text += fmt::format("%10 bfloat16 {0} \"rx\"\n%11 bfloat16 {0} \"rg\"\n", rows);
        for (const int of : {10, 11}) {
            text += fmt::format(
                "%{} = word_chain(%{}) \"r\" {{steps [\"tanh 0\", \"round_to_bfloat16 1\"]}}\n", of, of - 10);
        }
    }
    return graph_of_text(
        text +
        fmt::format("%2 = word_reduce({1}) \"s\" {2}\n%3 = word_chain({0}, {1}) \"p\" {{steps [\"multiply 0 "
                    "1\"]}}\n%4 = word_reduce(%3) \"t\" {2}\n%5 = word_chain(%4, %2) \"u\" {{steps [\"add 0 "
                    "1\"]}}\n%6 = word_chain({0}, {1}, %5, %2) \"c\" {{steps [\"multiply 0 2\", \"subtract 1 "
                    "4\", \"multiply 5 3\"{3}]}}\n%7 = word_reduce(%6) \"v\" {2}\n%8 = word_chain(%7, %4) "
                    "\"w\" {{steps [\"maximum 0 1\"]}}\n%9 = word_chain(%6) \"o\" {{steps [\"tanh 0\"]}}\n",
                    x, g, sum, rounded));
}

}  // namespace

TEST_CASE("Sums beside rows have the reference's bits", "[tensor_core][sums]") {
    std::map<std::string, std::uint32_t> met;
    const std::uint32_t runs = random_runs(150);
    for (std::uint32_t seed = 1; seed <= runs; ++seed) {
        std::mt19937 random(seed);
        const auto below = [&](std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); };
        const machine::MachineConfig machine = random_core(random);
        const RowSizes sizes{.rows = 1 + below(below(2) == 0 ? 20 : 200),
                             .columns = 1 + below(20),
                             .lanes = machine.vector_unit.lanes,
                             .is_bfloat16 = below(2) == 0};
        const ir::Graph graph = sums(sizes);
        const mapping::Batches batches{.batch = 1 + below(3), .inferences = 3};
        INFO("seed " << seed << ": " << machine::to_json(machine).dump() << "\n"
                     << ir::to_text(graph) << "batch " << batches.batch);
        const Network network = make_network(graph, machine, 1);
        for (const Step& step : network.steps) {
            if (step.sums.empty()) continue;
            ++met[step.kind == StepKind::Chain ? "beside chains" : "beside sums"];
            met["packed"] += network.tensors[step.sums[0].source].is_packed ? 1 : 0;
        }
        isa::Program program;
        try {
            program = random_program(random, graph, machine, batches).program;
        } catch (const ModelError& error) {
            REQUIRE(std::string(error.what()).find("rows of vector memory") != std::string::npos);
            continue;
        }
        const WordTensors inputs = random_inputs(random, graph, batches.inferences);
        ++met["with room"];
        check_bits(program, machine, inputs, expected_outputs(graph, batches, inputs), seed % 5 == 0);
    }
    CHECK(met["with room"] >= random_share(112));
    for (const char* const what : {"beside chains", "beside sums", "packed"}) {
        INFO(what << ": " << met[what]);
        CHECK(met[what] >= random_share(15));
    }
}

TEST_CASE("Rows come in once for all of their sums, and not again for sums of what a chain writes",
          "[tensor_core][sums]") {
    const std::uint32_t rows = 4096;
    const ir::Graph graph = sums({.rows = rows, .columns = 16});
    const machine::MachineConfig machine = core_of_16_lanes(1024);
    const auto moved = [&](bool joins) {
        Network network = make_network(graph, machine, 1, {.joins_steps = joins});
        const MappedProgram mapped =
            map_program(network, machine, {.images = 1}, {.batch = 1, .inferences = 1});
        return static_cast<double>(rows_moved(mapped.program)) / rows;
    };
    // Two come in for both sums, and two for the chain, whose rows go out; they come in again for a function,
    // whose rows go out, too.
    CHECK(moved(true) >= 2 + 3);
    CHECK(moved(true) <= 2 + 3 + 2.1);
    CHECK(moved(false) >= moved(true) + 1.9);
}
