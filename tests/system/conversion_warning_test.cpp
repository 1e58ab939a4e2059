// A run without values counts no conversions for concatenations, because only ranges tell where they are. It
// says so.
#include <fcntl.h>

#include <catch2/catch.hpp>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/run/execute/process.h"
#include "sim/run/execute/worker.h"
#include "tests/support/files.h"
#include "tests/support/large_graphs.h"
#include "tests/system/sim_process.h"

namespace systole {
namespace {

/// Pairs of layers, each pair concatenated. Another layer reads the first of the pair where there is one
/// `also_read`.
std::string pairs(std::size_t concats, std::size_t also_read) {
    tests::LargeGraph graph;
    std::string sum;
    const auto add = [&](const std::string& term) { sum = sum.empty() ? term : graph.sum(sum, term); };
    for (std::size_t i = 0; i < concats; ++i) {
        const std::string first = graph.dense("input");
        const std::string joined = graph.add("concat", {first, graph.dense("input")});
        add(joined);
        if (i < also_read) add(graph.add("dense", {first}, {{"units", 2 * tests::LargeGraph::width}}));
    }
    // Something else than the concatenation, so that it is no output.
    add(graph.add("dense", {"input"}, {{"units", 2 * tests::LargeGraph::width}}));
    return graph.file("pairs").dump();
}

std::string warning(const std::string& file, const std::string& concats) {
    return "sim: warning: " + file + ": " + concats +
           " may need conversions, which depend on the numbers in the network; without values none are "
           "counted, so a run with values may take more cycles\n";
}

}  // namespace

TEST_CASE("A timing-only run says which concatenations may need conversions", "[system]") {
    const tests::Folder folder;
    const std::string one = folder.file("one.json", pairs(2, 1));
    const std::string three = folder.file("three.json", pairs(3, 3));
    const std::string none = folder.file("none.json", pairs(2, 0));
    const auto messages = [](const std::string& arguments) {
        const tests::Outcome outcome = tests::sim(arguments);
        INFO(arguments << ": " << outcome.err);
        CHECK(outcome.exit_code == 0);
        return outcome.err;
    };
    const std::string run = "run --no-explain --machine tpu_v1 --batch 1 --model ";
    CHECK(messages(run + one + " --timing-only") == warning(one, "1 concatenation"));
    CHECK(messages(run + three + " --timing-only") == warning(three, "3 concatenations"));
    CHECK(messages(run + none + " --timing-only").empty());
    // With values, the ranges are known and conversions are counted.
    CHECK(messages(run + three + " --random-input 1").empty());
    const std::string compile = "compile --text schedule --machine tpu_v1 --batch 1 --model ";
    CHECK(messages(compile + three + " --set timing_only=true") == warning(three, "3 concatenations"));
    CHECK(messages(compile + none + " --set timing_only=true").empty());
    CHECK(messages(compile + three + " --random-input 1").empty());
}

TEST_CASE("A worker passes the warning on with each timing-only request", "[system]") {
    const tests::Folder folder;
    const std::string network = folder.file("net.json", pairs(1, 1));
    const std::string in = folder.file("in", "");
    {
        const run::Descriptor file(::open(in.c_str(), O_WRONLY | O_CLOEXEC));
        REQUIRE(file.number() >= 0);
        const nlohmann::json request{{"machine", "tpu_v1"},
                                     {"run", {{"model", network}, {"timing_only", true}, {"batch", 1}}}};
        // The second finds the network compiled.
        for (int i = 0; i < 2; ++i)
            REQUIRE(run::write_message(file.number(), run::request_message + request.dump()));
    }
    const tests::Outcome outcome = tests::sim("worker < " + in + " > " + (folder / "out").string());
    CHECK(outcome.exit_code == 0);
    CHECK(outcome.err == warning(network, "1 concatenation") + warning(network, "1 concatenation"));
}

}  // namespace systole
