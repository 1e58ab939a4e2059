// `sim advise`: its figures are those of runs, and larger images those of larger networks.
#include <catch2/catch.hpp>
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
