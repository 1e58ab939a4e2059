// Computes the figures of a report from the counters of a run.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/arithmetic.h"
#include "sim/view/report/figures.h"
#include "sim/view/report/report.h"

namespace systole::report {
namespace {

using run::Tag;

/// `numerator` over `denominator`, absent if the denominator is 0.
std::optional<double> ratio(double numerator, double denominator) {
    if (!(denominator > 0.0)) return std::nullopt;
    return numerator / denominator;
}

std::optional<double> ratio(std::uint64_t numerator, std::uint64_t denominator) {
    return ratio(static_cast<double>(numerator), static_cast<double>(denominator));
}

/// The main unit's counters; `value` gives a counter's total or its part of one tag.
template <class Value>
MainUnit make_main_unit(const machine::UnitDescription& main, const run::Counters& counters, Value value) {
    const auto named = [&](std::string_view path) { return value(counters.at(path)); };
    const auto read = [&](std::string_view group) {
        CounterValues values;
        for (const run::Counter& counter : counters.of(group)) {
            values.emplace_back(counter.name(), value(counter));
        }
        return values;
    };
    MainUnit unit{.classes = {},
                  .useful_macs = named(main.main->useful_macs),
                  .unused_macs = named(main.main->unused_macs),
                  .counters = read(main.name),
                  .groups = {}};
    for (const machine::CycleClass& each : main.main->classes) unit.classes.push_back(named(each.counter));
    for (const std::string& group : main.main->groups) {
        unit.groups.push_back({group.substr(group.rfind('.') + 1), read(group)});
    }
    return unit;
}

/// The bytes of weights that came for the main unit, in the run or under one tag.
std::uint64_t weight_bytes(const run::RunRecord& record, std::optional<Tag> tag) {
    std::uint64_t bytes = 0;
    for (const std::string& path : record.main_unit().main->weights) {
        const run::Counter& counter = record.counters.at(path);
        bytes += tag ? counter.value(*tag) : counter.value();
    }
    return bytes;
}

/// The bounds of the run, or of one tag, without their ratio.
Bounds make_bounds(const run::RunRecord& record, std::optional<Tag> tag) {
    Bounds bounds;
    for (const machine::Bound& each : record.bounds) {
        bounds.least.push_back({.name = each.name,
                                .part = each.part,
                                .meaning = each.meaning,
                                .cycles = tag ? each.value(*tag) : each.value()});
    }
    bounds.fill = ratio(bounds.at("macs").cycles, bounds.at("array").cycles);
    return bounds;
}

double seconds_of(std::uint64_t cycles, const machine::MachineConfig& machine) {
    return static_cast<double>(cycles) / static_cast<double>(machine.clock_hz());
}

/// A multiply-accumulate counts two.
std::optional<double> tops(std::uint64_t macs, double seconds) {
    return ratio(2.0 * static_cast<double>(macs) / 1e12, seconds);
}

/// The point of these multiply-accumulates and weight bytes on the machine's roofline.
std::optional<Roofline> make_roofline(const machine::MachineConfig& machine, std::uint64_t macs,
                                      std::uint64_t fetched_bytes) {
    const auto place = ratio(macs, fetched_bytes);
    if (!place || !parts_of(machine.family).weight_memory) return std::nullopt;
    const double peak_macs = machine.peak_ops_per_second() / 2.0;
    const Rate rate = machine.weight_rate();
    const double bytes_per_second = static_cast<double>(rate.bytes) / static_cast<double>(rate.cycles) *
                                    static_cast<double>(machine.clock_hz());
    return Roofline{.macs_per_weight_byte = *place,
                    .ridge = peak_macs / bytes_per_second,
                    .bound_tops = 2.0 * std::min(peak_macs, *place * bytes_per_second) / 1e12,
                    .peak_tops = machine.peak_ops_per_second() / 1e12};
}

/// The name of a tag that the program does not set: that of the layer, which has no cycles.
std::string name_under(const run::ProgramFacts& program, Tag tag) {
    return tag < program.tags.size() ? program.tags[tag].name : program.layers[tag - 1U].name;
}

Layer make_layer(const run::RunRecord& record, Tag tag) {
    const run::ProgramFacts& program = record.program;
    Layer layer;
    layer.tag = tag;
    layer.name = name_under(program, tag);
    if (tag > 0 && tag <= program.layers.size()) {
        const run::LayerFacts& info = program.layers[tag - 1U];
        layer.kind = info.kind;
        layer.macs_per_inference = info.macs;
    }
    layer.main_unit = main_unit_under(record.main_unit(), record.counters, tag);
    layer.bounds = make_bounds(record, tag);
    // Most cycles outside layers are the end of the last one.
    if (tag > 0) layer.bounds.ratio = ratio(layer.main_unit.cycles(), layer.bounds.largest().cycles);
    layer.share = ratio(layer.main_unit.cycles(), record.cycles);
    layer.array_utilization =
        ratio(layer.main_unit.useful_macs, layer.main_unit.useful_macs + layer.main_unit.unused_macs);
    layer.energy = energy_under(record, tag, layer.main_unit.cycles());
    layer.weight_bytes = weight_bytes(record, tag);
    const std::uint64_t macs = record.needed_macs(tag);
    layer.achieved_tops = tops(macs, seconds_of(layer.main_unit.cycles(), record.spec.machine));
    layer.roofline = make_roofline(record.spec.machine, macs, layer.weight_bytes);
    return layer;
}

bool has_work(const Layer& layer) {
    return layer.main_unit.cycles() > 0 || layer.bounds.largest().cycles > 0 ||
           (layer.energy && layer.energy->total() > 0.0);
}

/// One entry for each layer of the network, whether cycles fell to it or not, then the other tags with
/// cycles, bounds or energy.
std::vector<Layer> make_layers(const run::RunRecord& record) {
    const std::size_t last_tag = std::max(record.program.layers.size(), record.program.tags.size() - 1);
    std::vector<Layer> layers;
    for (std::size_t tag = 1; tag <= last_tag; ++tag) {
        Layer layer = make_layer(record, static_cast<Tag>(tag));
        if (tag <= record.program.layers.size() || has_work(layer)) {
            layers.push_back(std::move(layer));
        }
    }
    Layer outside = make_layer(record, 0);
    if (has_work(outside)) layers.push_back(std::move(outside));
    return layers;
}

/// The network's point on the fp32 roofline of a baseline, which reads each weight once a batch.
std::optional<Roofline> roofline_of(const baselines::Baseline& baseline, const baselines::Work& work,
                                    double inferences_per_second) {
    const baselines::Format format = baselines::format_of(baseline, baselines::Precision::Fp32);
    const auto place = ratio(static_cast<double>(work.macs) * work.batch,
                             static_cast<double>(work.weights) * format.element_bytes);
    const auto ridge = ratio(format.operations_per_second / 2.0, baseline.memory_gb_per_s * 1e9);
    if (!place || !ridge) return std::nullopt;
    return Roofline{.macs_per_weight_byte = *place,
                    .ridge = *ridge,
                    .bound_tops = 2.0 * static_cast<double>(work.macs) * inferences_per_second / 1e12,
                    .peak_tops = format.operations_per_second / 1e12};
}

/// The source of the machine's typical share of the host, unless the run sets a share of its own.
std::string source_of_host_percent(const run::RunRecord& record) {
    const std::vector<run::LabelledSetting>& settings = record.spec.labels.machine_settings;
    const bool is_set =
        std::any_of(settings.begin(), settings.end(), [](const run::LabelledSetting& setting) {
            return setting.key == "server" || setting.key.starts_with("server.host_percent");
        });
    const auto& sources = record.spec.machine.sources;
    const auto found = sources.find("server.host_percent.typical");
    return is_set || found == sources.end() ? std::string() : found->second;
}

/// The chip's throughput for comparisons; baselines are added by make_comparison.
HostTime make_host_time(const run::RunRecord& record, double inferences_per_second) {
    HostTime host{.wanted = record.spec.host_time,
                  .percent = record.spec.machine.server.host_percent,
                  .source = source_of_host_percent(record),
                  .inferences_per_second = inferences_per_second};
    if (!host.in_chip()) return host;
    const auto with_host = baselines::with_host_time(inferences_per_second, *host.percent);
    host.inferences_per_second = with_host.inferences_per_second;
    host.band = with_host.band;
    return host;
}

/// The machine's inferences a second over those of the baseline.
ComparisonWith compare(const run::RunRecord& record, const HostTime& ours,
                       const baselines::Baseline& baseline, double its,
                       const std::optional<baselines::Band>& its_band = {}) {
    return {.inferences_per_second = its,
            .speedup = ours.inferences_per_second / its,
            .performance_per_watt = baselines::performance_per_watt(
                record.spec.machine.server, ours.inferences_per_second, baseline, its),
            .band = its_band,
            .ratio_band = baselines::quotient(ours.band, its_band)};
}

std::optional<ComparisonExpected> compare_with_expected(const run::RunRecord& record, const HostTime& ours,
                                                        const baselines::Baseline& baseline,
                                                        std::uint32_t batch) {
    if (!record.network) return std::nullopt;
    const auto model = baselines::expected(baseline, *record.network, batch);
    if (!model) return std::nullopt;
    return ComparisonExpected{
        compare(record, ours, baseline, model->inferences_per_second, baseline.efficiency.band()), *model,
        baseline.efficiency};
}

std::optional<ComparisonMeasured> compare_with_measured(const run::RunRecord& record, const HostTime& ours,
                                                        const baselines::Baseline& baseline,
                                                        std::uint32_t batch) {
    const baselines::Measured& measured = baseline.measured;
    if (measured.model.empty() || measured.model != record.program.model || measured.batch != batch) {
        return std::nullopt;
    }
    return ComparisonMeasured{.fp32 = compare(record, ours, baseline, measured.fp32_inferences_per_second),
                              .int8 = compare(record, ours, baseline, measured.int8_inferences_per_second)};
}

/// `host_macs` are those of one inference that our host does; a baseline does them, too.
std::vector<Comparison> make_comparison(const run::RunRecord& record, const HostTime& ours,
                                        std::uint64_t host_macs) {
    const run::ProgramFacts& program = record.program;
    const baselines::Work work{
        .macs = saturating_sum(program.macs(), host_macs),
        .weights = program.weights,
        .batch = static_cast<std::uint32_t>(std::min<std::uint64_t>(program.batch, program.inferences))};
    std::vector<Comparison> comparison;
    for (const run::Json& json : record.spec.baselines) {
        const auto baseline = baselines::read_baseline(nlohmann::json(json), "baseline");
        const auto fp32 = baselines::roofline(baseline, work, baselines::Precision::Fp32);
        if (!fp32) continue;
        const ComparisonWith bound = compare(record, ours, baseline, fp32->inferences_per_second);
        Comparison other{.baseline = baseline.name,
                         .inferences_per_second = bound.inferences_per_second,
                         .memory_bound = fp32->memory_bound,
                         .watts = baseline.power.busy_watts,
                         .speedup = bound.speedup,
                         .performance_per_watt = bound.performance_per_watt,
                         .roofline = roofline_of(baseline, work, fp32->inferences_per_second),
                         .int8_inferences_per_second = {},
                         .int8_speedup = {},
                         .joules_per_inference = {},
                         .expected = compare_with_expected(record, ours, baseline, work.batch),
                         .measured = compare_with_measured(record, ours, baseline, work.batch),
                         .ratio_band = bound.ratio_band};
        other.host_time = other.expected && baseline.measured.model.empty();
        if (const auto int8 = baselines::roofline(baseline, work, baselines::Precision::Int8)) {
            other.int8_inferences_per_second = int8->inferences_per_second;
            other.int8_speedup = ours.inferences_per_second / int8->inferences_per_second;
        }
        if (baseline.power.busy_watts > 0.0) {
            other.joules_per_inference = ratio(baseline.power.busy_watts, bound.inferences_per_second);
        }
        comparison.push_back(std::move(other));
    }
    return comparison;
}

void add_occupancy(Report& report, const run::RunRecord& record) {
    if (!record.occupancy) return;
    MemoryOverTime over_time = make_memory_over_time(record);
    if (!over_time.memories.empty()) report.memory_over_time = std::move(over_time);
    report.memory_maps = make_memory_maps(record);
}

void add_host(Report& report, const run::RunRecord& record) {
    for (const run::HostWork& work : record.host_work) {
        report.host_operations.push_back({.kind = work.kind, .layer = work.layer, .seconds = work.seconds});
    }
    for (const run::SegmentWork& work : record.host_segments) {
        std::string layers;
        for (const std::string& layer : work.layers) layers += (layers.empty() ? "" : ", ") + layer;
        const double seconds =
            static_cast<double>(work.cycles) / static_cast<double>(record.spec.machine.clock_hz());
        report.host_operations.push_back({.kind = "segment",
                                          .layer = work.layers.empty() ? work.name : layers,
                                          .seconds = seconds,
                                          .layers = work.layers,
                                          .share = ratio(seconds, report.seconds),
                                          .images = work.images});
    }
    if (!record.spec.host) return;
    const auto host = baselines::read_baseline(nlohmann::json(*record.spec.host), "host");
    report.host = host.name;
    report.host_known_of = host.efficiency.known_of;
    report.host_at_least = !host.efficiency.known();
    report.host_seconds = 0.0;
    for (const HostOperation& operation : report.host_operations) *report.host_seconds += *operation.seconds;
}

/// Of the host's segments, those layers that have multiply-accumulates.
std::optional<HostShare> make_host_share(const run::RunRecord& record, double run_seconds) {
    HostShare share;
    Cycle cycles = 0;
    for (const run::SegmentWork& work : record.host_segments) {
        if (work.macs.empty()) continue;
        cycles += work.cycles;
        for (std::size_t i = 0; i < work.macs.size(); ++i) {
            if (work.macs[i] == 0) continue;
            share.layers.push_back({.name = work.layers.at(i), .macs = work.macs[i]});
            share.macs = saturating_sum(share.macs, work.macs[i]);
        }
    }
    if (share.layers.empty()) return std::nullopt;
    const auto of_host = static_cast<double>(share.macs);
    share.macs_share = of_host / (of_host + static_cast<double>(record.program.macs()));
    share.is_all = record.program.macs() == 0;
    share.seconds = seconds_of(cycles, record.spec.machine);
    share.seconds_share = ratio(share.seconds, run_seconds);
    return share;
}

/// Whether a layer of the network, or an instruction of a program without layers, computes on the chip.
/// Moving data is not enough, neither is what the chip does for a layer of the host.
bool chip_computes(const run::RunRecord& record) {
    const auto works = [&](const auto& value) {
        return std::ranges::any_of(record.main_unit().main->works, [&](const std::string& path) {
            return value(record.counters.at(path)) > 0;
        });
    };
    const run::ProgramFacts& program = record.program;
    if (program.layers.empty()) return works([](const run::Counter& counter) { return counter.value(); });
    const std::size_t last_tag = std::max(program.layers.size(), program.tags.size() - 1);
    for (std::size_t number = 1; number <= last_tag; ++number) {
        const auto tag = static_cast<Tag>(number);
        // A segment may have the name of a layer of which it does a part.
        if (number <= program.layers.size() && program.layers[number - 1].kind == "host") continue;
        if (works([tag](const run::Counter& counter) { return counter.value(tag); })) return true;
    }
    return false;
}

/// Why the run has no figure that says how fast the chip is; empty where it has. Of a run whose work is the
/// host's, these would be figures of the host.
std::string why_no_speed(const run::RunRecord& record, const std::optional<HostShare>& share) {
    if (record.program.inferences == 0) return {};  // a bare program: cycles are all that it has
    if (share && share->is_all) {
        return fmt::format("all multiply-accumulates run on the host: {}", layers_text(*share));
    }
    if (chip_computes(record)) return {};
    std::vector<std::string> of_host;
    for (const run::SegmentWork& work : record.host_segments) {
        of_host.insert(of_host.end(), work.layers.begin(), work.layers.end());
    }
    for (const run::HostWork& work : record.host_work) {
        if (work.kind != "quantize_input") of_host.push_back(work.layer);
    }
    if (of_host.empty()) return "the chip computes nothing";
    return fmt::format("the chip computes nothing; on the host: {}", layers_text(of_host));
}

/// Why a run that asks for requests has none; empty where it has them, or asks for none.
std::string why_no_requests(const run::RunRecord& record, const Report& report) {
    if (report.requests || !asks_for_requests(record)) return {};
    if (!report.left_out.speed.empty()) return report.left_out.speed;
    return "the run has no time of a batch";
}

/// The same for a run with baselines.
std::string why_no_comparison(const run::RunRecord& record, const Report& report) {
    if (!report.comparison.empty() || record.spec.baselines.empty()) return {};
    if (!report.left_out.speed.empty()) return report.left_out.speed;
    if (report.inferences == 0) return "the program states no inferences";
    return "the network has no multiply-accumulates, by which baselines are compared";
}

void add_answers(Report& report, const run::RunRecord& record) {
    report.timing_only = record.spec.timing_only;
    report.accuracy = record.answers.accuracy;
    report.float_accuracy = record.answers.float_accuracy;
    report.float_agreements = record.answers.float_agreements;
    report.layer_accuracy = record.answers.layer_accuracy;
    if (!record.answers.outputs) return;
    const run::Outputs& outputs = *record.answers.outputs;
    report.predictions = outputs.predictions;
    report.pictures = record.pictures;
    report.best_classes = record.answers.best_classes;
    report.are_probabilities = record.program.has_host_operations;
    if (!record.program.has_host_operations) return;  // outputs are no probabilities
    constexpr std::size_t shown = 8;
    for (std::size_t i = 0; i < std::min(shown, report.predictions.size()); ++i) {
        report.first_probabilities.push_back(
            outputs.values[i * outputs.per_inference + report.predictions[i]]);
    }
}

Simulator make_simulator(const run::RunRecord& record) {
    const run::Speed& speed = record.speed;
    Simulator simulator{.wall_seconds = speed.total,
                        .read_seconds = speed.read,
                        .prepare_seconds = speed.prepare,
                        .simulate_seconds = speed.simulate,
                        .gemm_seconds = speed.gemm,
                        .simulated_cycles_per_second = ratio(static_cast<double>(record.cycles), speed.total),
                        .macs_per_second = {},
                        .peak_rss_bytes = speed.peak_rss_bytes};
    if (!record.spec.timing_only) {
        simulator.macs_per_second = ratio(
            static_cast<double>(record.counters.at(record.main_unit().main->macs).value()), speed.total);
    }
    return simulator;
}

std::optional<BatchSeconds> make_latency(const run::RunRecord& record, std::uint64_t batches) {
    if (!record.latency || batches == 0) return std::nullopt;
    const auto seconds = [&](Cycle cycles) { return seconds_of(cycles, record.spec.machine); };
    const auto count = static_cast<double>(batches);
    const run::BatchLatency& latency = *record.latency;
    const Cycle alone = latency.alone.value_or(latency.sum / batches);
    BatchSeconds batch{.interval = seconds(record.cycles) / count,
                       .latency = seconds(latency.sum) / count,
                       .largest = seconds(latency.largest),
                       .first = seconds(latency.first),
                       .alone = seconds(alone),
                       .followed = seconds(alone),
                       .full_interval = seconds(alone)};
    if (latency.intervals == 0) return batch;
    batch.followed = seconds(std::max(latency.first, alone));
    batch.full_interval = seconds(latency.between) / static_cast<double>(latency.intervals);
    return batch;
}

nlohmann::ordered_json effective_configuration(const run::RunRecord& record) {
    nlohmann::ordered_json configuration;
    configuration["run"] = record.spec.labels.run;
    configuration["machine"] = machine::to_json(record.spec.machine);
    configuration["baselines"] = nlohmann::ordered_json::array();
    for (const run::Json& baseline : record.spec.baselines) configuration["baselines"].push_back(baseline);
    return configuration;
}

}  // namespace

const LeastCycles& Bounds::at(std::string_view name) const {
    const auto found = std::ranges::find(least, name, &LeastCycles::name);
    if (found == least.end()) throw std::logic_error("there is no bound " + std::string(name));
    return *found;
}

LeastCycles Bounds::largest() const {
    LeastCycles largest;
    for (const LeastCycles& each : least) {
        if (each.name == "macs") continue;
        if (largest.name.empty() || each.cycles > largest.cycles) largest = each;
    }
    return largest;
}

MainUnit main_unit_under(const machine::UnitDescription& main, const run::Counters& counters, Tag tag) {
    return make_main_unit(main, counters, [&](const run::Counter& counter) { return counter.value(tag); });
}

nlohmann::ordered_json Report::figure(std::string_view path) const {
    const auto found = std::ranges::find(figures, path, &decltype(figures)::value_type::first);
    return found == figures.end() ? nlohmann::ordered_json(nullptr) : found->second;
}

Report make_report(const run::RunRecord& record) {
    const run::ProgramFacts& program = record.program;
    const machine::MachineConfig& machine = record.spec.machine;
    Report report;
    report.machine = machine.name;
    for (const run::LabelledSetting& setting : record.spec.labels.machine_settings) {
        report.machine_settings.emplace_back(setting.key, setting.value.dump());
    }
    report.model = program.model;
    report.batch = program.batch;
    report.inferences = program.inferences;
    if (program.batch > 0) report.batches = divide_up(program.inferences, program.batch);

    report.parts = parts_of(machine.family);
    if (record.batch && report.parts.batching) {
        report.batching = make_batching(program.batch, *record.batch);
    }

    report.cycles = record.cycles;
    report.clock_mhz = machine.clock_mhz;
    report.seconds = seconds_of(report.cycles, machine);
    report.host_share = make_host_share(record, report.seconds);
    report.left_out.speed = why_no_speed(record, report.host_share);
    if (report.left_out.speed.empty()) {
        if (report.inferences > 0) {
            report.inferences_per_second = ratio(static_cast<double>(report.inferences), report.seconds);
        }
        report.latency = make_latency(record, report.batches);
        report.achieved_tops = tops(record.needed_macs(), report.seconds);
    }
    report.peak_tops = machine.peak_ops_per_second() / 1e12;
    if (report.achieved_tops) report.peak_share = *report.achieved_tops / report.peak_tops;
    report.roofline = make_roofline(machine, record.needed_macs(), weight_bytes(record, std::nullopt));

    report.main = record.main_unit();
    report.main_unit = make_main_unit(report.main, record.counters,
                                      [](const run::Counter& counter) { return counter.value(); });
    for (const std::string& group : report.main.main->groups) {
        for (const run::Counter& counter : record.counters.of(group)) {
            report.meanings.emplace_back(counter.name(), counter.meaning);
        }
    }
    report.array_cells = machine.macs_a_cycle();
    report.layers = make_layers(record);
    std::uint64_t largest = 0;
    for (const Layer& layer : report.layers) largest += layer.bounds.largest().cycles;
    report.bounds = make_bounds(record, std::nullopt);
    report.bounds.ratio = ratio(record.cycles, largest);
    report.instruction_kinds = by_instruction_kind(program.tags, report.main, record.counters);
    report.units_drawn = record.units;
    report.paths = make_paths(record);
    report.traffic = traffic_of(report.paths);
    add_occupancy(report, record);
    report.cut_images = record.cut_images;
    report.pixel_scaling = record.pixel_scaling;
    report.spilled_weight_bytes = program.spilled_bytes;
    report.instructions = program.instructions;
    for (const run::Counter& counter : record.counters.all) {
        if (report.units.empty() || report.units.back().first != counter.group()) {
            report.units.emplace_back(counter.group(), CounterValues());
        }
        report.units.back().second.emplace_back(counter.name(), counter.value());
    }

    report.energy = make_energy(record, report.seconds);
    if (report.energy && !report.left_out.speed.empty()) report.energy->joules_per_inference.reset();
    report.no_energy = no_energy_reason(record.spec.machine);
    report.area = area::area_of(machine, record.units);
    if (report.inferences_per_second) {
        report.host_time = make_host_time(record, *report.inferences_per_second);
        report.comparison =
            make_comparison(record, report.host_time, report.host_share ? report.host_share->macs : 0);
        report.host_time.in_baselines = std::any_of(report.comparison.begin(), report.comparison.end(),
                                                    [](const Comparison& each) { return each.host_time; });
        report.claim = make_claim(report);
    }
    if (report.latency) report.requests = make_requests(record, *report.latency);
    report.left_out.requests = why_no_requests(record, report);
    report.left_out.comparison = why_no_comparison(record, report);
    add_host(report, record);
    if (report.parts.calls) report.call = make_call(report, record);
    add_answers(report, record);
    report.instruction_lines = record.instruction_times;
    report.registers = record.registers;
    report.buffers = record.printed;
    report.unfilled_buffers = record.unfilled_buffers;
    report.simulator = make_simulator(record);
    report.configuration = effective_configuration(record);
    for (const Figure& figure : figures()) {
        if (figure.compute == nullptr) continue;
        report.figures.emplace_back(figure.key(), figure.compute(record, report));
    }
    return report;
}

}  // namespace systole::report
