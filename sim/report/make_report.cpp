// From counters to figures.
#include <sys/resource.h>

#include <algorithm>

#include "hw/base/arithmetic.h"
#include "hw/isa/layer_name.h"
#include "sim/report/report.h"

namespace systole::report {
namespace {

using Tag = hw::Tag;

/// `numerator` over `denominator`, absent where that is 0.
std::optional<double> ratio(double numerator, double denominator) {
    if (!(denominator > 0.0)) return std::nullopt;
    return numerator / denominator;
}

std::optional<double> ratio(std::uint64_t numerator, std::uint64_t denominator) {
    return ratio(static_cast<double>(numerator), static_cast<double>(denominator));
}

/// The matrix unit's counters; `value` says whether in total or of one tag.
template <class Value>
MatrixUnit matrix_unit(const hw::MatrixUnitCounters& counters, Value value) {
    MatrixUnit unit{.active_cycles = value(counters.active_cycles),
                    .weight_stall_cycles = value(counters.weight_stall_cycles),
                    .weight_shift_cycles = value(counters.weight_shift_cycles),
                    .non_matrix_cycles = value(counters.non_matrix_cycles),
                    .useful_macs = value(counters.useful_macs),
                    .unused_macs = value(counters.unused_macs),
                    .counters = {}};
    for (const hw::Counter& counter : counters) unit.counters.emplace_back(counter.name(), value(counter));
    return unit;
}

/// MACs that the network needs of one inference; 0 for a program that does not say.
std::uint64_t network_macs(const isa::Program& program) {
    std::uint64_t macs = 0;
    for (const isa::LayerInfo& layer : program.layers) macs += layer.macs;
    return macs;
}

/// MACs that the run was asked for: what the network needs, however often the chip repeats work. A
/// program without a network is asked for what it does.
std::uint64_t needed_macs(const run::Result& result) {
    const std::uint64_t macs = network_macs(*result.program);
    return macs > 0 ? macs * result.program->inferences
                    : result.tpu->matrix_unit().multiply_accumulates.value();
}

/// The same under one tag.
std::uint64_t needed_macs_under(const run::Result& result, Tag tag) {
    const isa::Program& program = *result.program;
    if (network_macs(program) == 0) return result.tpu->matrix_unit().multiply_accumulates.value(tag);
    return tag > 0 && tag <= program.layers.size() ? program.layers[tag - 1U].macs * program.inferences : 0;
}

double seconds_of(std::uint64_t cycles, const machine::MachineConfig& machine) {
    return static_cast<double>(cycles) / static_cast<double>(machine.clock_hz());
}

/// A multiply-accumulate counts two.
std::optional<double> tops(std::uint64_t macs, double seconds) {
    return ratio(2.0 * static_cast<double>(macs) / 1e12, seconds);
}

/// Where so many multiply-accumulates with so many weight bytes lie on the machine's roofline.
std::optional<Roofline> make_roofline(const machine::MachineConfig& machine, std::uint64_t macs,
                                      std::uint64_t weight_bytes) {
    const auto place = ratio(macs, weight_bytes);
    if (!place) return std::nullopt;
    const double peak_macs = machine.peak_ops_per_second() / 2.0;
    const Rate rate = machine.weight_rate();
    const double bytes_per_second = static_cast<double>(rate.bytes) / static_cast<double>(rate.cycles) *
                                    static_cast<double>(machine.clock_hz());
    return Roofline{.macs_per_weight_byte = *place,
                    .ridge = peak_macs / bytes_per_second,
                    .bound_tops = 2.0 * std::min(peak_macs, *place * bytes_per_second) / 1e12,
                    .peak_tops = machine.peak_ops_per_second() / 1e12};
}

Layer make_layer(const run::Result& result, Tag tag) {
    const isa::Program& program = *result.program;
    Layer layer;
    layer.tag = tag;
    layer.name = isa::layer_name(program, tag);
    if (tag > 0 && tag <= program.layers.size()) {
        const isa::LayerInfo& info = program.layers[tag - 1U];
        layer.kind = info.kind;
        layer.macs_per_inference = info.macs;
    }
    layer.matrix_unit = matrix_unit_under(result.tpu->matrix_unit(), tag);
    layer.share = ratio(layer.matrix_unit.cycles(), result.tpu->cycles());
    layer.array_utilization =
        ratio(layer.matrix_unit.useful_macs, layer.matrix_unit.useful_macs + layer.matrix_unit.unused_macs);
    layer.energy = energy_under(result, tag, layer.matrix_unit.cycles());
    layer.weight_bytes = result.tpu->weight_fifo().bytes.value(tag);
    const std::uint64_t macs = needed_macs_under(result, tag);
    layer.achieved_tops = tops(macs, seconds_of(layer.matrix_unit.cycles(), result.machine));
    layer.roofline = make_roofline(result.machine, macs, layer.weight_bytes);
    return layer;
}

bool has_cycles_or_energy(const Layer& layer) {
    return layer.matrix_unit.cycles() > 0 || (layer.energy && layer.energy->total() > 0.0);
}

/// One entry for each layer of the network, whether cycles fell to it or not, then the other tags with
/// cycles or energy.
std::vector<Layer> make_layers(const run::Result& result) {
    std::size_t last_tag = result.program->layers.size();
    for (const isa::Instruction& instruction : result.program->instructions) {
        if (const auto* tag = std::get_if<isa::DebugTag>(&instruction)) {
            last_tag = std::max<std::size_t>(last_tag, tag->tag);
        }
    }
    std::vector<Layer> layers;
    for (std::size_t tag = 1; tag <= last_tag; ++tag) {
        Layer layer = make_layer(result, static_cast<Tag>(tag));
        if (tag <= result.program->layers.size() || has_cycles_or_energy(layer)) {
            layers.push_back(std::move(layer));
        }
    }
    Layer outside = make_layer(result, 0);
    if (has_cycles_or_energy(outside)) layers.push_back(std::move(outside));
    return layers;
}

std::vector<Traffic> make_traffic(const run::Result& result) {
    const hw::HostInterfaceCounters& host = result.tpu->host_interface();
    const auto path = [&](std::string name, std::uint64_t bytes, Rate rate) {
        const double most = static_cast<double>(result.tpu->cycles()) * static_cast<double>(rate.bytes) /
                            static_cast<double>(rate.cycles);
        return Traffic{
            .path = std::move(name), .bytes = bytes, .utilization = ratio(static_cast<double>(bytes), most)};
    };
    const machine::MachineConfig& machine = result.machine;
    return {path("weight", result.tpu->weight_fifo().bytes.value(), machine.weight_rate()),
            path("host_read", host.read_bytes.value(), machine.host_read_rate()),
            path("host_write", host.write_bytes.value(), machine.host_write_rate()),
            path("instruction", host.instruction_bytes.value(), machine.host_read_rate())};
}

/// Weights of the network: each tile says how many of its cells carry one.
std::uint64_t network_weights(const isa::Program& program) {
    std::uint64_t weights = 0;
    for (const isa::WeightTile& tile : program.tiles) weights += tile.useful_macs;
    return weights;
}

/// Where the network lies on the roofline of a baseline in fp32, which reads each weight once a batch.
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

/// Our inferences a second over its.
ComparisonWith compare(const run::Result& result, double ours, const baselines::Baseline& baseline,
                       double its) {
    return {
        .inferences_per_second = its,
        .speedup = ours / its,
        .performance_per_watt = baselines::performance_per_watt(result.machine.server, ours, baseline, its)};
}

std::optional<ComparisonExpected> compare_with_expected(const run::Result& result, double ours,
                                                        const baselines::Baseline& baseline,
                                                        std::uint32_t batch) {
    if (!result.network) return std::nullopt;
    const auto model = baselines::expected(baseline, *result.network, batch);
    if (!model) return std::nullopt;
    return ComparisonExpected{compare(result, ours, baseline, model->inferences_per_second), *model,
                              baseline.efficiency};
}

std::optional<ComparisonMeasured> compare_with_measured(const run::Result& result, double ours,
                                                        const baselines::Baseline& baseline,
                                                        std::uint32_t batch) {
    const baselines::Measured& measured = baseline.measured;
    if (measured.model.empty() || measured.model != result.program->model || measured.batch != batch) {
        return std::nullopt;
    }
    return ComparisonMeasured{.fp32 = compare(result, ours, baseline, measured.fp32_inferences_per_second),
                              .int8 = compare(result, ours, baseline, measured.int8_inferences_per_second)};
}

std::vector<Comparison> make_comparison(const run::Result& result, double inferences_per_second) {
    const isa::Program& program = *result.program;
    const baselines::Work work{
        .macs = network_macs(program),
        .weights = network_weights(program),
        .batch = static_cast<std::uint32_t>(std::min<std::uint64_t>(program.batch, program.inferences))};
    std::vector<Comparison> comparison;
    for (const baselines::Baseline& baseline : result.baselines) {
        const auto fp32 = baselines::roofline(baseline, work, baselines::Precision::Fp32);
        if (!fp32) continue;
        const ComparisonWith bound =
            compare(result, inferences_per_second, baseline, fp32->inferences_per_second);
        Comparison other{
            .baseline = baseline.name,
            .inferences_per_second = bound.inferences_per_second,
            .memory_bound = fp32->memory_bound,
            .watts = baseline.power.busy_watts,
            .speedup = bound.speedup,
            .performance_per_watt = bound.performance_per_watt,
            .roofline = roofline_of(baseline, work, fp32->inferences_per_second),
            .int8_inferences_per_second = {},
            .int8_speedup = {},
            .joules_per_inference = {},
            .expected = compare_with_expected(result, inferences_per_second, baseline, work.batch),
            .measured = compare_with_measured(result, inferences_per_second, baseline, work.batch)};
        if (const auto int8 = baselines::roofline(baseline, work, baselines::Precision::Int8)) {
            other.int8_inferences_per_second = int8->inferences_per_second;
            other.int8_speedup = inferences_per_second / int8->inferences_per_second;
        }
        if (baseline.power.busy_watts > 0.0) {
            other.joules_per_inference = ratio(baseline.power.busy_watts, bound.inferences_per_second);
        }
        comparison.push_back(std::move(other));
    }
    return comparison;
}

void add_occupancy(Report& report, const run::Result& result) {
    if (!result.occupancy) return;
    report.memory_over_time = make_memory_over_time(result);
    report.unified_buffer_map = make_unified_buffer_map(result);
}

void add_host(Report& report, const run::Result& result) {
    for (const run::HostWork& work : result.host_work) {
        HostOperation operation{.kind = work.kind, .layer = work.layer, .seconds = {}};
        if (result.host) operation.seconds = run::host_seconds(work, *result.host);
        report.host_operations.push_back(std::move(operation));
    }
    if (!result.host) return;
    report.host_seconds = 0.0;
    for (const HostOperation& operation : report.host_operations) *report.host_seconds += *operation.seconds;
}

void add_answers(Report& report, const run::Result& result) {
    report.timing_only = result.config.timing_only;
    report.accuracy = result.accuracy;
    report.float_accuracy = result.float_accuracy;
    report.float_agreements = result.float_agreements;
    if (!result.outputs) return;
    report.predictions = result.outputs->predictions;
    report.pictures = result.pictures;
    if (result.program->host_operations.empty()) return;  // outputs are no probabilities
    constexpr std::size_t shown = 8;
    for (std::size_t i = 0; i < std::min(shown, report.predictions.size()); ++i) {
        report.first_probabilities.push_back(
            result.outputs->values[i * result.outputs->per_inference + report.predictions[i]]);
    }
}

Simulator make_simulator(const run::Result& result) {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    constexpr std::uint64_t kilobyte = 1024;
    Simulator simulator{
        .wall_seconds = result.wall.total,
        .prepare_seconds = result.wall.prepare,
        .simulate_seconds = result.wall.simulate,
        .gemm_seconds = result.tpu->gemm().seconds,
        .simulated_cycles_per_second = ratio(static_cast<double>(result.tpu->cycles()), result.wall.total),
        .macs_per_second = {},
        .peak_rss_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * kilobyte};
    if (!result.config.timing_only) {
        simulator.macs_per_second = ratio(
            static_cast<double>(result.tpu->matrix_unit().multiply_accumulates.value()), result.wall.total);
    }
    return simulator;
}

nlohmann::ordered_json effective_configuration(const run::Result& result) {
    nlohmann::ordered_json configuration;
    configuration["run"] = run::to_json(result.config);
    configuration["machine"] = machine::to_json(result.machine);
    configuration["baselines"] = nlohmann::ordered_json::array();
    for (const baselines::Baseline& baseline : result.baselines) {
        configuration["baselines"].push_back(baselines::to_json(baseline));
    }
    return configuration;
}

}  // namespace

MatrixUnit matrix_unit_under(const hw::MatrixUnitCounters& counters, Tag tag) {
    return matrix_unit(counters, [&](const hw::Counter& counter) { return counter.value(tag); });
}

Report make_report(const run::Result& result) {
    const isa::Program& program = *result.program;
    const hw::Tpu& tpu = *result.tpu;
    const machine::MachineConfig& machine = result.machine;
    Report report;
    report.machine = machine.name;
    for (const run::Setting& setting : result.config.machine_settings) {
        report.machine_settings.emplace_back(setting.key, setting.value.dump());
    }
    report.model = program.model;
    report.batch = program.batch;
    report.inferences = program.inferences;
    if (program.batch > 0) report.batches = divide_up(program.inferences, program.batch);

    report.cycles = tpu.cycles();
    report.clock_mhz = machine.clock_mhz;
    report.seconds = seconds_of(report.cycles, machine);
    if (report.inferences > 0) {
        report.inferences_per_second = ratio(static_cast<double>(report.inferences), report.seconds);
    }
    report.seconds_per_batch = ratio(report.seconds, static_cast<double>(report.batches));
    report.achieved_tops = tops(needed_macs(result), report.seconds);
    report.peak_tops = machine.peak_ops_per_second() / 1e12;
    if (report.achieved_tops) report.peak_share = *report.achieved_tops / report.peak_tops;
    report.roofline = make_roofline(machine, needed_macs(result), tpu.weight_fifo().bytes.value());

    report.matrix_unit =
        matrix_unit(tpu.matrix_unit(), [](const hw::Counter& counter) { return counter.value(); });
    report.array_cells = machine.tile_bytes();
    report.layers = make_layers(result);
    report.instruction_kinds = by_instruction_kind(program, tpu.matrix_unit());
    report.traffic = make_traffic(result);
    report.paths = make_paths(result, report.traffic);
    add_occupancy(report, result);
    report.unified_buffer_peak_bytes = tpu.unified_buffer().touched_bytes();
    report.unified_buffer_bytes = machine.unified_buffer_bytes();
    for (const isa::WeightTile& tile : program.tiles) {
        report.weight_memory_used_bytes += machine.tile_bytes() * bytes_of(tile.type);
    }
    report.weight_memory_bytes = machine.weight_memory.bytes;
    report.instructions = program.instructions.size();
    for (const hw::CounterGroup* group : tpu.counters()) {
        CounterValues values;
        for (const hw::Counter& counter : *group) values.emplace_back(counter.name(), counter.value());
        report.units.emplace_back(group->unit(), std::move(values));
    }

    report.energy = make_energy(result, report.seconds);
    if (report.inferences_per_second) {
        report.comparison = make_comparison(result, *report.inferences_per_second);
        report.claim = make_claim(report);
    }
    add_host(report, result);
    add_answers(report, result);
    if (result.config.instructions) {
        report.instruction_lines = make_instruction_lines(program, result.instruction_times, report.cycles);
    }
    report.registers = result.registers;
    report.buffers = result.printed;
    report.unfilled_buffers = result.unfilled_buffers;
    report.simulator = make_simulator(result);
    report.configuration = effective_configuration(result);
    return report;
}

}  // namespace systole::report
