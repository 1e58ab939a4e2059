#include "sim/validate/published.h"

#include <fmt/format.h>

#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"
#include "sim/validate/checked_fields.h"

namespace systole::validate {

using machine::ConfigReader;

// Each structure's fields, declared once. (Outside an unnamed namespace, so that the reader finds them by
// the structure's type.)

namespace {

constexpr machine::RealRange percent{0.0, 100.0};
constexpr machine::RealRange positive{1e-6, 1e12};  // what is divided by is never 0

void citation(ConfigReader& reader, Citation& cited) {
    need(reader, "source", cited.source);
    reader.choice({"confidence", "", ""}, cited.confidence, confidence_names);
    reader.require("confidence");
}

}  // namespace

template <const auto& Names>
void describe(ConfigReader& reader, Named<Names>& numbers) {
    for (std::size_t i = 0; i < Names.size(); ++i) need(reader, Names[i], numbers.values[i]);
}

void describe(ConfigReader& reader, Table1& table) {
    citation(reader, table);
    need_section(reader, "batch", table.batch);
    need_section(reader, "weights_millions", table.weights_millions);
    need_section(reader, "macs_per_weight_byte", table.macs_per_weight_byte);
    need_section(reader, "deployed_percent", table.deployed_percent);
}

void describe(ConfigReader& reader, Table2& table) {
    citation(reader, table);
    need(reader, "peak_tops", table.peak_tops, positive);
    need(reader, "weight_memory_gb_per_s", table.weight_memory_gb_per_s, positive);
    need(reader, "tpu_idle_watts", table.tpu_idle_watts, positive);
    need(reader, "tpu_busy_watts", table.tpu_busy_watts, positive);
    need(reader, "cpu_dies", table.cpu_dies, positive);
    need(reader, "gpu_dies", table.gpu_dies, positive);
    need(reader, "tpu_dies", table.tpu_dies, positive);
    need(reader, "cpu_server_tdp_watts", table.cpu_server_tdp_watts, positive);
    need(reader, "gpu_server_tdp_watts", table.gpu_server_tdp_watts, positive);
    need(reader, "tpu_server_tdp_watts", table.tpu_server_tdp_watts, positive);
    need(reader, "cpu_server_idle_watts", table.cpu_server_idle_watts, positive);
    need(reader, "cpu_server_busy_watts", table.cpu_server_busy_watts, positive);
}

void describe(ConfigReader& reader, Figure1& figure) {
    citation(reader, figure);
    need(reader, "weight_memory_gib_per_s", figure.weight_memory_gib_per_s, positive);
}

void describe(ConfigReader& reader, Table3& table) {
    citation(reader, table);
    for (std::size_t row = 0; row < table_3_keys.size(); ++row) {
        need_section(reader, table_3_keys[row], table.rows[row]);
    }
}

void describe(ConfigReader& reader, LatencyRow& row) {
    need(reader, "batch", row.batch, {1.0, 1e6});
    need(reader, "p99_ms", row.p99_ms, positive);
    need(reader, "inferences_per_second", row.inferences_per_second, positive);
}

void describe(ConfigReader& reader, Table4& table) {
    citation(reader, table);
    need(reader, "limit_ms", table.limit_ms, positive);
    need_section(reader, "within_limit", table.within_limit);
    need_section(reader, "at_maximum", table.at_maximum);
}

void describe(ConfigReader& reader, Table5& table) {
    citation(reader, table);
    need_section(reader, "host_percent_of_tpu_time", table.host_percent_of_tpu_time);
}

void describe(ConfigReader& reader, Table6& table) {
    citation(reader, table);
    need_section(reader, "gpu_over_cpu", table.ratios[GpuOverCpu]);
    need_section(reader, "tpu_over_cpu", table.ratios[TpuOverCpu]);
    need_section(reader, "tpu_over_gpu", table.ratios[TpuOverGpu]);
    need_section(reader, "geometric_mean", table.geometric_mean);
    need_section(reader, "weighted_mean", table.weighted_mean);
}

void describe(ConfigReader& reader, Table7& table) {
    citation(reader, table);
    need_section(reader, "model_error_percent", table.model_error_percent);
}

void describe(ConfigReader& reader, Table8& table) {
    citation(reader, table);
    need_section(reader, "unified_buffer_mib", table.unified_buffer_mib);
}

void describe(ConfigReader& reader, Figure5& figure) {
    citation(reader, figure);
    need(reader, "ridge_macs_per_byte", figure.ridge_macs_per_byte, positive);
}

void describe(ConfigReader& reader, Figure9& figure) {
    citation(reader, figure);
    need_section(reader, "total_gm", figure.total_gm);
    need_section(reader, "total_wm", figure.total_wm);
    need_section(reader, "incremental_gm", figure.incremental_gm);
    need_section(reader, "incremental_wm", figure.incremental_wm);
}

void describe(ConfigReader& reader, Figure10& figure) {
    citation(reader, figure);
    need_section(reader, "tpu_watts", figure.tpu_watts);
    need_section(reader, "tpu_with_host_watts", figure.tpu_with_host_watts);
}

void describe(ConfigReader& reader, Figure10Text& text) {
    citation(reader, text);
    need(reader, "tpu_watts_at_full_load", text.tpu_watts_at_full_load, positive);
    need(reader, "tpu_percent_at_tenth_load", text.tpu_percent_at_tenth_load, percent);
    need(reader, "host_percent_with_tpus", text.host_percent_with_tpus, percent);
}

void describe(ConfigReader& reader, Figure11& figure) {
    citation(reader, figure);
    for (std::size_t curve = 0; curve < curve_names.size(); ++curve) {
        need_section(reader, curve_names[curve], figure.curves[curve]);
    }
}

void describe(ConfigReader& reader, Figure11Text& text) {
    citation(reader, text);
    need(reader, "memory_4x_mean", text.memory_4x_mean, positive);
    need(reader, "memory_4x_mlp_lstm", text.memory_4x_mlp_lstm, positive);
    need(reader, "clock_4x_cnn", text.clock_4x_cnn, positive);
}

void describe(ConfigReader& reader, TpuPrime& prime) {
    citation(reader, prime);
    need(reader, "clock_mhz", prime.clock_mhz, positive);
    need(reader, "ridge_macs_per_byte", prime.ridge_macs_per_byte, positive);
    need(reader, "memory_gm", prime.memory_gm, positive);
    need(reader, "memory_wm", prime.memory_wm, positive);
    need(reader, "both_gm", prime.both_gm, positive);
    need(reader, "both_wm", prime.both_wm, positive);
    need(reader, "with_host_gm", prime.with_host_gm, positive);
    need(reader, "with_host_wm", prime.with_host_wm, positive);
    need(reader, "server_tdp_watts", prime.server_tdp_watts, positive);
}

void describe(ConfigReader& reader, Tiling& tiling) {
    citation(reader, tiling);
    need(reader, "matrix", tiling.matrix, {1.0, 65536.0});
    need(reader, "array_256_tiles", tiling.array_256_tiles, positive);
    need(reader, "array_256_us", tiling.array_256_us, positive);
    need(reader, "array_512_tiles", tiling.array_512_tiles, positive);
    need(reader, "array_512_us", tiling.array_512_us, positive);
}

void describe(ConfigReader& reader, Section8& section) {
    citation(reader, section);
    need(reader, "mlp1_inferences_per_second", section.mlp1_inferences_per_second, positive);
    need(reader, "cnn1_inferences_per_second", section.cnn1_inferences_per_second, positive);
}

void describe(ConfigReader& reader, Claim& claim) {
    citation(reader, claim);
    need(reader, "performance_from", claim.performance_from, positive);
    need(reader, "performance_to", claim.performance_to, positive);
    need(reader, "per_watt_from", claim.per_watt_from, positive);
    need(reader, "per_watt_to", claim.per_watt_to, positive);
}

namespace {

/// Batches that programs can be made for, and shares that are something.
void check(const Published& published, const std::string& file) {
    for (std::size_t i = 0; i < workload_count; ++i) {
        const double batch = published.table_1.batch[i];
        if (!(batch >= 1.0) || batch > 1e6 ||
            batch != static_cast<double>(static_cast<std::uint32_t>(batch))) {
            throw machine::ConfigError(
                fmt::format("{}: table_1.batch.{} is {}; it must be a whole number from 1 to 1000000", file,
                            workload_names[i], batch));
        }
        for (std::size_t ratio = 0; ratio < ratio_names.size(); ++ratio) {
            if (published.table_6.ratios[ratio][i] > 0.0) continue;
            throw machine::ConfigError(fmt::format("{}: table_6: {} of {} is {}; it must be above 0", file,
                                                   ratio_names[ratio], workload_names[i],
                                                   published.table_6.ratios[ratio][i]));
        }
        const double row_2 = published.table_3.rows[1][i];
        if (!(row_2 > 0.0)) {
            throw machine::ConfigError(
                fmt::format("{}: table_3.useful_macs.{} is {}; it must be above 0, as cycles are compared "
                            "by it",
                            file, workload_names[i], row_2));
        }
    }
}

}  // namespace

Published read_published(const nlohmann::json& object, const std::string& file) {
    ConfigReader reader(object, file);
    Published read;
    need(reader, "schema", read.schema);
    need(reader, "name", read.name);
    need(reader, "title", read.title);
    need_section(reader, "table_1", read.table_1);
    need_section(reader, "table_2", read.table_2);
    need_section(reader, "figure_1", read.figure_1);
    need_section(reader, "table_3", read.table_3);
    need_section(reader, "table_4", read.table_4);
    need_section(reader, "table_5", read.table_5);
    need_section(reader, "table_6", read.table_6);
    need_section(reader, "table_7", read.table_7);
    need_section(reader, "table_8", read.table_8);
    need_section(reader, "figure_5", read.figure_5);
    need_section(reader, "figure_9", read.figure_9);
    need_section(reader, "figure_10", read.figure_10);
    need_section(reader, "figure_10_text", read.figure_10_text);
    need_section(reader, "figure_11", read.figure_11);
    need_section(reader, "figure_11_text", read.figure_11_text);
    need_section(reader, "tpu_prime", read.tpu_prime);
    need_section(reader, "tiling", read.tiling);
    need_section(reader, "section_8", read.section_8);
    need_section(reader, "claim", read.claim);
    reader.reject_unknown_keys();
    if (read.schema != "sim.published/1") reader.fail("schema", "it must be \"sim.published/1\"");
    check(read, file);
    return read;
}

Published read_published(const std::filesystem::path& path) {
    return read_published(machine::read_json_object(path), path.string());
}

}  // namespace systole::validate
