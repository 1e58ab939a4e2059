#include "sim/baselines/baseline.h"

#include "hw/machine/config_reader.h"

namespace systole::baselines {

using machine::Range;
using machine::RealRange;

// Each structure's fields, declared once for reading and writing. (Outside an unnamed namespace, so that
// the visitors find them by the structure's type.)

namespace {

constexpr RealRange watts{0.0, 1e6};
constexpr RealRange rate{1e-3, 1e12};  // what times are divided by is never 0

}  // namespace

template <class Visitor>
void describe(Visitor& visitor, Power& power) {
    visitor.field({"tdp_watts", "W", "thermal design power of one die"}, power.tdp_watts, watts);
    visitor.field({"idle_watts", "W", "of one die, idle"}, power.idle_watts, watts);
    visitor.field({"busy_watts", "W", "of one die at full load"}, power.busy_watts, watts);
}

template <class Visitor>
void describe(Visitor& visitor, Server& server) {
    visitor.field({"dies", "dies", "dies in one server"}, server.dies, Range{1, 1U << 16U});
    visitor.field({"tdp_watts", "W", "thermal design power of the server"}, server.tdp_watts, watts);
    visitor.field({"idle_watts", "W", "of the server, idle"}, server.idle_watts, watts);
    visitor.field({"busy_watts", "W", "of the server at full load"}, server.busy_watts, watts);
}

template <class Visitor>
void describe(Visitor& visitor, Baseline& baseline) {
    visitor.field({"schema", "", "what this file is: sim.baseline/1"}, baseline.schema);
    visitor.field({"name", "", "the processor's name in reports"}, baseline.name);
    visitor.field({"description", "", "the processor in words"}, baseline.description);
    visitor.field({"cores", "cores", "of one die"}, baseline.cores, Range{1, 1U << 20U});
    visitor.field({"clock_mhz", "MHz", "clock of the cores"}, baseline.clock_mhz, rate);
    visitor.field({"peak_fp32_gflops", "GFLOPS", "peak in 32-bit floating point, one die"},
                  baseline.peak_fp32_gflops, rate);
    visitor.field({"peak_int8_gops", "GOPS", "peak in 8-bit integers, one die"}, baseline.peak_int8_gops,
                  rate);
    visitor.field({"memory_gb_per_s", "GB/s", "memory bandwidth of one die"}, baseline.memory_gb_per_s, rate);
    visitor.section({"power", "", "published watts of one die"}, baseline.power);
    visitor.section({"server", "", "published figures of the server"}, baseline.server);
    visitor.texts({"sources", "", "where each number comes from, by dotted key"}, baseline.sources);
}

Baseline read_baseline(const nlohmann::json& object, const std::string& file) {
    machine::ConfigReader reader(object, file);
    Baseline baseline;
    describe(reader, baseline);
    reader.reject_unknown_keys();
    for (const auto* key : {"schema", "name", "cores", "clock_mhz", "peak_fp32_gflops", "peak_int8_gops",
                            "memory_gb_per_s", "power", "server"}) {
        reader.require(key);
    }
    if (baseline.schema != "sim.baseline/1") reader.fail("schema", "it must be \"sim.baseline/1\"");
    return baseline;
}

Baseline read_baseline(const std::filesystem::path& path) {
    return read_baseline(machine::read_json_object(path), path.string());
}

nlohmann::ordered_json to_json(const Baseline& baseline) {
    Baseline copy = baseline;  // the field lists name writable fields, for the reader's sake
    machine::ConfigWriter writer;
    describe(writer, copy);
    return writer.object();
}

}  // namespace systole::baselines
