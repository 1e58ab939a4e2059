// A network on machines whose weight memory does not hold its weights: from file to report.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>

#include "tests/support/files.h"
#include "tests/system/sim_process.h"

using namespace systole;

namespace {

constexpr int tile_bytes = 256 * 256;

std::string digits(int tiles, const std::string& options) {
    return "run configs/runs/mnist_cnn.json --limit 40 --batch 10 --no-explain --set "
           "machine.weight_memory.bytes=" +
           std::to_string(tiles * tile_bytes) + " " + options;
}

const std::string spill = "--set machine.weight_memory.spill=true ";

nlohmann::json report_of(int tiles, const std::string& options) {
    const tests::Folder folder;
    const tests::Outcome outcome =
        tests::sim(digits(tiles, options) + " --quiet --out " + folder.path().string());
    INFO(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    return nlohmann::json::parse(tests::text_in(folder / "report.json"));
}

}  // namespace

TEST_CASE("The digits are the same where weights come over the host link", "[system][spilled_weights]") {
    const nlohmann::json whole = report_of(1000, spill);
    const nlohmann::json spilled = report_of(3, spill);
    CHECK(whole.at("memory").at("spilled_weight_bytes") == 0);
    CHECK(whole.at("cycles") == report_of(1000, "").at("cycles"));
    CHECK(spilled.at("predictions") == whole.at("predictions"));
    CHECK(spilled.at("accuracy") == whole.at("accuracy"));
    CHECK(spilled.at("cycles") > whole.at("cycles"));

    const nlohmann::json& memory = spilled.at("memory");
    CHECK(memory.at("weight_memory_used_bytes") == 3 * tile_bytes);
    CHECK(memory.at("spilled_weight_bytes").get<int>() % tile_bytes == 0);
    CHECK(memory.at("spilled_weight_bytes") > 0);
    const nlohmann::json& units = spilled.at("units");
    const auto bytes = units.at("host_interface").at("weight_bytes").get<std::uint64_t>();
    CHECK(bytes > 0);
    CHECK(bytes == units.at("weight_fifo").at("spilled_bytes"));
    CHECK(spilled.at("traffic").at("host_read_bytes") ==
          bytes + units.at("host_interface").at("read_bytes").get<std::uint64_t>());
    // What a layer's tiles take is a bound of the link and no more of weight memory.
    CHECK(spilled.at("bounds").at("host_link") > whole.at("bounds").at("host_link"));
    CHECK(spilled.at("bounds").at("weight_memory") < whole.at("bounds").at("weight_memory"));
}

TEST_CASE("Both engines take the same cycles for spilled weights", "[system][spilled_weights]") {
    const std::string options = spill + "--timing-only --set machine.matrix_unit.engine=";
    CHECK(report_of(3, options + "pe").at("cycles") == report_of(3, options + "wavefront").at("cycles"));
}

TEST_CASE("The text says which weights stay in host memory", "[system][spilled_weights]") {
    const tests::Outcome text = tests::sim(digits(3, spill));
    REQUIRE(text.exit_code == 0);
    CHECK(text.out.find("in host memory, read over the host link\n") != std::string::npos);
}

TEST_CASE("Weights that do not fit are refused with the sizes where the machine does not spill",
          "[system][spilled_weights]") {
    const tests::Outcome refused = tests::sim(digits(3, ""));
    CHECK(refused.exit_code == 2);
    CAPTURE(refused.err);
    CHECK(refused.err.find(" bytes in all; the weight memory has 196608 bytes, and weight_memory.spill is "
                           "false\n") != std::string::npos);
    CHECK(std::ranges::count(refused.err, '\n') == 1);
}
