#include "sim/study/validate/baseline_rows.h"

#include <cmath>

namespace systole::validate {
namespace {

constexpr double float_bytes = 4.0;  ///< of a weight on CPU and GPU

std::uint32_t batch_of(const Published& published, const LatencyRows& table_4, const RooflinePlaces& places,
                       std::size_t workload) {
    if (workload == MLP0) return table_4.within_limit.batch;
    const Table1& table = published.table_1;
    const double uses_a_byte = table.macs_per_weight_byte[workload] / table.batch[workload];
    return static_cast<std::uint32_t>(
        std::llround(places.macs_per_weight_byte[workload] * float_bytes / uses_a_byte));
}

}  // namespace

baselines::Network evenly_shared(const Table1& table, std::size_t workload) {
    const std::uint64_t weight_layers = table.fully_connected[workload] + table.convolution[workload];
    const std::uint64_t other_layers = table.vector[workload] + table.pool[workload];
    const double weights = table.weights_millions[workload] * 1e6;
    const auto all_weights = static_cast<std::uint64_t>(std::llround(weights));
    const auto all_macs = static_cast<std::uint64_t>(
        std::llround(weights * table.macs_per_weight_byte[workload] / table.batch[workload]));

    baselines::Network network{.name = std::string(workload_names[workload]), .layers = {}};
    for (std::uint64_t i = 0; i < weight_layers; ++i) {
        network.layers.push_back(
            {.macs = all_macs / weight_layers, .weights = all_weights / weight_layers, .activations = 0});
    }
    if (weight_layers > 0) {  // what does not divide evenly
        network.layers.front().macs += all_macs % weight_layers;
        network.layers.front().weights += all_weights % weight_layers;
    }
    network.layers.resize(weight_layers + other_layers);
    return network;
}

std::vector<PublishedThroughput> published_throughput(const Published& published, Processor processor) {
    const bool cpu = processor == Processor::Cpu;
    const LatencyRows& table_4 = cpu ? published.table_4.cpu : published.table_4.gpu;
    const RooflineLabels& labels = cpu ? published.figure_6 : published.figure_7;
    const RooflinePlaces& places = cpu ? published.figure_6_places : published.figure_7_places;

    std::vector<PublishedThroughput> rows;
    for (std::size_t i = 0; i < workload_count; ++i) {
        rows.push_back({.source = cpu ? "Figure 6" : "Figure 7",
                        .network = evenly_shared(published.table_1, i),
                        .batch = batch_of(published, table_4, places, i),
                        .measure = Measure::TeraOps,
                        .value = labels.tera_ops[i],
                        .latency_ms = 0.0});
    }
    for (const LatencyRow& row : {table_4.within_limit, table_4.at_maximum}) {
        rows.push_back({.source = "Table 4",
                        .network = evenly_shared(published.table_1, MLP0),
                        .batch = row.batch,
                        .measure = Measure::InferencesPerSecond,
                        .value = row.inferences_per_second,
                        .latency_ms = row.p99_ms});
    }
    return rows;
}

}  // namespace systole::validate
