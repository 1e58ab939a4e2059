#include "sim/study/validate/published.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <type_traits>
#include <variant>
#include <vector>

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
constexpr Range dies{1, 65536};
constexpr Range batches{1, 1000000};

/// How well the numbers of a section are known: printed in the article, read off a figure, or computed from
/// printed numbers.
enum class Confidence : std::uint8_t { Seen, Digitized, Derived };
constexpr std::array<std::string_view, 3> confidence_names{"seen", "digitized", "derived"};

using Keys = std::vector<std::string>;

/// The names, with the path of their section before them if it is given.
Keys list(const auto& names, const std::string& section = {}) {
    Keys keys;
    for (const std::string_view name : names) keys.push_back(section + std::string(name));
    return keys;
}

/// Numbers with the same keys and range, in some objects of the file.
struct Numbers {
    std::variant<RealRange, Range> range;  ///< Range: whole numbers
    Keys keys;
    Keys objects;
};

/// Every number of the file.
std::vector<Numbers> declare_numbers() {
    const Keys workloads = list(workload_names);
    Keys with_mean = workloads;
    with_mean.emplace_back("mean");
    const Keys latency_rows{"table_4.cpu.within_limit", "table_4.cpu.at_maximum",
                            "table_4.gpu.within_limit", "table_4.gpu.at_maximum",
                            "table_4.tpu.within_limit", "table_4.tpu.at_maximum"};
    return {
        {layers,
         workloads,
         {"table_1.fully_connected", "table_1.convolution", "table_1.vector", "table_1.pool"}},
        {batches, workloads, {"table_1.batch"}},
        {positive, workloads, {"table_1.weights_millions", "table_1.macs_per_weight_byte"}},
        {positive, {"MLP", "LSTM", "CNN"}, {"table_1.deployed_percent"}},  // of the chips in use
        // Watts, and dies of a server. configs/baselines repeats those of CPU and GPU for runs; a test
        // holds the two together.
        {positive,
         {"clock_mhz", "peak_tops", "weight_memory_gb_per_s", "tpu_idle_watts", "tpu_busy_watts",
          "cpu_server_tdp_watts", "gpu_server_tdp_watts", "tpu_server_tdp_watts", "cpu_server_idle_watts",
          "cpu_server_busy_watts", "gpu_server_idle_watts", "gpu_server_busy_watts", "tpu_server_idle_watts",
          "tpu_server_busy_watts"},
         {"table_2"}},
        {dies, {"cpu_dies", "gpu_dies", "tpu_dies"}, {"table_2"}},
        {Range{1, 65536}, {"array"}, {"section_2"}},  // rows, and columns
        {positive, {"cycles_an_instruction_from", "cycles_an_instruction_to"}, {"section_2"}},
        {positive, {"weight_memory_gib_per_s", "host_link_gib_per_s"}, {"figure_1"}},
        {percent, {"data_buffers_percent"}, {"figure_2"}},
        {percent, {"cnn1_weight_wait_percent"}, {"table_3_text"}},
        {positive, with_mean, {"table_3.useful_macs"}},  // a divisor: cycles are compared by it
        {not_negative,
         with_mean,
         {"table_3.array_active", "table_3.unused_macs", "table_3.weight_stall", "table_3.weight_shift",
          "table_3.non_matrix", "table_3.raw_stall", "table_3.input_stall", "table_3.tera_ops"}},
        {positive, {"limit_ms"}, {"table_4"}},
        {batches, {"batch"}, latency_rows},
        {positive, {"p99_ms", "inferences_per_second", "percent_of_maximum"}, latency_rows},
        {positive, workloads, list(ratio_keys, "table_6.")},
        {positive, list(ratio_names), {"table_6.geometric_mean", "table_6.weighted_mean"}},
        {not_negative,
         workloads,
         {"table_5.host_percent_of_tpu_time", "table_7.model_error_percent", "table_8.unified_buffer_mib"}},
        {positive, {"ridge_macs_per_byte"}, {"figure_5"}},
        // Labels have one digit: 0.2 stands for all from 0.15 to 0.25.
        {positive,
         workloads,
         {"figure_6.tera_ops", "figure_7.tera_ops", "figure_6_places.macs_per_weight_byte",
          "figure_7_places.macs_per_weight_byte"}},
        {positive, list(server_ratio_names), list(efficiency_keys, "figure_9.")},
        {positive, list(load_names), list(power_curve_keys, "figure_10.")},
        {positive, {"tpu_watts_at_full_load", "tpu_server_cnn0_times"}, {"figure_10_text"}},
        // The host's watts with busy accelerators, of its own busy watts; and the additional watts of a
        // CPU server with TPUs.
        {percent,
         {"host_percent_with_tpus", "host_percent_with_gpus", "tpu_server_extra_percent"},
         {"figure_10_text"}},
        {percent,
         {"TPU", "CPU", "GPU"},
         {"figure_10_text.cnn0_percent_at_tenth_load", "figure_10_text.lstm1_percent_at_tenth_load"}},
        {positive, list(scale_names), list(curve_names, "figure_11.")},
        {positive, {"memory_4x_mean", "memory_4x_mlp_lstm", "clock_4x_cnn"}, {"figure_11_text"}},
        {positive,
         {"clock_mhz", "ridge_macs_per_byte", "memory_gm", "memory_wm", "both_gm", "both_wm", "with_host_gm",
          "with_host_wm", "server_tdp_watts"},
         {"tpu_prime"}},
        {Range{1, 65536}, {"matrix"}, {"tiling"}},  // rows and columns of the weights
        {positive, {"array_256_tiles", "array_256_us", "array_512_tiles", "array_512_us"}, {"tiling"}},
        {positive, {"mlp1_inferences_per_second", "cnn1_inferences_per_second"}, {"section_8"}},
        {positive, {"performance_from", "performance_to", "per_watt_from", "per_watt_to"}, {"claim"}}};
}

