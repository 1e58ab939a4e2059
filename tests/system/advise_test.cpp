// `sim advise`: its figures are those of runs, and larger images those of larger networks.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/support/files.h"
#include "tests/system/sim_process.h"

using namespace systole;
using namespace systole::tests;
using Json = nlohmann::ordered_json;

TEST_CASE("The points of an advice are runs of four batches", "[system][advise]") {
    const Outcome outcome = sim("advise mnist_cnn --batches 1,16 --sizes 1,2 --json");
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    const Json advice = Json::parse(outcome.out);
    REQUIRE(advice["points"].size() == 4);
    for (const Json& point : advice["points"]) {
        const std::string batch = std::to_string(point["batch"].get<int>());
        const std::string size = std::to_string(point["size_multiplier"].get<int>());
        const Json report = report_of(
            "--machine tpu_v1 --model mnist_cnn --timing-only --no-explain --baseline haswell_e5_2699_v3"
            " --size-multiplier " +
            size + " --batch " + batch + " --limit " + std::to_string(4 * point["batch"].get<int>()));
        CHECK(point["inferences_per_second"].get<double>() ==
              Approx(report["inferences_per_second"].get<double>()));
        CHECK(point["speedup"].get<double>() ==
              Approx(report["comparison"][0]["expected"]["speedup"].get<double>()));
    }
    CHECK(advice["sentences"].size() >= 4);
}

TEST_CASE("An advice is written with its page", "[system][advise]") {
    const Folder folder;
    const Outcome outcome = sim("advise --machine tpu_v1 --model mlp0 --batches 8,64 --sizes 1,2 --out " +
                                (folder / "a").string());
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    CHECK(outcome.out.find("only images can be larger") != std::string::npos);
    CHECK(Json::parse(text_in(folder / "a/advice.json"))["points"].size() == 2);
    CHECK(text_in(folder / "a/advice.html").find("</html>") != std::string::npos);
}

TEST_CASE("Larger images make the network of the same layers", "[system][advise]") {
    // Of mnist_cnn, every layer but the last has as many times the multiply-accumulates as the image pixels.
    const auto macs = [](const std::string& options) {
        const Json report = report_of(
            "--machine tpu_v1 --model mnist_cnn --timing-only --no-explain --batch 4 "
            "--limit 4 " +
            options);
        return report["matrix_unit"]["useful_macs"].get<std::uint64_t>();
    };
    constexpr std::uint64_t last = 4 * 2000;
    CHECK(macs("--size-multiplier 2") - last == 4 * (macs("") - last));
    // Of the images of the run's file, only the number counts; they may have either size.
    const Json own =
        report_of("mnist_cnn --timing-only --no-explain --size-multiplier 2 --batch 64 --limit 128");
    CHECK(own["inferences"] == 128);
    const Json resized = report_of(
        "mnist_cnn --timing-only --no-explain --size-multiplier 2 --batch 64 --limit 128 --resize 56x56");
    CHECK(resized["cycles"] == own["cycles"]);
    CHECK(resized["traffic"] == own["traffic"]);
    const Outcome with_values = sim("run mnist_cnn --size-multiplier 2");
    CHECK(with_values.exit_code == 2);
    CHECK(with_values.err.find("size_multiplier") != std::string::npos);
}

namespace {

const std::string steps = "models/mnist_cnn/training/step_8x";
const std::string state = " --state models/mnist_cnn/training/state.json";

bool has_sentence(const Json& advice, const std::string& text) {
    for (const std::string sentence : advice["sentences"]) {
        if (sentence.find(text) != std::string::npos) return true;
    }
    return false;
}

}  // namespace

TEST_CASE("On a Cloud TPU an advice says which part binds at which batch", "[system][advise]") {
    const Outcome outcome =
        sim("advise mnist_cnn --machine tpu_v2_8 --batches 8,256,512,1024 --sizes 1 --json");
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    const Json advice = outcome.json();
    REQUIRE(advice["points"].size() == 4);
    for (const Json& point : advice["points"]) {
        const int batch = point["batch"];
        CHECK(point["images_of_core"] == batch / 8);
        const Json report =
            report_of("--machine tpu_v2_8 --model mnist_cnn --timing-only --no-explain --batch " +
                      std::to_string(batch) + " --limit " + std::to_string(4 * batch));
        double most = 0.0;
        for (const auto& [name, share] : point["shares"].items()) {
            CAPTURE(name);
            CHECK(share.get<double>() ==
                  Approx(report["bounds"][name].get<double>() / report["cycles"].get<double>()));
            most = std::max(most, share.get<double>());
        }
        CHECK(point["shares"][point["bound_by"].get<std::string>()].get<double>() == most);
    }
    CHECK(advice["points"][0]["bound_by"] == "weight_shift");
    CHECK(advice["points"][3]["bound_by"] == "array");
    CHECK(has_sentence(advice, "At 1 image a core it is weight-shift-bound: weights shift into the array"));
    CHECK(has_sentence(advice, "array-bound: rows pass through the array"));
    CHECK(has_sentence(advice, "The article's rule, batch = 64 x cores, is batch 512 here: "));
    CHECK_FALSE(has_sentence(advice, "wrong machine"));
}

