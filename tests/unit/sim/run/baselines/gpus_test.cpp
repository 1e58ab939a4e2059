// GPUs beside the Cloud TPU: their rates follow from published training, their peaks from the machine's
// number format.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "compiler/frontend/door/read_network.h"
#include "hw/machine/machine_config.h"
#include "sim/run/baselines/baseline.h"
#include "sim/run/baselines/comparison.h"
#include "sim/run/baselines/expected.h"
#include "tests/support/source_dir.h"

using namespace systole;
using baselines::Baseline;
using baselines::Precision;

namespace {

const std::filesystem::path shipped_configs = std::filesystem::path(tests::source_dir()) / "configs";

Baseline shipped(const std::string& name) {
    return baselines::read_baseline(shipped_configs / "baselines" / (name + ".json"));
}

/// Images a second of ResNet-50 in training on one GPU, with so many together. A step computes three products
/// for each of an inference: the layer's, and those of the gradients of its input and its weights.
struct Training {
    std::uint32_t batch = 0;
    double images_per_second = 0.0;
};
constexpr double products_of_a_step = 3.0;

/// The model's times over the published ones.
std::vector<double> training_ratios(const Baseline& baseline, const std::vector<Training>& measured) {
    const ir::Graph graph = frontend::read_network(shipped_configs / "../models/coral/resnet50_v1.json",
                                                   frontend::WeightValues::Skipped);
    const baselines::Network network = baselines::network_of(graph);
    std::vector<double> all;
    for (const Training& row : measured) {
        const baselines::Expected model = baselines::expected_at(baseline, network, row.batch).value();
        all.push_back(products_of_a_step * row.images_per_second / model.inferences_per_second);
    }
    return all;
}

double geometric_mean(const std::vector<double>& all) {
    double product = 1.0;
    for (const double each : all) product *= each;
    return std::pow(product, 1.0 / static_cast<double>(all.size()));
}

void check_rates(const Baseline& baseline, const std::vector<Training>& measured) {
    INFO(baseline.name);
    // Four digits of the share at which the geometric mean of the training_ratios is 1.
    constexpr double half_digit = 0.00005;
    Baseline slower = baseline;
    slower.efficiency.peak_share -= half_digit;
    slower.efficiency.memory_share -= half_digit;
    Baseline faster = baseline;
    faster.efficiency.peak_share += half_digit;
    faster.efficiency.memory_share += half_digit;
    // One number: the share of each layer's roofline.
    CHECK(baseline.efficiency.memory_share == baseline.efficiency.peak_share);
    INFO("the mean is " << geometric_mean(training_ratios(baseline, measured)));
    CHECK(geometric_mean(training_ratios(slower, measured)) > 1.0);
    CHECK(geometric_mean(training_ratios(faster, measured)) < 1.0);
    const std::vector<double> all = training_ratios(baseline, measured);
    const auto digits = [](double factor) { return std::round(1e3 * factor) / 1e3; };
    CHECK(baseline.efficiency.least_factor == digits(*std::ranges::min_element(all)));
    CHECK(baseline.efficiency.most_factor == digits(*std::ranges::max_element(all)));
}

}  // namespace

TEST_CASE("The rates of V100 and P100 are those of ResNet-50 in training", "[baselines]") {
    // Wang et al., arXiv 1909.06842; and eight V100 of MLPerf Training v0.5, 9,841 images a second.
    check_rates(shipped("v100"), {{64, 589}, {128, 680}, {256, 9841.0 / 8}});
    check_rates(shipped("p100"), {{64, 202}, {128, 208}});
}

TEST_CASE("The machine's number format decides which peak of a baseline stands beside it", "[baselines]") {
    const auto machine = [](const std::string& name) {
        return machine::read_machine(shipped_configs / "machines" / (name + ".json"));
    };
    machine::MachineConfig core = machine("tpu_v2_1core");
    Baseline v100 = shipped("v100");
    CHECK(baselines::precision_beside(core, v100) == Precision::Fp16);
    CHECK(baselines::precision_beside(core, shipped("xeon_gold_6154_18_cores")) == Precision::Fp32);
    CHECK(baselines::precision_beside(machine("tpu_v1"), v100) == Precision::Fp32);
    CHECK(baselines::precision_beside(machine("edge_tpu_usb"), v100) == Precision::Fp32);
    v100.peak_bf16_gflops = v100.peak_fp16_gflops - 1;
    CHECK(baselines::precision_beside(core, v100) == Precision::Fp16);
    v100.peak_bf16_gflops += 1;
    CHECK(baselines::precision_beside(core, v100) == Precision::Bf16);
    // Several passes compute what bfloat16 alone does not.
    core.matrix_unit.precision = machine::MatrixPrecision::High;
    CHECK(baselines::precision_beside(core, v100) == Precision::Fp32);

    const baselines::Work compute{.macs = 1'000'000, .weights = 1, .batch = 1};
    const baselines::Work memory{.macs = 1, .weights = 1'000'000, .batch = 1};
    const auto rate = [&](const baselines::Work& work, Precision precision) {
        return baselines::roofline(v100, work, precision).value().inferences_per_second;
    };
    CHECK(rate(compute, Precision::Fp16) == Approx(125e12 / 2e6));
    CHECK(rate(compute, Precision::Bf16) == Approx(125e12 / 2e6));
    CHECK(rate(memory, Precision::Fp16) == Approx(900e9 / 2e6));
    CHECK(rate(memory, Precision::Bf16) == Approx(900e9 / 2e6));
    CHECK(rate(memory, Precision::Fp32) == Approx(900e9 / 4e6));
}