/// An object of the file, by its path with a dot at the end; the path of the whole file is empty.
struct Object {
    std::string path;
    std::map<std::string, double, std::less<>>& numbers;
};

void read_number(ConfigReader& reader, Object& object, const std::string& key, const auto& range) {
    constexpr bool is_whole = std::is_same_v<decltype(range), const Range&>;
    std::conditional_t<is_whole, std::uint32_t, double> value{};
    reader.field(needed(key, "", ""), value, range);
    object.numbers[object.path + key] = value;
}

/// Reads the numbers of the object, then the objects inside it. A section also says where its numbers are
/// from, and how well they are known.
void describe(ConfigReader& reader, Object& object) {
    static const std::vector<Numbers> declared = declare_numbers();
    std::set<std::string> inner;
    for (const auto& [range, keys, objects] : declared) {
        for (const std::string& other : objects) {
            if (other + "." == object.path) {
                for (const std::string& key : keys) {
                    std::visit([&](const auto& bounds) { read_number(reader, object, key, bounds); }, range);
                }
            } else if (other.starts_with(object.path)) {
                const std::string rest = other.substr(object.path.size());
                inner.insert(rest.substr(0, rest.find('.')));
            }
        }
    }
    for (const std::string& key : inner) {
        Object child{object.path + key + ".", object.numbers};
        reader.section(needed(key, "", ""), child);
    }
    if (std::ranges::count(object.path, '.') != 1) return;
    std::string source;
    Confidence confidence{};
    reader.field(needed("source", "", ""), source);
    reader.choice(needed("confidence", "", ""), confidence, confidence_names);
}

}  // namespace

double Published::at(std::string_view path) const {
    const auto found = numbers.find(path);
    if (found == numbers.end()) throw std::logic_error(fmt::format("{} is no published number", path));
    return found->second;
}

Published read_published(const nlohmann::json& object, const std::string& file) {
    ConfigReader reader(object, file);
    Published published;
    reader.check_schema("sim.published/1");
    reader.field(needed("name", "", ""), published.name);
    reader.field(needed("title", "", ""), published.title);
    Object whole{"", published.numbers};
    describe(reader, whole);
    reader.check_keys();
    return published;
}

Published read_published(const std::filesystem::path& path) {
    return read_published(machine::read_json_object(path), path.string());
}

}  // namespace systole::validate
