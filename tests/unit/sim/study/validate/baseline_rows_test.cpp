#include <array>
#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "sim/study/validate/baseline_errors.h"
#include "tests/unit/sim/study/validate/shipped.h"

namespace systole::validate {
namespace {

TEST_CASE("The batch of a point follows from its place and 4-byte weights, except MLP0's",
          "[sim][validate]") {
    Formulas formulas = formulas_of(shipped_setup());
    const auto cpu = published_throughput(shipped_setup(), "cpu", formulas);
    const auto gpu = published_throughput(shipped_setup(), "gpu", formulas);
    const std::array<std::string, 6> names{"MLP0", "MLP1", "LSTM0", "LSTM1", "CNN0", "CNN1"};
    REQUIRE(cpu.size() == 8);
    REQUIRE(gpu.size() == 8);
    const std::array<std::uint32_t, 8> cpu_batches{16, 60, 64, 64, 8, 257, 16, 64};
    const std::array<std::uint32_t, 8> gpu_batches{16, 60, 64, 80, 8, 260, 16, 64};
    for (std::size_t i = 0; i < 8; ++i) {
        INFO(i);
        CHECK(cpu[i].known.batch == cpu_batches[i]);
        CHECK(gpu[i].known.batch == gpu_batches[i]);
        CHECK(cpu[i].point->unit == (i < 6 ? "TOPS" : "inf/s"));
        CHECK((cpu[i].known.figure == &baselines::Expected::tops) == (i < 6));
        CHECK(cpu[i].known.network.name == (i < 6 ? names.at(i) : "MLP0"));
    }
    CHECK(cpu[2].point->source == "Figure 6");
    CHECK(cpu[2].known.value == 1.1);
    CHECK(gpu[1].point->source == "Figure 7");
    CHECK(gpu[1].known.value == 0.2);
    CHECK(gpu[7].point->source == "Table 4");
    CHECK(gpu[7].known.value == 36465);
    CHECK(gpu[7].latency_ms == 8.3);
    CHECK(gpu[1].latency_ms == 0.0);
}

TEST_CASE("A published workload has its weights and multiply-accumulates, whatever its layers",
          "[sim][validate]") {
    const Published published = shipped_figures();
    Formulas formulas = formulas_of(shipped_setup());
    const std::array<std::pair<std::string, std::size_t>, 6> layers{
        {{"MLP0", 5}, {"MLP1", 4}, {"LSTM0", 58}, {"LSTM1", 56}, {"CNN0", 16}, {"CNN1", 89}}};
    const auto network_of = [&](const std::string& name) {
        return evenly_shared(shipped_setup(), name, formulas);
    };
    for (const auto& [name, count] : layers) {
        INFO(name);
        const baselines::Network network = network_of(name);
        const double weights = published.at("table_1.weights_millions." + name) * 1e6;
        CHECK(network.layers.size() == count);
        CHECK(static_cast<double>(network.weights()) == Approx(weights));
        CHECK(static_cast<double>(network.macs()) * published.at("table_1.batch." + name) ==
              Approx(published.at("table_1.macs_per_weight_byte." + name) * weights));
    }
    CHECK(network_of("MLP0").macs() == 20'000'000);
    CHECK(network_of("LSTM0").layers[0].weights > network_of("LSTM0").layers[1].weights);
    CHECK(network_of("LSTM0").layers[24].macs == 0);  // behind the fully connected ones
}

}  // namespace
}  // namespace systole::validate
