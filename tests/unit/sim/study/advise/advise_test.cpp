#include "sim/study/advise/advise.h"

#include <catch2/catch.hpp>

#include "sim/study/advise/advice_page.h"

using namespace systole;
using namespace systole::advise;

namespace {

Point point(std::uint32_t size, std::uint32_t batch, double rate, double peak, std::optional<double> speedup,
            std::string limit = "array") {
    return {.size = size,
            .batch = batch,
            .error = {},
            .latency_seconds = batch / rate,
            .interval_seconds = batch / rate,
            .inferences_per_second = rate,
            .peak_share = peak,
            .limit = std::move(limit),
            .speedup = speedup};
}

std::vector<std::string> sentences(const std::vector<Point>& points) {
    return sentences_for("chip", "net", "cpu", points);
}

}  // namespace

TEST_CASE("The filling batch is the smallest near the highest rate of its size", "[study][advise]") {
    const std::vector<Point> points{point(1, 1, 100, 0.1, {}), point(1, 8, 900, 0.3, {}),
                                    point(1, 64, 990, 0.31, {}), point(2, 1, 5000, 0.9, {})};
    CHECK(filling_point(points, 1)->batch == 8);
    CHECK(filling_point(points, 1, 1.0)->batch == 64);
    CHECK(filling_point(points, 2)->batch == 1);
    CHECK(filling_point(points, 3) == nullptr);
    Point failed = point(1, 1, 100, 0.1, {});
    failed.error = "it does not fit";
    CHECK(filling_point(std::vector<Point>{failed}, 1) == nullptr);
}

TEST_CASE("The sentences answer what fills, what limits, when the CPU is quicker, and the rule",
          "[study][advise]") {
    const std::vector<std::string> said =
        sentences({point(1, 1, 100, 0.02, 0.5, "weight memory"), point(1, 8, 900, 0.2, 4.0, "weight memory"),
                   point(1, 64, 950, 0.21, 9.0), point(2, 8, 300, 0.5, 12.0)});
    REQUIRE(said.size() == 5);
    CHECK(said[0] ==
          "net fills chip from batch 8 on, as far as batches can: 900 inferences a second, 20.0 % of "
          "the array's peak.");
    CHECK(said[1] == "At batch 8, the weight memory is the limit.");
    CHECK(said[2] == "Images 2 times as wide and high fill it best, with 50.0 % of the peak at batch 8.");
    CHECK(said[3] ==
          "Up to batch 1, a die of cpu is expected to be the better choice; at batch 8, chip is "
          "quicker 4.0 times.");
    CHECK(said[4] ==
          "So the rule for this network is batch = 8 x cores. chip has one core; the rule of the "
          "article on Colab's TPU with eight is 64 x cores.");

    const std::vector<std::string> growing =
        sentences({point(1, 1, 100, 0.02, 0.5, "weight memory"), point(1, 8, 900, 0.2, 0.9)});
    REQUIRE(growing.size() == 4);
    CHECK(growing[0] ==
          "net gains from larger batches up to the largest that was tried, 8: 900 inferences a "
          "second, 20.0 % of the array's peak.");
    CHECK(growing[1] == "At batch 1, the weight memory is the limit; at batch 8, the array is the limit.");
    CHECK(growing[2] == "A die of cpu is expected to be the better choice at every batch here.");
    CHECK(growing[3].find("batch = at least 8 x cores") != std::string::npos);

    // The CPU's speed is not known.
    CHECK(sentences({point(1, 4, 100, 0.02, {})}).size() == 3);
    CHECK(sentences({}).empty());
}

TEST_CASE("The page of an advice has a line for each size, and escapes names", "[study][advise]") {
    const Advice advice{
        .machine = "chip",
        .model = "a<b",
        .cpu = "cpu",
        .points = {point(1, 1, 100, 0.1, 2.0), point(1, 4, 300, 0.3, 3.0), point(2, 1, 100, 0.4, {})},
        .sentences = {"x & y"}};
    const std::string page = to_html(advice);
    CHECK(page.find("<h1>a&lt;b on chip</h1>") != std::string::npos);
    CHECK(page.find("<p>x &amp; y</p>") != std::string::npos);
    CHECK(page.find("images x 1</text>") != std::string::npos);
    CHECK(page.find("images x 2</text>") != std::string::npos);
    std::size_t lines = 0;
    for (std::size_t at = page.find("<path"); at != std::string::npos; at = page.find("<path", at + 1))
        ++lines;
    CHECK(lines == 2);
}
