// From a network file to the report: products of two computed matrices on the array and on the host.
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/system/sim_process.h"

using namespace systole;
using tests::sim;

namespace {

/// Attention of four heads without softmax: [1, sequence, heads, depth] in and out.
const std::string attention = R"(graph "attention"
inputs %0, %1, %2
outputs %8
%0 int8 1x128x4x32 "q" scale 0.02 zero 5
%1 uint8 1x128x4x32 "k" scale 0.03 zero 120
%2 int8 1x128x4x32 "v" scale 0.05 zero -7
%3 int8 1x4x128x32 "swapped q" scale 0.02 zero 5
%4 uint8 1x4x128x32 "swapped k" scale 0.03 zero 120
%5 int8 1x4x128x32 "swapped v" scale 0.05 zero -7
%6 int8 1x4x128x128 "scores" stored int8 scale 0.5 zero -128
%7 int8 1x4x128x32 "context" stored int8 scale 2 zero 3
%8 int8 1x128x4x32 "result" scale 2 zero 3
%3 = transpose(%0) "swapped q" {permutation [0, 2, 1, 3]}
%4 = transpose(%1) "swapped k" {permutation [0, 2, 1, 3]}
%5 = transpose(%2) "swapped v" {permutation [0, 2, 1, 3]}
%6 = matrix_product(%3, %4) "scores" {transposed_b 1}
%7 = matrix_product(%6, %5) "context"
%8 = transpose(%7) "result" {permutation [0, 2, 1, 3]}
)";

}  // namespace

TEST_CASE("Attention on the array gives the host's bits, and its report has no work of the host",
          "[system]") {
    const tests::Folder folder;
    std::ofstream(folder / "attention.txt") << attention;
    const std::string base =
        "run --model " + (folder / "attention.txt").string() +
        " --machine tpu_v1 --random-input 5 --batch 4 --limit 4 --set machine.activation_unit.latency_ns=0"
        " --set machine.weight_memory.bandwidth_gb_per_s=700";
    const auto run = [&](const std::string& name, const std::string& options) {
        const auto outcome = sim(base + options + " --out " + (folder / name).string() + " --outputs " +
                                 (folder / (name + "_outputs")).string());
        INFO(outcome.err);
        REQUIRE(outcome.exit_code == 0);
        return nlohmann::json::parse(tests::text_in(folder / name / "report.json"));
    };
    const auto on_host = run("host", "");
    const auto on_array = run("array", R"( --set 'machine.weight_memory.writable={"gb_per_s": 700}')");
    CHECK(on_host["matrix_unit"]["non_matrix_reasons"]["host_cycles"] > 0);
    CHECK_FALSE(on_array["matrix_unit"]["non_matrix_reasons"].contains("host_cycles"));
    CHECK(on_array["cycles"] < on_host["cycles"]);
    CHECK(on_array["traffic"]["weight_write_bytes"] > 0);
    CHECK(tests::text_in(folder / "array_outputs" / "result.raw.npy") ==
          tests::text_in(folder / "host_outputs" / "result.raw.npy"));
}
