// Networks of many small layers. How the time grows with the layers is a figure of tests/bench/compile_bench.
#include <catch2/catch.hpp>
#include <string>

#include "tests/support/files.h"
#include "tests/support/large_graphs.h"
#include "tests/system/sim_process.h"

namespace systole {

TEST_CASE("Networks of thousands of layers run, wide and deep", "[system][large]") {
    const tests::Folder folder;
    for (const std::string_view shape : tests::large_shapes) {
        INFO(shape);
        const std::string file = folder.file("net.json", tests::large_graph(shape, 2'000).dump());
        const auto report =
            tests::report_of("--machine tpu_v1 --model " + file + " --timing-only --batch 1 --no-explain");
        CHECK(report.at("cycles") > 0);
        CHECK(report.at("layers").size() >= 1'000);
    }
}

TEST_CASE("Networks of a thousand layers compute values", "[system][large]") {
    const tests::Folder folder;
    for (const std::string_view shape : {"wide", "fan_in", "deep", "host"}) {
        INFO(shape);
        const std::string file = folder.file("net.json", tests::large_graph(shape, 1'000).dump());
        const auto report = tests::report_of("--machine tpu_v1 --model " + file +
                                             " --random-input 1 --batch 2 --limit 2 --no-explain");
        CHECK(report.at("cycles") > 0);
    }
}

TEST_CASE("More layers than tags can number are refused in one line", "[system][large]") {
    const tests::Folder folder;
    const std::string file = folder.file("net.json", tests::large_graph("deep", 65'536).dump());
    const auto outcome = tests::sim("run --machine tpu_v1 --model " + file + " --timing-only --batch 1");
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.err == "sim: " + file + ": it has 65536 layers; there may be at most 65535\n");
}

}  // namespace systole
