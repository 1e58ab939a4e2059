// `sim baseline`, and runs compared with the file that it writes.
#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/system/sim_process.h"

using namespace systole::tests;
using Json = nlohmann::ordered_json;

namespace {

const std::string digits = "configs/runs/mnist_cnn.json ";

/// Options for the shortest measurement.
const std::string hasty = "baseline --measure --batch 4 --min-time 0 ";

}  // namespace

TEST_CASE("This computer is measured, written as a baseline, and used in a comparison", "[system]") {
    const Folder folder;
    const std::string file = (folder / "here.json").string();
    const Outcome measured = sim(hasty + "--out " + file);
    INFO(measured.err);
    REQUIRE(measured.exit_code == 0);
    for (const char* const wanted : {"peak fp32", "peak int8", "memory", "conv2d_1", "784 x 24 x 432",
                                     "4 x 200 x 3136", "throughput int8", "Baseline in "}) {
        INFO(wanted << " in\n" << measured.out);
        CHECK(measured.out.find(wanted) != std::string::npos);
    }
    const Json baseline = Json::parse(text_in(file));
    CHECK(baseline["schema"] == "sim.baseline/1");
    CHECK(baseline["measured"]["model"] == "mnist_cnn");
    CHECK(baseline["measured"]["batch"] == 4);
    CHECK_FALSE(baseline.contains("server"));

    // The file can be shown, and runs can be compared with it: with the measured figure if network and batch
    // are the same, and always with the expected one.
    const Outcome shown = sim("baseline " + file);
    CHECK(shown.exit_code == 0);
    CHECK(shown.out.find("this_computer: ") == 0);
    CHECK(shown.out.find("measured.fp32_inferences_per_second") != std::string::npos);

    const Json same = report_of(digits + "--limit 8 --batch 4 --baseline " + file);
    const Json& comparison = same["comparison"][0];
    CHECK(comparison["baseline"] == "this_computer");
    const double ours = same["host_time"]["inferences_per_second"];
    CHECK(comparison["measured"]["fp32"]["speedup"].get<double>() ==
          Approx(ours / baseline["measured"]["fp32_inferences_per_second"].get<double>()));
    CHECK(comparison["performance_per_watt"]["total"].is_null());
    CHECK(same["claim"]["against"][0]["basis"] == "measured");
    const Json other = report_of(digits + "--limit 8 --batch 8 --baseline " + file);
    CHECK(other["comparison"][0]["measured"].is_null());
    CHECK(other["comparison"][0]["expected"]["batch"] == 8);
    CHECK(other["claim"]["against"][0]["basis"] == "expected");
    // Measured products have no host, and no published figures give them a band.
    CHECK(other["comparison"][0]["expected"]["band"]["inferences_per_second"].is_null());
    CHECK_FALSE(other["comparison"][0]["host_time"].get<bool>());
    const Outcome text = sim("run " + digits + "--limit 8 --batch 8 --show comparison --baseline " + file);
    CHECK_THAT(in_one_line(text.out), Catch::Contains("host time is in the chip's figures only: 25 %") &&
                                          Catch::Contains("; without the time of its host)"));
}

TEST_CASE("A baseline file is shown with the source of each figure", "[system]") {
    const Outcome shown = sim("baseline k80");
    CHECK(shown.exit_code == 0);
    CHECK(shown.out.find("k80: NVIDIA K80") == 0);
    CHECK(shown.out.find("no peak in 8-bit integers") != std::string::npos);
    std::istringstream lines(shown.out);
    int figures = 0;
    for (std::string line; std::getline(lines, line);) {
        if (line.find("ISCA 2017") != std::string::npos) ++figures;
    }
    CHECK(figures == 21);
    CHECK(shown.out.find("efficiency.least_factor                          0.35   derived: ") !=
          std::string::npos);
}

TEST_CASE("sim baseline reports an error in one line", "[system]") {
    const Folder folder;
    const std::string broken = folder.file("b.json", R"({"schema": "sim.baseline/1", "name": "b", "cores": 1,
        "peak_fp32_gflops": 1, "memory_gb_per_s": 0})");
    const std::vector<std::pair<std::string, std::string>> cases{
        {"baseline", "sim baseline needs a baseline file, or --measure"},
        {"baseline k80 --measure", "excludes"},
        {"baseline k80 --batch 2", "--measure"},
        {"baseline k81", "k81"},
        {"baseline " + broken, "b.json: memory_gb_per_s is 0; it must be"},
        {hasty + "--model nowhere.h5", "nowhere.h5"},
        {hasty + "--batch 0", "--batch"},
        {hasty + "--out /proc/nowhere/b.json", "/proc/nowhere/b.json"}};
    for (const auto& [arguments, wanted] : cases) {
        INFO(arguments);
        const Outcome outcome = sim(arguments);
        INFO(outcome.err);
        CHECK(outcome.exit_code == 2);
        CHECK(outcome.out.empty());
        CHECK(outcome.err.find(wanted) != std::string::npos);
        CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    }
}

