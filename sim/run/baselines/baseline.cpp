#include "sim/run/baselines/baseline.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

#include "hw/machine/config_description.h"
#include "hw/machine/config_reader.h"
#include "sim/run/baselines/comparison.h"

namespace systole::baselines {

using machine::needed;
using machine::Range;
using machine::RealRange;

// Each structure's fields, declared once for reading and writing. (Outside an unnamed namespace, so that
// the visitors find them by the structure's type.)

namespace {

// Unknown figures are left out of the file: no number stands for them.
constexpr RealRange watts{1e-3, 1e6};
constexpr RealRange rate{1e-3, 1e12};  // times are divided by rates, so these are never 0
constexpr RealRange share{1e-3, 1.0};
constexpr std::string_view band_rule = "least_factor and most_factor are given together";

}  // namespace

template <class Visitor>
void describe(Visitor& visitor, Power& power) {
    visitor.field({"tdp_watts", "W", "thermal design power of one die"}, power.tdp_watts, watts);
    visitor.field({"idle_watts", "W", "of one die, idle"}, power.idle_watts, watts);
    visitor.field({"busy_watts", "W", "of one die at full load"}, power.busy_watts, watts);
}

template <class Visitor>
void describe(Visitor& visitor, Server& server) {
    visitor.field(needed("dies", "dies", "dies in one server"), server.dies, Range{1, 1U << 16U});
    visitor.field({"tdp_watts", "W", "thermal design power of the server"}, server.tdp_watts, watts);
    visitor.field({"idle_watts", "W", "of the server, idle"}, server.idle_watts, watts);
    visitor.field({"busy_watts", "W", "of the server at full load"}, server.busy_watts, watts);
    visitor.field({"host_tdp_watts", "W", "of the same server without accelerators"}, server.host_tdp_watts,
                  watts);
}

template <class Visitor>
void describe(Visitor& visitor, Efficiency& efficiency) {
    visitor.choice(needed("precision", "", "number format that the software computes in"),
                   efficiency.precision, precision_names);
    visitor.field(needed("peak_share", "", "share of the peak that large products attain"),
                  efficiency.peak_share, share);
    visitor.field(needed("memory_share", "", "share of the memory bandwidth attained"),
                  efficiency.memory_share, share);
    visitor.field(
        needed("layer_microseconds", "us", "additional time of each layer: kernel launch, framework"),
        efficiency.layer_microseconds, RealRange{0.0, 1e9});
    visitor.field({.key = "least_factor",
                   .meaning = "band of the expected speed: the least known speed over it",
                   .rule = band_rule},
                  efficiency.least_factor, share);
    visitor.field({.key = "most_factor",
                   .meaning = "band of the expected speed: the largest known speed over it",
                   .rule = band_rule},
                  efficiency.most_factor, RealRange{1.0, 1e3});
    visitor.field({"latency_factor", "", "99th percentile of latency over the time of a batch"},
                  efficiency.latency_factor, RealRange{1.0, 1e6});
    visitor.field({"largest_batch", "inferences", "largest batch within the latency limits of applications"},
                  efficiency.largest_batch, Range{1, 1U << 30U});
    visitor.field({"known_of", "", "what the rates are known of, if of no operator"}, efficiency.known_of);
}

template <class Visitor>
void describe(Visitor& visitor, Measured& measured) {
    visitor.field(needed("model", "", "the network whose matrix products were run"), measured.model);
    visitor.field(needed("batch", "inferences", "inferences that went through them together"), measured.batch,
                  Range{1, 1U << 30U});
    visitor.field(needed("fp32_inferences_per_second", "1/s", "in 32-bit floating point"),
                  measured.fp32_inferences_per_second, rate);
    visitor.field(needed("int8_inferences_per_second", "1/s", "in 8-bit integers"),
                  measured.int8_inferences_per_second, rate);
}

template <class Visitor>
void describe(Visitor& visitor, Baseline& baseline) {
    visitor.field(needed("schema", "", "kind and version of the file: sim.baseline/1"), baseline.schema);
    visitor.field(needed("name", "", "the processor's name in reports"), baseline.name);
    visitor.field({"description", "", "the processor in words"}, baseline.description);
    visitor.field(needed("cores", "cores", "of one die"), baseline.cores, Range{1, 1U << 20U});
    visitor.field({"clock_mhz", "MHz", "clock of the cores"}, baseline.clock_mhz, rate);
    visitor.field(needed("peak_fp32_gflops", "GFLOPS", "peak in 32-bit floating point, one die"),
                  baseline.peak_fp32_gflops, rate);
    visitor.field({"peak_int8_gops", "GOPS", "peak in 8-bit integers, one die"}, baseline.peak_int8_gops,
                  rate);
    visitor.field({"peak_fp16_gflops", "GFLOPS", "peak in half precision, one die"},
                  baseline.peak_fp16_gflops, rate);
    visitor.field({"peak_bf16_gflops", "GFLOPS", "peak in bfloat16, one die"}, baseline.peak_bf16_gflops,
                  rate);
    visitor.field(needed("memory_gb_per_s", "GB/s", "memory bandwidth of one die"), baseline.memory_gb_per_s,
                  rate);
    visitor.field({"on_chip_mib", "MiB", "memory on the die"}, baseline.on_chip_mib, rate);
    visitor.section({"power", "", "watts of one die"}, baseline.power);
    visitor.section({"server", "", "figures of the server"}, baseline.server);
    visitor.section({"efficiency", "", "share of a die's peaks that software attains"}, baseline.efficiency);
    visitor.section({"measured", "", "a network's matrix products, run on the processor"}, baseline.measured);
    visitor.texts({"sources", "", "where each number comes from, by dotted key"}, baseline.sources);
}

namespace {

/// Removes unknown values, and sections that become empty.
void drop_unknown(nlohmann::ordered_json& object) {
    for (auto value = object.begin(); value != object.end();) {
        if (value->is_object()) drop_unknown(*value);
        const bool unknown = (value->is_number() && value->get<double>() == 0.0) ||
                             (value->is_object() && value->empty()) ||
                             (value->is_string() && value->get<std::string>().empty());
        value = unknown ? object.erase(value) : std::next(value);
    }
}

}  // namespace

std::optional<Band> Efficiency::band() const {
    if (!(least_factor > 0.0) || !(most_factor > 0.0)) return std::nullopt;
    return Band{.least = least_factor, .most = most_factor};
}

Baseline read_baseline(const nlohmann::json& object, const std::string& file) {
    machine::ConfigReader reader(object, file);
    Baseline baseline;
    reader.check_schema(baseline.schema);
    describe(reader, baseline);
    reader.check_keys();
    const Efficiency& efficiency = baseline.efficiency;
    const auto fail = [&](const char* key, std::string_view rule) {
        machine::ConfigReader(object.at("efficiency"), file, "efficiency").fail(key, rule);
    };
    if (efficiency.known() && !(format_of(baseline, efficiency.precision).operations_per_second > 0.0)) {
        const bool is_integer = efficiency.precision == Precision::Int8;
        fail("precision", fmt::format("the baseline gives no peak_{}_{}", name_of(efficiency.precision),
                                      is_integer ? "gops" : "gflops"));
    }
    const bool has_least = efficiency.least_factor > 0.0;
    const bool has_most = efficiency.most_factor > 0.0;
    if (has_least != has_most) fail(has_least ? "least_factor" : "most_factor", band_rule);
    if (baseline.server.host_tdp_watts > 0.0 &&
        !(baseline.server.tdp_watts > baseline.server.host_tdp_watts)) {
        machine::ConfigReader(object.at("server"), file, "server")
            .fail("host_tdp_watts", "it must be less than tdp_watts, which includes it");
    }
    return baseline;
}

std::vector<machine::KeyDescription> baseline_keys() {
    return machine::keys_of<Baseline>();
}

Baseline read_baseline(const std::filesystem::path& path) {
    return read_baseline(machine::read_json_object(path), path.string());
}

nlohmann::ordered_json to_json(const Baseline& baseline) {
    Baseline copy = baseline;  // describe() takes writable fields, which the reader needs
    machine::ConfigWriter writer;
    describe(writer, copy);
    nlohmann::ordered_json object = writer.object();
    if (!baseline.efficiency.known()) object.erase("efficiency");
    if (baseline.measured.model.empty()) object.erase("measured");
    const bool server_known = baseline.server.tdp_watts > 0.0 || baseline.server.idle_watts > 0.0 ||
                              baseline.server.busy_watts > 0.0 || baseline.server.dies > 1;
    if (!server_known) object.erase("server");
    // This key alone may be 0, which does not mean unknown.
    const double layer_microseconds = baseline.efficiency.layer_microseconds;
    drop_unknown(object);
    if (object.contains("efficiency")) object["efficiency"]["layer_microseconds"] = layer_microseconds;
    return object;
}

}  // namespace systole::baselines
