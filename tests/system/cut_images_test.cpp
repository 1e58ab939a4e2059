// A network on machines whose unified buffer does not hold one image of it: from file to report.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "tests/support/files.h"
#include "tests/system/sim_process.h"

using namespace systole;

namespace {

std::string digits(const std::string& options) {
    return "run configs/runs/mnist_cnn.json --limit 20 --batch 10 --no-explain " + options;
}

std::string rows(int count) {
    return "--set machine.unified_buffer.rows=" + std::to_string(count) + " ";
}

nlohmann::json report_of(const std::string& options) {
    const tests::Folder folder;
    const tests::Outcome outcome = tests::sim(digits(options) + " --quiet --out " + folder.path().string());
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    return nlohmann::json::parse(tests::text_in(folder / "report.json"));
}

}  // namespace

TEST_CASE("The digits are the same on a machine that computes images in strips", "[system][cut_images]") {
    const nlohmann::json whole = report_of("");
    const nlohmann::json cut = report_of(rows(50));
    CHECK_FALSE(whole.at("memory").contains("cut_images"));
    const nlohmann::json& facts = cut.at("memory").at("cut_images");
    CHECK(facts.at("cut_layers") > 0);
    CHECK(facts.at("strips") >= 2 * facts.at("cut_layers").get<int>());
    CHECK(cut.at("predictions") == whole.at("predictions"));
    CHECK(cut.at("accuracy") == whole.at("accuracy"));
    CHECK(cut.at("traffic").at("host_read_bytes") > whole.at("traffic").at("host_read_bytes"));
    CHECK(cut.at("memory").at("unified_buffer_peak_bytes") <= 50 * 256);
    // Each layer once, under its name, with the multiply-accumulates of the network.
    REQUIRE(cut.at("layers").size() == whole.at("layers").size());
    for (std::size_t l = 0; l < whole.at("layers").size(); ++l) {
        for (const char* key : {"name", "kind", "macs"}) {
            CAPTURE(l, key);
            CHECK(cut.at("layers")[l].value(key, nlohmann::json()) ==
                  whole.at("layers")[l].value(key, nlohmann::json()));
        }
    }
}

TEST_CASE("What is cut is said, and can be switched off", "[system][cut_images]") {
    const tests::Outcome text = tests::sim(digits(rows(50)));
    REQUIRE(text.exit_code == 0);
    CHECK(text.out.find("an image does not fit the unified buffer") != std::string::npos);
    const tests::Outcome explained =
        tests::sim("compile configs/runs/mnist_cnn.json --limit 1 --explain " + rows(50));
    REQUIRE(explained.exit_code == 0);
    CHECK(explained.out.find("strips of lines") != std::string::npos);
    const std::string refusal = "one image of this tensor and of those that live at the same time needs";
    for (const char* option : {"--no-cut-images", "--mapping as_published", "--mapping plain"}) {
        CAPTURE(option);
        const tests::Outcome refused = tests::sim(digits(rows(50)) + option);
        CHECK(refused.exit_code == 2);
        CHECK(refused.err.find(refusal) != std::string::npos);
        CHECK(std::ranges::count(refused.err, '\n') == 1);
    }
}

TEST_CASE("A machine that does not hold a line refuses with the sizes", "[system][cut_images]") {
    const tests::Outcome refused = tests::sim(digits(rows(25)));
    CHECK(refused.exit_code == 2);
    CAPTURE(refused.err);
    CHECK(refused.err.find(" bytes of unified buffer; the machine has 6400\n") != std::string::npos);
    CHECK(std::ranges::count(refused.err, '\n') == 1);
}
