#include "sim/study/validate/published.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include "hw/machine/config_reader.h"

namespace systole::validate {

using machine::ConfigReader;
using machine::needed;
using machine::Range;
using machine::RealRange;

namespace {

constexpr RealRange positive{1e-6, 1e12};  ///< for numbers that are divisors
constexpr RealRange not_negative{0.0, 1e12};
constexpr RealRange percent{0.0, 100.0};
constexpr Range layers{0, 10000};
constexpr Range batches{1, 1000000};

using Keys = std::vector<std::string_view>;

/// Numbers with the same keys and range, in some objects of the file.
struct Numbers {
    std::variant<RealRange, Range> range;  ///< Range: whole numbers
    Keys keys;
    std::vector<std::string> objects;
};

/// Every number of the file.
std::vector<Numbers> declare_numbers() {
    const auto list = [](const auto& names) { return Keys(names.begin(), names.end()); };
    const Keys workloads = list(workload_names);
    Keys with_mean = workloads;
    with_mean.emplace_back("mean");
    const std::vector<std::string> latency_rows{"table_4.cpu.within_limit", "table_4.cpu.at_maximum",
                                                "table_4.gpu.within_limit", "table_4.gpu.at_maximum",
                                                "table_4.tpu.within_limit", "table_4.tpu.at_maximum"};
    std::vector<Numbers> all;
    const auto add = [&](std::variant<RealRange, Range> range, Keys keys, std::vector<std::string> objects) {
        all.push_back({range, std::move(keys), std::move(objects)});
    };
    add(layers, workloads,
        {"table_1.fully_connected", "table_1.convolution", "table_1.vector", "table_1.pool"});
    add(batches, workloads, {"table_1.batch"});
    add(positive, workloads, {"table_1.weights_millions", "table_1.macs_per_weight_byte"});
    add(positive, {"MLP", "LSTM", "CNN"}, {"table_1.deployed_percent"});  // of the chips in use
    // Watts, and dies of a server. configs/baselines repeats those of CPU and GPU for runs; a test holds the
    // two together.
    add(positive,
        {"peak_tops", "weight_memory_gb_per_s", "tpu_idle_watts", "tpu_busy_watts", "cpu_dies", "gpu_dies",
         "tpu_dies", "cpu_server_tdp_watts", "gpu_server_tdp_watts", "tpu_server_tdp_watts"},
        {"table_2"});
    add(positive, {"weight_memory_gib_per_s"}, {"figure_1"});
    add(positive, with_mean, {"table_3.useful_macs"});  // a divisor: cycles are compared by it
    add(not_negative, with_mean,
        {"table_3.array_active", "table_3.unused_macs", "table_3.weight_stall", "table_3.weight_shift",
         "table_3.non_matrix", "table_3.raw_stall", "table_3.input_stall", "table_3.tera_ops"});
    add(positive, {"limit_ms"}, {"table_4"});
    add(batches, {"batch"}, latency_rows);
    add(positive, {"p99_ms", "inferences_per_second"}, latency_rows);
    add(not_negative, workloads, {"table_5.host_percent_of_tpu_time"});
    add(positive, workloads, {"table_6.gpu_over_cpu", "table_6.tpu_over_cpu", "table_6.tpu_over_gpu"});
    add(positive, list(ratio_names), {"table_6.geometric_mean", "table_6.weighted_mean"});
    add(not_negative, workloads, {"table_7.model_error_percent", "table_8.unified_buffer_mib"});
    add(positive, {"ridge_macs_per_byte"}, {"figure_5"});
    // Labels have one digit: 0.2 stands for all from 0.15 to 0.25.
    add(positive, workloads, {"figure_6.tera_ops", "figure_7.tera_ops"});
    add(positive, workloads,
        {"figure_6_places.macs_per_weight_byte", "figure_7_places.macs_per_weight_byte"});
    add(positive, list(server_ratio_names),
        {"figure_9.total_gm", "figure_9.total_wm", "figure_9.incremental_gm", "figure_9.incremental_wm"});
    add(positive, list(load_names),
        {"figure_10.tpu_watts", "figure_10.tpu_with_host_watts", "figure_10.gpu_watts",
         "figure_10.gpu_with_host_watts", "figure_10.cpu_watts"});
    add(positive, {"tpu_watts_at_full_load", "tpu_server_cnn0_times"}, {"figure_10_text"});
    // The host's watts with busy accelerators, of its own busy watts; and the additional watts of a CPU
    // server with TPUs.
    add(percent, {"host_percent_with_tpus", "host_percent_with_gpus", "tpu_server_extra_percent"},
        {"figure_10_text"});
    add(percent, {"TPU", "CPU", "GPU"},
        {"figure_10_text.cnn0_percent_at_tenth_load", "figure_10_text.lstm1_percent_at_tenth_load"});
    add(positive, list(scale_names),
        {"figure_11.memory", "figure_11.clock", "figure_11.clock+", "figure_11.matrix", "figure_11.matrix+"});
    add(positive, {"memory_4x_mean", "memory_4x_mlp_lstm", "clock_4x_cnn"}, {"figure_11_text"});
    add(positive,
        {"clock_mhz", "ridge_macs_per_byte", "memory_gm", "memory_wm", "both_gm", "both_wm", "with_host_gm",
         "with_host_wm", "server_tdp_watts"},
        {"tpu_prime"});
    add(Range{1, 65536}, {"matrix"}, {"tiling"});  // rows and columns of the weights
    add(positive, {"array_256_tiles", "array_256_us", "array_512_tiles", "array_512_us"}, {"tiling"});
    add(positive, {"mlp1_inferences_per_second", "cnn1_inferences_per_second"}, {"section_8"});
    add(positive, {"performance_from", "performance_to", "per_watt_from", "per_watt_to"}, {"claim"});
    return all;
}

/// An object of the file, by its path with a dot at the end; the path of the whole file is empty.
struct Object {
    std::string path;
    Published& published;
};

/// Reads the numbers of the object, then the objects inside it.
void describe(ConfigReader& reader, Object& object) {
    static const std::vector<Numbers> declared = declare_numbers();
    const auto read = [&](const std::string& key, const auto& range, auto value) {
        reader.field(needed(key, "", ""), value, range);
        object.published.numbers[object.path + key] = value;
    };
    std::set<std::string> inner;
    for (const Numbers& numbers : declared) {
        for (const std::string& other : numbers.objects) {
            if (other + "." == object.path) {
                for (const std::string_view key : numbers.keys) {
                    if (const auto* whole = std::get_if<Range>(&numbers.range)) {
                        read(std::string(key), *whole, std::uint32_t{});
                    } else {
                        read(std::string(key), std::get<RealRange>(numbers.range), double{});
                    }
                }
            } else if (other.starts_with(object.path)) {
                const std::string rest = other.substr(object.path.size());
                inner.insert(rest.substr(0, rest.find('.')));
            }
        }
    }
    for (const std::string& key : inner) {
        Object child{object.path + key + ".", object.published};
        reader.section(needed(key, "", ""), child);
    }
    if (std::count(object.path.begin(), object.path.end(), '.') != 1) return;
    Citation& citation = object.published.citations[object.path.substr(0, object.path.size() - 1)];
    reader.field(needed("source", "", ""), citation.source);
    reader.choice(needed("confidence", "", ""), citation.confidence, confidence_names);
}

}  // namespace

double Published::at(std::string_view path) const {
    const auto found = numbers.find(path);
    if (found == numbers.end()) throw std::logic_error(fmt::format("{} is no published number", path));
    return found->second;
}

ByWorkload<double> Published::table_3(std::size_t row) const {
    return workloads(fmt::format("table_3.{}", table_3_rows.at(row).key));
}

ByWorkload<double> Published::table_6(Ratio ratio) const {
    return workloads(fmt::format("table_6.{}", ratio_keys.at(ratio)));
}

std::array<double, 11> Published::figure_10(PowerCurve curve) const {
    return row(fmt::format("figure_10.{}", power_curve_keys.at(curve)), load_names);
}

std::array<double, 5> Published::figure_11(Curve curve) const {
    return row(fmt::format("figure_11.{}", curve_names.at(curve)), scale_names);
}

Published read_published(const nlohmann::json& object, const std::string& file) {
    ConfigReader reader(object, file);
    Published published;
    reader.check_schema("sim.published/1");
    reader.field(needed("name", "", ""), published.name);
    reader.field(needed("title", "", ""), published.title);
    Object whole{"", published};
    describe(reader, whole);
    reader.check_keys();
    return published;
}

Published read_published(const std::filesystem::path& path) {
    return read_published(machine::read_json_object(path), path.string());
}

}  // namespace systole::validate
