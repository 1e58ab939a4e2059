// Networks with lines of more pixels than the accumulators have rows: from file to report.
#include <catch2/catch.hpp>
#include <string>

#include "tests/system/sim_process.h"

using namespace systole;

namespace {

/// Sound of a second in 1,000 steps, and pixels of many anchors, as exported detectors have them.
const std::string networks = R"(cat >sound.json <<'END'
{"schema": "sim.graph/1", "name": "sound", "input": {"shape": [1, 1000, 2]}, "weights": {"seed": 1}, "layers": [
{"name": "a", "op": "convolution", "inputs": ["input"], "kernel": [1, 9], "stride": [1, 2], "padding": "same", "filters": 16, "activation": "relu"},
{"name": "b", "op": "depthwise_convolution", "inputs": ["a"], "kernel": [1, 3], "stride": 1, "padding": "same", "multiplier": 1},
{"name": "c", "op": "add", "inputs": ["a", "b"]},
{"name": "d", "op": "max_pool", "inputs": ["c"], "kernel": [1, 2], "stride": [1, 2]},
{"name": "scores", "op": "convolution", "inputs": ["d"], "kernel": 1, "stride": 1, "padding": "valid", "filters": 5}],
"output": "scores"}
END
cat >anchors.json <<'END'
{"schema": "sim.graph/1", "name": "anchors", "input": {"shape": [4, 420, 16]}, "weights": {"seed": 1}, "layers": [
{"name": "a", "op": "convolution", "inputs": ["input"], "kernel": 1, "stride": 1, "padding": "valid", "filters": 12, "activation": "relu"},
{"name": "scores", "op": "convolution", "inputs": ["a"], "kernel": 1, "stride": 1, "padding": "valid", "filters": 3}],
"output": "scores"}
END
run() { sim run --machine tpu_v1 --random-input 1 --limit 3 --batch 2 --quiet --no-explain "$@"; }
)";

}  // namespace

TEST_CASE("Lines longer than the accumulators give the answers of a machine with more of them",
          "[system][long_lines]") {
    const std::string network = GENERATE("sound", "anchors");
    const std::string mapping = GENERATE("best", "plain");
    CAPTURE(network, mapping);
    const tests::Folder folder;
    const std::string options = "--model " + network + ".json --mapping " + mapping;
    const tests::Outcome outcome =
        tests::bash(networks + "run " + options + " --outputs folded --out of_folded " +
                        "--set machine.accumulators.rows=96 && run " + options +
                        " --outputs whole --out of_whole && cmp folded/scores.npy whole/scores.npy && "
                        "sim report of_folded of_whole --text",
                    folder.path());
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.exit_code == 0);
    const auto layers = [&](const char* run) {
        return nlohmann::json::parse(tests::text_in(folder.path() / run / "report.json")).at("layers");
    };
    const nlohmann::json folded = layers("of_folded");
    const nlohmann::json whole = layers("of_whole");
    REQUIRE(folded.size() == whole.size());
    for (std::size_t l = 0; l < whole.size(); ++l) {
        CHECK(folded[l].at("name") == whole[l].at("name"));
        CHECK(folded[l].value("macs", nlohmann::json()) == whole[l].value("macs", nlohmann::json()));
    }
}

TEST_CASE("A line of windows over several lines that is too long is refused", "[system][long_lines]") {
    const tests::Folder folder;
    const tests::Outcome outcome = tests::bash(
        networks + R"(sed 's/"kernel": 1, "stride": 1, "padding": "valid", "filters": 12/)"
                   R"("kernel": 3, "stride": 1, "padding": "same", "filters": 12/' anchors.json >windows.json
run --model windows.json --set machine.accumulators.rows=96 --mapping plain)",
        folder.path());
    CHECK(outcome.exit_code == 2);
    CHECK(
        tests::in_one_line(outcome.err) ==
        "sim: windows.json: layer \"a\": an output line has 420 pixels; it must fit the 96 accumulator rows");
}
