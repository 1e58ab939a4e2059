// The CPUs of Coral's benchmarks: their files have the rates of three networks.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontend/door/read_network.h"
#include "sim/run/baselines/baseline.h"
#include "sim/run/baselines/expected.h"
#include "tests/support/source_dir.h"

using namespace systole;

namespace {

const std::filesystem::path project = tests::source_dir();

/// coral.ai/docs/edgetpu/benchmarks: ms of an image on the embedded CPU and on the desktop's.
struct Row {
    const char* model;
    double cortex_a53;
    double xeon_gold_6154;
};
constexpr std::array<Row, 3> rows{
    {{"mobilenet_v1", 164, 53}, {"resnet50_v1", 1763, 484}, {"vgg16", 4595, 867}}};

/// The model's times over the published ones.
std::vector<double> ratios(const baselines::Baseline& baseline, double Row::*published) {
    std::vector<double> all;
    for (const Row& row : rows) {
        const auto file = project / "models/coral" / (std::string(row.model) + ".json");
        const ir::Graph graph = frontend::read_network(file, frontend::WeightValues::Skipped);
        const auto expected = baselines::expected_at(baseline, baselines::network_of(graph), 1);
        all.push_back(1e3 * expected.value().seconds / (row.*published));
    }
    return all;
}

double mean(const std::vector<double>& all) {
    double product = 1.0;
    for (const double each : all) product *= each;
    return std::pow(product, 1.0 / static_cast<double>(all.size()));
}

}  // namespace

TEST_CASE("The rates of the CPUs of Coral's benchmarks are those of three networks", "[baselines]") {
    const auto [name, column] = GENERATE(std::pair("cortex_a53", &Row::cortex_a53),
                                         std::pair("xeon_gold_6154", &Row::xeon_gold_6154));
    INFO(name);
    const baselines::Baseline baseline =
        baselines::read_baseline(project / "configs/baselines" / (std::string(name) + ".json"));
    // Four digits of the share at which the geometric mean of the ratios is 1.
    constexpr double half_digit = 0.00005;
    baselines::Baseline slower = baseline;
    slower.efficiency.peak_share -= half_digit;
    baselines::Baseline faster = baseline;
    faster.efficiency.peak_share += half_digit;
    CHECK(mean(ratios(slower, column)) > 1.0);
    CHECK(mean(ratios(faster, column)) < 1.0);
    const std::vector<double> all = ratios(baseline, column);
    const auto digits = [](double factor) { return std::round(1e3 * factor) / 1e3; };
    CHECK(baseline.efficiency.least_factor == digits(*std::ranges::min_element(all)));
    CHECK(baseline.efficiency.most_factor == digits(*std::ranges::max_element(all)));
    CHECK(baseline.efficiency.known_of == "three whole networks: MobileNet v1, ResNet-50 V1, VGG16");
}
