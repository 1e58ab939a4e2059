#include "sim/study/validate/published.h"

#include <concepts>

#include "sim/study/validate/checked_fields.h"

namespace systole::validate {

using machine::ConfigReader;
using machine::Range;

// Each section's fields, declared once. (Outside an unnamed namespace, so that the reader finds them by the
// structure's type.)

void fields(ConfigReader& reader, Table1& table) {
    constexpr Range layers{0, 10000};
    need_numbers(reader, "fully_connected", table.fully_connected, layers);
    need_numbers(reader, "convolution", table.convolution, layers);
    need_numbers(reader, "vector", table.vector, layers);
    need_numbers(reader, "pool", table.pool, layers);
    need_numbers(reader, "batch", table.batch, Range{1, 1000000});
    need_numbers(reader, "weights_millions", table.weights_millions, positive);
    need_numbers(reader, "macs_per_weight_byte", table.macs_per_weight_byte, positive);
    need_numbers(reader, "deployed_percent", table.deployed_percent, positive);
}

void fields(ConfigReader& reader, Table2& table) {
    need_all(reader, positive,
             {{"peak_tops", table.peak_tops},
              {"weight_memory_gb_per_s", table.weight_memory_gb_per_s},
              {"tpu_idle_watts", table.tpu_idle_watts},
              {"tpu_busy_watts", table.tpu_busy_watts},
              {"cpu_dies", table.cpu_dies},
              {"gpu_dies", table.gpu_dies},
              {"tpu_dies", table.tpu_dies},
              {"cpu_server_tdp_watts", table.cpu_server_tdp_watts},
              {"gpu_server_tdp_watts", table.gpu_server_tdp_watts},
              {"tpu_server_tdp_watts", table.tpu_server_tdp_watts}});
}

void fields(ConfigReader& reader, Figure1& figure) {
    need(reader, "weight_memory_gib_per_s", figure.weight_memory_gib_per_s, positive);
}

void fields(ConfigReader& reader, Table3& table) {
    for (std::size_t row = 0; row < table_3_keys.size(); ++row) {
        // Cycles are compared by row 2.
        need_numbers(reader, table_3_keys[row], table.rows[row], row == 1 ? positive : not_negative);
    }
}

void describe(ConfigReader& reader, LatencyRow& row) {
    need(reader, "batch", row.batch, Range{1, 1000000});
    need_all(reader, positive,
             {{"p99_ms", row.p99_ms}, {"inferences_per_second", row.inferences_per_second}});
}

void describe(ConfigReader& reader, LatencyRows& rows) {
    need_section(reader, "within_limit", rows.within_limit);
    need_section(reader, "at_maximum", rows.at_maximum);
}

void fields(ConfigReader& reader, Table4& table) {
    need(reader, "limit_ms", table.limit_ms, positive);
    need_section(reader, "cpu", table.cpu);
    need_section(reader, "gpu", table.gpu);
    need_section(reader, "tpu", table.tpu);
}

void fields(ConfigReader& reader, Table5& table) {
    need_numbers(reader, "host_percent_of_tpu_time", table.host_percent_of_tpu_time, not_negative);
}

void fields(ConfigReader& reader, Table6& table) {
    need_numbers(reader, "gpu_over_cpu", table.ratios[GpuOverCpu], positive);
    need_numbers(reader, "tpu_over_cpu", table.ratios[TpuOverCpu], positive);
    need_numbers(reader, "tpu_over_gpu", table.ratios[TpuOverGpu], positive);
    need_numbers(reader, "geometric_mean", table.geometric_mean, positive);
    need_numbers(reader, "weighted_mean", table.weighted_mean, positive);
}

void fields(ConfigReader& reader, Table7& table) {
    need_numbers(reader, "model_error_percent", table.model_error_percent, not_negative);
}

void fields(ConfigReader& reader, Table8& table) {
    need_numbers(reader, "unified_buffer_mib", table.unified_buffer_mib, not_negative);
}

void fields(ConfigReader& reader, Figure5& figure) {
    need(reader, "ridge_macs_per_byte", figure.ridge_macs_per_byte, positive);
}

void fields(ConfigReader& reader, RooflineLabels& labels) {
    need_numbers(reader, "tera_ops", labels.tera_ops, positive);
}

void fields(ConfigReader& reader, RooflinePlaces& places) {
    need_numbers(reader, "macs_per_weight_byte", places.macs_per_weight_byte, positive);
}

void fields(ConfigReader& reader, Figure9& figure) {
    need_numbers(reader, "total_gm", figure.total_gm, positive);
    need_numbers(reader, "total_wm", figure.total_wm, positive);
    need_numbers(reader, "incremental_gm", figure.incremental_gm, positive);
    need_numbers(reader, "incremental_wm", figure.incremental_wm, positive);
}

void fields(ConfigReader& reader, Figure10& figure) {
    for (std::size_t curve = 0; curve < power_curve_keys.size(); ++curve) {
        need_numbers(reader, power_curve_keys[curve], figure.curves[curve], positive);
    }
}

void fields(ConfigReader& reader, Figure10Text& text) {
    need(reader, "tpu_watts_at_full_load", text.tpu_watts_at_full_load, positive);
    need_numbers(reader, "cnn0_percent_at_tenth_load", text.cnn0_percent_at_tenth_load, percent);
    need_numbers(reader, "lstm1_percent_at_tenth_load", text.lstm1_percent_at_tenth_load, percent);
    need_all(reader, percent,
             {{"host_percent_with_tpus", text.host_percent_with_tpus},
              {"host_percent_with_gpus", text.host_percent_with_gpus},
              {"tpu_server_extra_percent", text.tpu_server_extra_percent}});
    need(reader, "tpu_server_cnn0_times", text.tpu_server_cnn0_times, positive);
}

void fields(ConfigReader& reader, Figure11& figure) {
    for (std::size_t curve = 0; curve < curve_names.size(); ++curve) {
        need_numbers(reader, curve_names[curve], figure.curves[curve], positive);
    }
}

void fields(ConfigReader& reader, Figure11Text& text) {
    need_all(reader, positive,
             {{"memory_4x_mean", text.memory_4x_mean},
              {"memory_4x_mlp_lstm", text.memory_4x_mlp_lstm},
              {"clock_4x_cnn", text.clock_4x_cnn}});
}

void fields(ConfigReader& reader, TpuPrime& prime) {
    need_all(reader, positive,
             {{"clock_mhz", prime.clock_mhz},
              {"ridge_macs_per_byte", prime.ridge_macs_per_byte},
              {"memory_gm", prime.memory_gm},
              {"memory_wm", prime.memory_wm},
              {"both_gm", prime.both_gm},
              {"both_wm", prime.both_wm},
              {"with_host_gm", prime.with_host_gm},
              {"with_host_wm", prime.with_host_wm},
              {"server_tdp_watts", prime.server_tdp_watts}});
}

void fields(ConfigReader& reader, Tiling& tiling) {
    need(reader, "matrix", tiling.matrix, Range{1, 65536});
    need_all(reader, positive,
             {{"array_256_tiles", tiling.array_256_tiles},
              {"array_256_us", tiling.array_256_us},
              {"array_512_tiles", tiling.array_512_tiles},
              {"array_512_us", tiling.array_512_us}});
}

void fields(ConfigReader& reader, Section8& section) {
    need_all(reader, positive,
             {{"mlp1_inferences_per_second", section.mlp1_inferences_per_second},
              {"cnn1_inferences_per_second", section.cnn1_inferences_per_second}});
}

void fields(ConfigReader& reader, Claim& claim) {
    need_all(reader, positive,
             {{"performance_from", claim.performance_from},
              {"performance_to", claim.performance_to},
              {"per_watt_from", claim.per_watt_from},
              {"per_watt_to", claim.per_watt_to}});
}

/// A section with its citation.
template <std::derived_from<Citation> Section>
void describe(ConfigReader& reader, Section& section) {
    need(reader, "source", section.source);
    reader.choice({"confidence", "", ""}, section.confidence, confidence_names);
    reader.require("confidence");
    fields(reader, section);
}

void describe(ConfigReader& reader, Published& published) {
    need(reader, "title", published.title);
    need_section(reader, "table_1", published.table_1);
    need_section(reader, "table_2", published.table_2);
    need_section(reader, "figure_1", published.figure_1);
    need_section(reader, "table_3", published.table_3);
    need_section(reader, "table_4", published.table_4);
    need_section(reader, "table_5", published.table_5);
    need_section(reader, "table_6", published.table_6);
    need_section(reader, "table_7", published.table_7);
    need_section(reader, "table_8", published.table_8);
    need_section(reader, "figure_5", published.figure_5);
    need_section(reader, "figure_6", published.figure_6);
    need_section(reader, "figure_6_places", published.figure_6_places);
    need_section(reader, "figure_7", published.figure_7);
    need_section(reader, "figure_7_places", published.figure_7_places);
    need_section(reader, "figure_9", published.figure_9);
    need_section(reader, "figure_10", published.figure_10);
    need_section(reader, "figure_10_text", published.figure_10_text);
    need_section(reader, "figure_11", published.figure_11);
    need_section(reader, "figure_11_text", published.figure_11_text);
    need_section(reader, "tpu_prime", published.tpu_prime);
    need_section(reader, "tiling", published.tiling);
    need_section(reader, "section_8", published.section_8);
    need_section(reader, "claim", published.claim);
}

Published read_published(const nlohmann::json& object, const std::string& file) {
    return read_document<Published>(object, file, "sim.published/1");
}

Published read_published(const std::filesystem::path& path) {
    return read_published(machine::read_json_object(path), path.string());
}

}  // namespace systole::validate
