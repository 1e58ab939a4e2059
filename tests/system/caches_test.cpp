// A decoder's step with a cache (--cache), from its file to its report.
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/files.h"
#include "tests/system/sim_process.h"
#include "tests/unit/compiler/frontend/onnx_model.h"

using namespace systole;
using Json = nlohmann::ordered_json;
using Catch::Matchers::Contains;

namespace {

constexpr std::uint64_t heads = 2;
constexpr std::uint64_t depth = 8;

/// Keys of tokens before, to which that of one token is appended, and its products with all of them.
std::string decoder() {
    tests::OnnxModel model;
    model.input("x", {1, heads, 1, depth}).input("past.0", {1, heads, -1, depth});
    std::vector<float> weights(depth * depth);
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 7) - 3;
    model.floats("w", {depth, depth}, weights);
    model.node("MatMul", {"x", "w"}, {"key"});
    auto& concat = model.node("Concat", {"past.0", "key"}, {"present.0"});
    tests::attribute(concat, "axis", ::onnx::AttributeProto::INT).set_i(2);
    auto& transpose = model.node("Transpose", {"present.0"}, {"keys"});
    auto& axes = tests::attribute(transpose, "perm", ::onnx::AttributeProto::INTS);
    for (const int axis : {0, 1, 3, 2}) axes.add_ints(axis);
    model.node("MatMul", {"x", "keys"}, {"scores"});
    return model.output("scores").output("present.0").bytes();
}

struct Step {
    std::string scores;
    std::string present;
    Json report;
};

/// A step behind so many tokens.
Step step_of(const std::string& command, std::uint64_t tokens) {
    const tests::Folder folder;
    const tests::Outcome outcome =
        tests::sim(command + " --json --random-input 1 --outputs " + (folder / "out").string() +
                   " --input-shape 'past.*=1,2," + std::to_string(tokens) + ",8'");
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    return {.scores = tests::text_in(folder / "out/scores.npy"),
            .present = tests::text_in(folder / "out/present.0.npy"),
            .report = outcome.json()};
}

std::uint64_t number(const Json& report, const char* key) {
    return report["traffic"][key].get<std::uint64_t>();
}

}  // namespace

TEST_CASE("A cache stays in the memory of tensor cores: the same answers, and no bytes of it on the link",
          "[system][caches]") {
    const tests::Folder folder;
    const std::string model = folder.file("decoder.onnx", decoder());
    constexpr std::uint64_t tokens = 5;
    for (const std::string machine : {"tpu_v2_1core", "tpu_v2_8"}) {
        INFO(machine);
        const std::uint64_t batch = machine == "tpu_v2_8" ? 8 : 2;
        const std::string command = "run " + model + " --machine " + machine + " --batch " +
                                    std::to_string(batch) + " --limit " + std::to_string(batch);
        const Step moved = step_of(command, tokens);
        const Step kept = step_of(command + " --cache 'past.*=present.*'", tokens);
        CHECK(!kept.present.empty());
        CHECK(kept.scores == moved.scores);
        CHECK(kept.present == moved.present);
        const std::uint64_t token_bytes = batch * heads * depth * 4;
        CHECK(number(kept.report, "host_read_bytes") + tokens * token_bytes ==
              number(moved.report, "host_read_bytes"));
        CHECK(number(kept.report, "host_write_bytes") + (tokens + 1) * token_bytes ==
              number(moved.report, "host_write_bytes"));
        CHECK(kept.report["cycles"] < moved.report["cycles"]);
    }
}

TEST_CASE("A decoder begins with a cache of nothing", "[system][caches]") {
    const tests::Folder folder;
    const std::string command =
        "run " + folder.file("decoder.onnx", decoder()) + " --machine tpu_v2_1core --cache past.0=present.0";
    const Step first = step_of(command, 0);
    const Step alone = step_of(command.substr(0, command.find(" --cache")), 0);
    CHECK(!first.present.empty());
    CHECK(first.scores == alone.scores);
    CHECK(first.present == alone.present);
    CHECK(number(first.report, "host_write_bytes") + heads * depth * 4 ==
          number(alone.report, "host_write_bytes"));
    // TPU v1 moves caches as all else.
    std::string on_v1 = command;
    on_v1.replace(on_v1.find("tpu_v2_1core"), 12, "tpu_v1");
    CHECK(!step_of(on_v1, 3).present.empty());
}

TEST_CASE("A program keeps what its network's caches keep", "[system][caches]") {
    const tests::Folder folder;
    const std::string program = (folder / "step.tpu").string();
    const std::string network =
        folder.file("decoder.onnx", decoder()) +
        " --machine tpu_v2_1core --input-shape past.0=1,2,5,8 --cache past.0=present.0";
    const tests::Outcome compiled = tests::sim("compile " + network + " -o " + program);
    INFO(compiled.err);
    REQUIRE(compiled.exit_code == 0);
    const std::string text = tests::sim("disasm " + program).out;
    CHECK_THAT(text, Contains("\n.resident input 1 ") && Contains("\n.resident output 1 "));
    const Json of_network = tests::sim("run " + network + " --random-input 1 --json").json();
    const Json of_program =
        tests::sim("run " + program + " --machine tpu_v2_1core --timing-only --json").json();
    CHECK(of_program["cycles"] == of_network["cycles"]);
}

TEST_CASE("Wrong caches end a run in one line", "[system][caches]") {
    const tests::Folder folder;
    const std::string model = folder.file("decoder.onnx", decoder());
    const auto refusal = [&](const std::string& options) {
        const tests::Outcome outcome =
            tests::sim("run " + model + " --machine tpu_v2_1core --random-input 1 " + options);
        CHECK(outcome.exit_code == 2);
        return outcome.err;
    };
    const std::string shape = "--input-shape past.0=1,2,5,8 ";
    CHECK_THAT(refusal(shape + "--cache past.0"),
               Contains("cache is [\"past.0\"]; it must be INPUT=OUTPUT, as in past.*=present.*"));
    CHECK_THAT(refusal(shape + "--cache past.0=scores"),
               Contains("the output must be longer along one axis and equal along all others"));
    CHECK_THAT(refusal(shape + "--cache past.0=present.0 --batch 2 --limit 4"),
               Contains("batch is 2 for 4 inferences; it has caches, which are those of one batch: both must "
                        "be the same"));
    CHECK_THAT(refusal("--input-shape past.0=1,0,5,8"),
               Contains("its dimension 1 is given as 0; in the file it is 2"));
}
