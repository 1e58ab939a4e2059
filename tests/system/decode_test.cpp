// `sim decode`: prompts and tokens of a decoder with its cache.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/files.h"
#include "tests/system/input_files.h"
#include "tests/system/sim_process.h"

using namespace systole;
using namespace systole::tests;
using Json = nlohmann::ordered_json;

namespace {

/// int32 numbers as a NumPy file.
std::string tokens_file(const std::vector<std::vector<std::int32_t>>& sequences) {
    std::string values;
    for (const auto& sequence : sequences) {
        for (const std::int32_t token : sequence)
            values.append(reinterpret_cast<const char*>(&token), sizeof token);
    }
    return npy("<i4",
               "(" + std::to_string(sequences.size()) + ", " + std::to_string(sequences.front().size()) + ")",
               values);
}

Json decoded(const std::string& arguments) {
    const Outcome outcome = sim("decode small_decoder --json " + arguments);
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    return Json::parse(outcome.out);
}

}  // namespace

TEST_CASE("The steps of a decoding are runs of one token behind caches", "[system][decode]") {
    for (const std::string machine : {"tpu_v2_1core", "tpu_v1"}) {
        const Json answer =
            decoded("--machine " + machine + " --prompt-length 6,130 --tokens 3 --batches 1,4 --every-step");
        REQUIRE(answer["decodings"].size() == 4);
        for (const Json& decoding : answer["decodings"]) {
            const std::string batch = std::to_string(decoding["batch"].get<int>());
            const auto check = [&](const Json& step) {
                const Json report =
                    report_of("--model small_decoder --timing-only --no-explain --machine " + machine +
                              " --new-tokens " + std::to_string(step["new_tokens"].get<int>()) +
                              " --cached-tokens " + std::to_string(step["cached_tokens"].get<int>()) +
                              " --batch " + batch + " --limit " + batch);
                CHECK(step["cycles"] == report["cycles"].get<double>());
                CHECK(step["seconds"] == report["seconds"]);
                CHECK(step["simulated"] == true);
            };
            check(decoding["prompt"]);
            REQUIRE(decoding["steps"].size() == 3);
            CHECK(decoding["steps"][2]["cached_tokens"] == decoding["prompt_tokens"].get<int>() + 2);
            check(decoding["steps"][2]);
            CHECK(decoding["simulated_steps"] == 3);
        }
    }
}

TEST_CASE("Steps that are not simulated are near those that are", "[system][decode]") {
    const std::string arguments = "--machine tpu_v2_1core --prompt-length 100 --tokens 60 --batches 8";
    const Json all = decoded(arguments + " --every-step")["decodings"][0];
    const Json some = decoded(arguments)["decodings"][0];
    CHECK(some["simulated_steps"] < 20);
    CHECK(all["simulated_steps"] == 60);
    for (std::size_t i = 0; i < 60; ++i) {
        const Json& step = some["steps"][i];
        const double exact = all["steps"][i]["cycles"];
        INFO("step " << i);
        if (step["simulated"] == true) CHECK(step["cycles"] == exact);
        CHECK(std::abs(step["cycles"].get<double>() - exact) <= 0.004 * exact);
    }
    CHECK(some["tokens_per_second"].get<double>() ==
          Approx(all["tokens_per_second"].get<double>()).epsilon(0.002));
}

TEST_CASE("A decoder gives the tokens that one run over all of them gives", "[system][decode]") {
    const Folder folder;
    std::vector<std::vector<std::int32_t>> prompts{{17, 3, 200, 41, 8}, {5, 5, 90, 133, 254}};
    folder.file("prompts.npy", tokens_file(prompts));
    const Json answer =
        decoded("--machine tpu_v2_1core --tokens 2 --input " + (folder / "prompts.npy").string());
    REQUIRE(answer["sequences"].size() == 2);
    REQUIRE(answer["sequences"][0].size() == 3);
    CHECK(answer["decodings"][0]["batch"] == 2);
    CHECK(answer["decodings"][0]["prompt_tokens"] == 5);
    // The prompt with the tokens but the last, as one prompt, must give the last.
    for (std::size_t i = 0; i < 2; ++i) {
        prompts[i].push_back(answer["sequences"][i][0]);
        prompts[i].push_back(answer["sequences"][i][1]);
    }
    folder.file("longer.npy", tokens_file(prompts));
    const Json longer =
        decoded("--machine tpu_v2_1core --tokens 1 --input " + (folder / "longer.npy").string());
    for (std::size_t i = 0; i < 2; ++i) CHECK(longer["sequences"][i][0] == answer["sequences"][i][2]);
}

TEST_CASE("Latencies are written as CSV", "[system][decode]") {
    const Folder folder;
    const std::string file = (folder / "latencies.csv").string();
    const Outcome outcome =
        sim("decode small_decoder --machine tpu_v2_8 --prompt-length 4,8 --tokens 5 --batches 8,16 --csv " +
            file);
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    CHECK(outcome.out.find("first token ms") != std::string::npos);
    const std::string text = text_in(file);
    CHECK(text.starts_with("batch,new_tokens,cached_tokens,seconds,cycles,joules,simulated\n8,4,0,"));
    CHECK(std::ranges::count(text, '\n') == 1 + 4 * 6);
    CHECK(text.find("\n16,1,12,") != std::string::npos);
}

TEST_CASE("What cannot be decoded is refused in a line", "[system][decode]") {
    const Folder folder;
    folder.file("prompts.npy", tokens_file({{1, 2, 3}}));
    const std::string prompts = (folder / "prompts.npy").string();
    struct Case {
        std::string arguments;
        std::string error;
    };
    const std::vector<Case> cases{
        {"--model mnist_cnn --machine tpu_v1", "only ONNX files of decoders"},
        {"small_decoder --machine tpu_v2_8 --batches 3", "must be a multiple of 8"},
        {"small_decoder --tokens 0", "--tokens"},
        {"small_decoder --prompt-length 0", "--prompt-length"},
        {"small_decoder --batches 2 --input " + prompts, "do not go with --input"},
        {"small_decoder --input " + prompts + " --input " + prompts, "one, an array"},
        {"small_decoder --cache old.*=new.*", "cache names the"},
        {"small_decoder --cache old.*=new", "cache is"}};
    for (const auto& [arguments, error] : cases) {
        const Outcome outcome = sim("decode " + arguments);
        INFO(arguments << "\n" << outcome.err);
        CHECK(outcome.exit_code != 0);
        CHECK(outcome.err.find(error) != std::string::npos);
        CHECK(std::ranges::count(outcome.err, '\n') <= 2);
    }
}
