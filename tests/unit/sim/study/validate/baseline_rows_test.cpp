#include <catch2/catch.hpp>

#include "sim/study/validate/baseline_errors.h"
#include "tests/unit/sim/study/validate/shipped.h"

namespace systole::validate {
namespace {

TEST_CASE("The batch of a point follows from its place and 4-byte weights, except MLP0's",
          "[sim][validate]") {
    const auto cpu = published_throughput(shipped_figures(), cpu_die);
    const auto gpu = published_throughput(shipped_figures(), gpu_die);
    REQUIRE(cpu.size() == 8);
    REQUIRE(gpu.size() == 8);
    const std::array<std::uint32_t, 8> cpu_batches{16, 60, 64, 64, 8, 257, 16, 64};
    const std::array<std::uint32_t, 8> gpu_batches{16, 60, 64, 80, 8, 260, 16, 64};
    for (std::size_t i = 0; i < 8; ++i) {
        INFO(i);
        CHECK(cpu[i].known.batch == cpu_batches[i]);
        CHECK(gpu[i].known.batch == gpu_batches[i]);
        CHECK(cpu[i].unit == (i < 6 ? "TOPS" : "inf/s"));
        CHECK((cpu[i].known.figure == &baselines::Expected::tops) == (i < 6));
        CHECK(cpu[i].known.network.name == (i < 6 ? workload_names[i] : "MLP0"));
    }
    CHECK(cpu[2].source == "Figure 6");
    CHECK(cpu[2].known.value == 1.1);
    CHECK(gpu[1].source == "Figure 7");
    CHECK(gpu[1].known.value == 0.2);
    CHECK(gpu[7].source == "Table 4");
    CHECK(gpu[7].known.value == 36465);
    CHECK(gpu[7].latency_ms == 8.3);
    CHECK(gpu[1].latency_ms == 0.0);
}

TEST_CASE("A published workload has its weights and multiply-accumulates, whatever its layers",
          "[sim][validate]") {
    const Published published = shipped_figures();
    const ByWorkload<double> weights_millions = published.workloads("table_1.weights_millions");
    const ByWorkload<double> macs_per_weight_byte = published.workloads("table_1.macs_per_weight_byte");
    const ByWorkload<double> batch = published.workloads("table_1.batch");
    const std::array<std::size_t, workload_count> layers{5, 4, 58, 56, 16, 89};
    for (std::size_t i = 0; i < workload_count; ++i) {
        INFO(workload_names[i]);
        const baselines::Network network = evenly_shared(published, i);
        CHECK(network.layers.size() == layers[i]);
        CHECK(static_cast<double>(network.weights()) == Approx(weights_millions[i] * 1e6));
        CHECK(static_cast<double>(network.macs()) * batch[i] ==
              Approx(macs_per_weight_byte[i] * weights_millions[i] * 1e6));
    }
    CHECK(evenly_shared(published, MLP0).macs() == 20'000'000);
    CHECK(evenly_shared(published, LSTM0).layers[0].weights >
          evenly_shared(published, LSTM0).layers[1].weights);
    CHECK(evenly_shared(published, LSTM0).layers[24].macs == 0);  // behind the fully connected ones
}

}  // namespace
}  // namespace systole::validate