TEST_CASE("An advice on a program has one batch, and a sentence says so", "[system][advise][hlo]") {
    const Outcome outcome = sim("advise tests/golden/hlo/data_parallel.hlo --machine tpu_v2_8 --json");
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    const Json advice = outcome.json();
    REQUIRE(advice["points"].size() == 1);
    CHECK_FALSE(advice["points"][0].contains("error"));
    CHECK(advice["points"][0]["batch"] == 8);
    CHECK(advice["points"][0]["images_of_core"].is_null());
    CHECK(
        advice["sentences"][0] ==
        "The batch of jit_data_parallel is fixed by the program, whose shapes have it: here are calls of it, "
        "one on each of 8 cores.");
    // Batches that are asked for are tried, and no image is made of a call.
    const Json asked =
        sim("advise tests/golden/hlo/data_parallel.hlo --machine tpu_v2_8 --batches 8,16 --json").json();
    CHECK(asked["points"][0]["images_of_core"].is_null());
    CHECK(asked["points"][1].contains("error"));
    CHECK_FALSE(has_sentence(asked, "a core"));
    CHECK_FALSE(has_sentence(asked, "rule"));
    const Json known = sim("advise " + steps + "64.hlo --machine tpu_v2_8 --json" + state).json();
    REQUIRE(known["points"].size() == 1);
    CHECK(known["points"][0]["batch"] == 512);
    CHECK(has_sentence(known, " is fixed by the program: a step has 512 examples, 64 on a core."));
    CHECK(has_sentence(known, "It is the article's rule, batch = 64 x cores."));
}

TEST_CASE("Programs of one step are batches of an advice", "[system][advise][hlo]") {
    const Folder folder;
    const Outcome outcome = sim("advise " + steps + "64.hlo " + steps + "8.hlo --machine tpu_v2_8 --json" +
                                state + " --out " + (folder / "a").string());
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    const Json advice = outcome.json();
    REQUIRE(advice["points"].size() == 2);
    for (std::size_t i = 0; i < 2; ++i) {
        const Json& point = advice["points"][i];
        const std::string images = i == 0 ? "8" : "64";
        CHECK(std::to_string(point["images_of_core"].get<int>()) == images);
        const Json step =
            report_of(steps + images + ".hlo --machine tpu_v2_8 --timing-only --no-explain" + state)["step"];
        CHECK(step["examples"] == point["batch"]);
        CHECK(step["examples_per_second"].get<double>() ==
              Approx(point["inferences_per_second"].get<double>()));
        for (const auto& [name, share] : point["shares"].items()) {
            CHECK(share.get<double>() ==
                  Approx(step["bounds"][name].get<double>() / step["cycles"].get<double>()));
        }
        // As the training itself is timed.
        const Json training = sim("train " + steps + images + ".hlo --machine tpu_v2_8 --timing-only --json" +
                                  state + " --random-input 1 --random-steps 8")
                                  .json()["training"];
        CHECK(training["cycles_a_step"] == step["cycles"]);
    }
    CHECK_FALSE(has_sentence(advice, "fixed by the program"));
    CHECK(has_sentence(advice, "The article's rule, batch = 64 x cores, is batch 512 here: the best speed"));
    CHECK(text_in(folder / "a/advice.html").find("64 x cores</text>") != std::string::npos);
}

TEST_CASE("Wrong questions about programs end in one line", "[system][advise][hlo]") {
    const auto refusal = [](const std::string& arguments) {
        const Outcome outcome = sim("advise " + arguments);
        CHECK(outcome.exit_code == 2);
        CHECK(outcome.out.empty());
        CHECK(std::ranges::count(outcome.err, '\n') == 1);
        return outcome.err;
    };
    using Catch::Contains;
    const std::string two = steps + "8.hlo " + steps + "16.hlo";
    CHECK_THAT(refusal(two + " --machine tpu_v2_8"),
               Contains("--state FILE says which input takes the examples"));
    CHECK_THAT(refusal(two + " --machine tpu_v2_8 --batches 8" + state),
               Contains("--batches: several programs"));
    CHECK_THAT(refusal(two + " --machine tpu_v2_8 --sizes 2" + state), Contains("--sizes: "));
    CHECK_THAT(refusal(two + " --machine tpu_v1" + state), Contains("tpu_v1 has none"));
    CHECK_THAT(refusal("mnist_cnn " + steps + "8.hlo --machine tpu_v2_8"), Contains("takes any batch"));
    CHECK_THAT(refusal("mnist_cnn --machine tpu_v2_8" + state), Contains("state"));
}