TEST_CASE("A comparison has the host's time in both sides, unless the run leaves it out", "[system]") {
    const std::string run = digits + "--timing-only ";
    const Json with = report_of(run);
    const Json without = report_of(run + "--no-host-time");
    for (const char* const key : {"cycles", "inferences_per_second", "energy"})
        CHECK(with[key] == without[key]);
    CHECK(with["host_time"]["in_chip"].get<bool>());
    CHECK(with["host_time"]["in_baselines"].get<bool>());
    CHECK(with["host_time"]["percent"]["typical"] == 25.0);
    CHECK_THAT(with["host_time"]["percent"]["source"].get<std::string>(), Catch::Contains("Table 5"));
    CHECK_FALSE(without["host_time"]["in_chip"].get<bool>());
    CHECK_FALSE(without["configuration"]["run"]["host_time"].get<bool>());

    const double chip = with["inferences_per_second"];
    const double chip_and_host = with["host_time"]["inferences_per_second"];
    CHECK(chip_and_host == Approx(chip / 1.25));
    CHECK(without["host_time"]["inferences_per_second"] == chip);
    const auto& band = with["host_time"]["band"]["inferences_per_second"];
    CHECK(band["least"].get<double>() == Approx(chip / 1.76));
    CHECK(band["most"].get<double>() == Approx(chip / 1.11));
    CHECK(without["host_time"]["band"]["inferences_per_second"].is_null());
    for (std::size_t i = 0; i < 2; ++i) {
        const Json& expected = with["comparison"][i]["expected"];
        const Json& alone = without["comparison"][i]["expected"];
        INFO(with["comparison"][i]["baseline"]);
        CHECK(expected["inferences_per_second"] == alone["inferences_per_second"]);
        CHECK(expected["speedup"].get<double>() == Approx(alone["speedup"].get<double>() / 1.25));
        // From the chip's least over the baseline's most to the chip's most over the baseline's least.
        const double rate = expected["inferences_per_second"];
        const double least = expected["efficiency"]["least_factor"];
        const double most = expected["efficiency"]["most_factor"];
        const auto& ends = expected["band"];
        CHECK(ends["inferences_per_second"]["least"].get<double>() == Approx(rate * least));
        CHECK(ends["inferences_per_second"]["most"].get<double>() == Approx(rate * most));
        CHECK(ends["speedup"]["least"].get<double>() == Approx(chip / 1.76 / (rate * most)));
        CHECK(ends["speedup"]["most"].get<double>() == Approx(chip / 1.11 / (rate * least)));
        const double per_watt = expected["performance_per_watt"]["incremental"];
        CHECK(ends["performance_per_watt"]["incremental"]["most"].get<double>() ==
              Approx(per_watt * ends["speedup"]["most"].get<double>() / expected["speedup"].get<double>()));
        CHECK(alone["band"]["speedup"]["most"].get<double>() == Approx(chip / (rate * least)));
        CHECK(with["claim"]["against"][i]["performance"] == expected["speedup"]);
        CHECK(with["claim"]["against"][i]["band"]["performance"] == ends["speedup"]);
        // An upper bound is exact: the band of a speedup over it is the chip's.
        const Json& bound = with["comparison"][i];
        CHECK(bound["band"]["speedup"]["least"].get<double>() ==
              Approx(bound["speedup"].get<double>() * 1.25 / 1.76));
        CHECK(without["comparison"][i]["band"]["speedup"].is_null());
    }

    const auto text = [&](const std::string& options) {
        return sim("run " + run + options + " --show comparison,claim").out;
    };
    CHECK_THAT(text(""), Catch::Contains(
                             "  host time is in both sides: 25 % of the chip's time is added, 11 to 76 %") &&
                             Catch::Contains("  (host time is in both sides: 25 %"));
    for (const char* const option : {"--no-host-time", "--set host_time=false"}) {
        CHECK_THAT(text(option),
                   Catch::Contains("  host time is in the baselines' figures only: the run") &&
                       Catch::Contains("  (host time is in the baselines' figures only: the run"));
    }
    // A machine that does not know its host.
    const std::string unknown = "--set machine.server.host_percent=null";
    CHECK_THAT(text(unknown),
               Catch::Contains("  host time is in the baselines' figures only: the machine file has no"));
    CHECK(report_of(run + unknown)["host_time"]["percent"].is_null());
    // The source of the shipped share is not that of another share.
    CHECK(report_of(run + "--set machine.server.host_percent.typical=50")["host_time"]["percent"]["source"] ==
          "");
    CHECK(report_of(run + "--set baselines=[]")["host_time"].is_null());
}

TEST_CASE("The shipped run is compared with the claim, with the shares of its cycles", "[system]") {
    // With a pixel in each row of sums, as the network would have been mapped when the claim was made.
    const std::string digits_run = digits + "--timing-only --mapping as_published";
    const Json report = report_of(digits_run);
    const Json& claim = report["claim"];
    REQUIRE(claim["against"].size() == 2);
    CHECK(claim["against"][0]["baseline"] == "haswell_e5_2699_v3");
    CHECK(claim["against"][1]["baseline"] == "k80");
    for (std::size_t i = 0; i < 2; ++i) {
        CHECK(claim["against"][i]["basis"] == "expected");
        CHECK(claim["against"][i]["performance_place"] == "below");
        CHECK(report["comparison"][i]["expected"]["speedup"].get<double>() >
              report["comparison"][i]["speedup"].get<double>());  // an upper bound is one
    }
    CHECK(claim["largest_loss"] == "unused");
    CHECK(claim["array"]["useful_share"].get<double>() < 0.1);

    const Outcome text = sim("run " + digits_run + " --show claim");
    CHECK(text.exit_code == 0);
    CHECK(text.out.find("The claim: 15-30x the performance and 30-80x the performance/W") == 0);
    CHECK(text.out.find("the network's layers did not fill the array") != std::string::npos);

    // A program does not state the activations of layers, so it is compared with the upper bounds.
    const Folder folder;
    const std::string program = (folder / "digits.tpu").string();
    REQUIRE(sim("compile " + digits + "-o " + program).exit_code == 0);
    const Json bare = report_of(digits + "--timing-only --program " + program);
    CHECK(bare["comparison"][0]["expected"].is_null());
    CHECK(bare["claim"]["against"][0]["basis"] == "upper bound");
}
