#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/run/execute/process.h"
#include "sim/run/execute/run.h"
#include "sim/run/run_config.h"
#include "tests/support/source_dir.h"

using namespace systole;

namespace {

run::RunSpec digits_on(const std::string& machine) {
    const std::string project = tests::source_dir();
    return run::make_spec(run::read_run(
        {}, std::vector<run::Setting>{{"machine", project + "/configs/machines/" + machine + ".json"},
                                      {"model", project + "/models/mnist_cnn/mnist_cnn.h5"},
                                      {"limit", 64},
                                      {"batch", 8},
                                      {"timing_only", true}}));
}

}  // namespace

TEST_CASE("At its end a run has issued all instructions of all cores", "[run][progress]") {
    for (const char* const machine : {"tpu_v1", "tpu_v2_1core", "tpu_v2_8"}) {
        INFO(machine);
        run::ChildProcess child;
        const run::ChildAnswer answer = child.run([&] {
            std::uint64_t last = 0;
            std::uint64_t all = 0;
            run::run(digits_on(machine), nullptr, [&](std::uint64_t issued, std::uint64_t total) {
                last = issued;
                all = total;
            });
            return fmt::format("{} of {}", last, all);
        });
        INFO(answer.bytes);
        REQUIRE(answer.is_result);
        const std::string& text = answer.bytes;
        const std::size_t middle = text.find(" of ");
        CHECK(text.substr(0, middle) == text.substr(middle + 4));
        CHECK(text != "0 of 0");
    }
}
