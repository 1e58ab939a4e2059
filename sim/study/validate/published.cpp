#include "sim/study/validate/published.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include "hw/machine/config_reader.h"

namespace systole::validate {

using machine::ConfigReader;
using machine::Range;
using machine::RealRange;

namespace {

constexpr RealRange positive{1e-6, 1e12};  ///< for numbers that are divisors
constexpr RealRange not_negative{0.0, 1e12};
constexpr RealRange percent{0.0, 100.0};
constexpr Range layers{0, 10000};
constexpr Range batches{1, 1000000};

/// Numbers of one object of the file that share a range.
struct Numbers {
    std::string object;
    std::vector<std::string_view> keys;
    std::variant<RealRange, Range> range;  ///< Range: whole numbers
};

/// Every number of the file.
std::vector<Numbers> declare_numbers() {
    const std::vector<std::string_view> workloads(workload_names.begin(), workload_names.end());
    const std::vector<std::string_view> ratios(ratio_names.begin(), ratio_names.end());
    const std::vector<std::string_view> servers(server_ratio_names.begin(), server_ratio_names.end());
    const std::vector<std::string_view> load(load_names.begin(), load_names.end());
    const std::vector<std::string_view> scale(scale_names.begin(), scale_names.end());
    const std::vector<std::string_view> processors{"TPU", "CPU", "GPU"};
    std::vector<std::string_view> workloads_and_mean = workloads;
    workloads_and_mean.emplace_back("mean");

    std::vector<Numbers> all{
        {"table_1.fully_connected", workloads, layers},
        {"table_1.convolution", workloads, layers},
        {"table_1.vector", workloads, layers},
        {"table_1.pool", workloads, layers},
        {"table_1.batch", workloads, batches},
        {"table_1.weights_millions", workloads, positive},
        {"table_1.macs_per_weight_byte", workloads, positive},
        {"table_1.deployed_percent", {"MLP", "LSTM", "CNN"}, positive},  // share of the chips in use
        // Watts, and dies of a server. configs/baselines repeats those of CPU and GPU for runs; a test holds
        // the two together.
        {"table_2",
         {"peak_tops", "weight_memory_gb_per_s", "tpu_idle_watts", "tpu_busy_watts", "cpu_dies", "gpu_dies",
          "tpu_dies", "cpu_server_tdp_watts", "gpu_server_tdp_watts", "tpu_server_tdp_watts"},
         positive},
        {"figure_1", {"weight_memory_gib_per_s"}, positive},
        {"table_4", {"limit_ms"}, positive},  // MLP0
        {"table_5.host_percent_of_tpu_time", workloads, not_negative},
        {"table_6.geometric_mean", ratios, positive},
        {"table_6.weighted_mean", ratios, positive},
        {"table_7.model_error_percent", workloads, not_negative},
        {"table_8.unified_buffer_mib", workloads, not_negative},
        {"figure_5", {"ridge_macs_per_byte"}, positive},
        // Rooflines of CPU and GPU. Labels have one digit: 0.2 stands for all from 0.15 to 0.25.
        {"figure_6.tera_ops", workloads, positive},
        {"figure_6_places.macs_per_weight_byte", workloads, positive},
        {"figure_7.tera_ops", workloads, positive},
        {"figure_7_places.macs_per_weight_byte", workloads, positive},
        {"figure_10_text", {"tpu_watts_at_full_load", "tpu_server_cnn0_times"}, positive},
        // The host's watts with busy accelerators, of its own busy watts; and the additional watts of a CPU
        // server with TPUs.
        {"figure_10_text",
         {"host_percent_with_tpus", "host_percent_with_gpus", "tpu_server_extra_percent"},
         percent},
        {"figure_10_text.cnn0_percent_at_tenth_load", processors, percent},
        {"figure_10_text.lstm1_percent_at_tenth_load", processors, percent},
        {"figure_11_text", {"memory_4x_mean", "memory_4x_mlp_lstm", "clock_4x_cnn"}, positive},
        {"tpu_prime",
         {"clock_mhz", "ridge_macs_per_byte", "memory_gm", "memory_wm", "both_gm", "both_wm", "with_host_gm",
          "with_host_wm", "server_tdp_watts"},
         positive},
        {"tiling", {"matrix"}, Range{1, 65536}},  // rows and columns of the weights
        {"tiling", {"array_256_tiles", "array_256_us", "array_512_tiles", "array_512_us"}, positive},
        {"section_8", {"mlp1_inferences_per_second", "cnn1_inferences_per_second"}, positive},
        {"claim", {"performance_from", "performance_to", "per_watt_from", "per_watt_to"}, positive},
    };
    const auto add = [&](std::string_view section, std::string_view key, const auto& keys, auto range) {
        all.push_back({fmt::format("{}.{}", section, key), keys, range});
    };
    for (const Table3Row& row : table_3_rows) {
        // Cycles are compared by useful_macs, as a divisor.
        add("table_3", row.key, workloads_and_mean, row.key == "useful_macs" ? positive : not_negative);
    }
    for (const char* const rows : {"cpu.within_limit", "cpu.at_maximum", "gpu.within_limit", "gpu.at_maximum",
                                   "tpu.within_limit", "tpu.at_maximum"}) {
        add("table_4", rows, std::vector<std::string_view>{"batch"}, batches);
        add("table_4", rows, std::vector<std::string_view>{"p99_ms", "inferences_per_second"}, positive);
    }
    for (const std::string_view key : ratio_keys) add("table_6", key, workloads, positive);
    for (const std::string_view key : efficiency_keys) add("figure_9", key, servers, positive);
    for (const std::string_view key : power_curve_keys) add("figure_10", key, load, positive);
    for (const std::string_view key : curve_names) add("figure_11", key, scale, positive);
    return all;
}

/// An object of the file, at a path; the path of the whole file is empty.
struct Object {
    std::string path;
    Published& published;

    std::string path_of(std::string_view key) const {
        return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
    }
};

void read_number(ConfigReader& reader, const Object& object, std::string_view key, RealRange range) {
    reader.field(machine::needed(key, "", ""), object.published.numbers[object.path_of(key)], range);
}

void read_number(ConfigReader& reader, const Object& object, std::string_view key, Range range) {
    std::uint32_t value = 0;
    reader.field(machine::needed(key, "", ""), value, range);
    object.published.numbers[object.path_of(key)] = value;
}

/// Reads the numbers of the object, then the objects inside it.
void describe(ConfigReader& reader, Object& object) {
    static const std::vector<Numbers> declared = declare_numbers();
    const std::string inside = object.path_of("");
    std::vector<std::string> objects;
    for (const Numbers& numbers : declared) {
        if (numbers.object == object.path) {
            for (const std::string_view key : numbers.keys) {
                std::visit([&](const auto& range) { read_number(reader, object, key, range); },
                           numbers.range);
            }
        } else if (numbers.object.starts_with(inside)) {
            const std::size_t end = numbers.object.find('.', inside.size());
            const std::string key = numbers.object.substr(inside.size(), end - inside.size());
            if (std::find(objects.begin(), objects.end(), key) == objects.end()) objects.push_back(key);
        }
    }
    for (const std::string& key : objects) {
        Object child{object.path_of(key), object.published};
        reader.section(machine::needed(key, "", ""), child);
    }
    const bool is_section = !object.path.empty() && object.path.find('.') == std::string::npos;
    if (!is_section) return;
    Citation& citation = object.published.citations[object.path];
    reader.field(machine::needed("source", "", ""), citation.source);
    reader.choice(machine::needed("confidence", "", ""), citation.confidence, confidence_names);
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

Published read_published(const nlohmann::json& json, const std::string& file) {
    ConfigReader reader(json, file);
    Published published;
    std::string schema;
    reader.field(machine::needed("schema", "", ""), schema);
    if (schema != "sim.published/1") reader.fail("schema", "it must be \"sim.published/1\"");
    reader.field(machine::needed("name", "", ""), published.name);
    reader.field(machine::needed("title", "", ""), published.title);
    Object whole{"", published};
    describe(reader, whole);
    reader.check_keys();
    return published;
}

Published read_published(const std::filesystem::path& path) {
    return read_published(machine::read_json_object(path), path.string());
}

}  // namespace systole::validate
