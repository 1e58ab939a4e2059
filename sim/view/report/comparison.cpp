// The run beside other processors. The host's time is in the figures of both sides, where it is known.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "base/arithmetic.h"
#include "sim/run/baselines/expected.h"
#include "sim/view/report/json_values.h"
#include "sim/view/report/numbers.h"
#include "sim/view/report/report_lines.h"
#include "sim/view/report/sections.h"
#include "sim/view/report/texts.h"

namespace systole::report {
namespace {

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

/// The chip's throughput for comparisons.
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

Json host_time_json(const HostTime& host) {
    Json percent = nullptr;
    if (host.percent) {
        percent = {{"typical", host.percent->typical},
                   {"least", host.percent->least},
                   {"most", host.percent->most},
                   {"source", host.source}};
    }
    return {{"text", host_time_text(host)},
            {"in_chip", host.in_chip()},
            {"in_baselines", host.in_baselines},
            {"percent", percent},
            {"inferences_per_second", host.inferences_per_second},
            {"band", {{"inferences_per_second", band_json(host.inferences_per_second, host.band)}}}};
}

/// The machine beside a baseline with these inferences a second, die against die.
Json compared(const run::RunRecord& record, const HostTime& ours, const baselines::Baseline& baseline,
              double its, const std::optional<baselines::Band>& its_band = {}) {
    const double speedup = ours.inferences_per_second / its;
    const auto per_watt = baselines::performance_per_watt(record.spec.machine.server,
                                                          ours.inferences_per_second, baseline, its);
    const auto ratio_band = baselines::quotient(ours.band, its_band);
    return {{"inferences_per_second", its},
            {"speedup", speedup},
            {"performance_per_watt", to_json(per_watt)},
            {"band",
             {{"inferences_per_second", band_json(its, its_band)},
              {"speedup", band_json(speedup, ratio_band)},
              {"performance_per_watt", band_json(per_watt, ratio_band)}}}};
}

/// With the expected figure of a baseline's efficiency model. Null if the baseline has no efficiency, or if
/// the run has a program instead of a network.
Json expected_json(const run::RunRecord& record, const HostTime& ours, const baselines::Baseline& baseline,
                   std::uint32_t batch) {
    if (!record.network) return nullptr;
    const auto model = baselines::expected(baseline, *record.network, batch);
    if (!model) return nullptr;
    const baselines::Efficiency& efficiency = baseline.efficiency;
    const std::optional<baselines::Band> band = efficiency.band();
    Json json = compared(record, ours, baseline, model->inferences_per_second, band);
    json["batch"] = model->batch;
    json["seconds_per_batch"] = model->seconds;
    json["tops"] = model->tops;
    json["seconds"] = {{"compute", model->compute_seconds},
                       {"memory", model->memory_seconds},
                       {"layers", model->layer_seconds}};
    json["latency_seconds"] = or_null(model->latency_seconds);
    json["efficiency"] = {{"precision", baselines::name_of(efficiency.precision)},
                          {"peak_share", efficiency.peak_share},
                          {"memory_share", efficiency.memory_share},
                          {"layer_microseconds", efficiency.layer_microseconds},
                          {"least_factor", band ? Json(band->least) : Json(nullptr)},
                          {"most_factor", band ? Json(band->most) : Json(nullptr)}};
    return json;
}

/// With measured figures: the network's matrix products alone. Null if this network was not measured on the
/// baseline at this batch.
Json measured_json(const run::RunRecord& record, const HostTime& ours, const baselines::Baseline& baseline,
                   std::uint32_t batch) {
    const baselines::Measured& measured = baseline.measured;
    if (measured.model.empty() || measured.model != record.program.model || measured.batch != batch) {
        return nullptr;
    }
    return {{"fp32", compared(record, ours, baseline, measured.fp32_inferences_per_second)},
            {"int8", compared(record, ours, baseline, measured.int8_inferences_per_second)}};
}

/// The network's point on the roofline of a baseline, which reads each weight once a batch.
Json roofline_of(const baselines::Baseline& baseline, const baselines::Work& work,
                 baselines::Precision precision, double inferences_per_second) {
    const baselines::Format format = baselines::format_of(baseline, precision);
    const auto place = ratio(static_cast<double>(work.macs) * work.batch,
                             static_cast<double>(work.weights) * format.element_bytes);
    const auto ridge = ratio(format.operations_per_second / 2.0, baseline.memory_gb_per_s * 1e9);
    if (!place || !ridge) return nullptr;
    return {{"macs_per_weight_byte", *place},
            {"ridge_macs_per_weight_byte", *ridge},
            {"bound_tops", 2.0 * static_cast<double>(work.macs) * inferences_per_second / 1e12},
            {"peak_tops", format.operations_per_second / 1e12}};
}

Json baseline_json(const run::RunRecord& record, const HostTime& ours, const baselines::Baseline& baseline,
                   const baselines::Work& work, baselines::Precision precision,
                   const baselines::Roofline& roofline) {
    const Json bound = compared(record, ours, baseline, roofline.inferences_per_second);
    Json expected = expected_json(record, ours, baseline, work.batch);
    const double watts = baseline.power.busy_watts;
    // A network in floats would give other answers in integers.
    const auto int8 = record.spec.machine.computes_floats()
                          ? std::nullopt
                          : baselines::roofline(baseline, work, baselines::Precision::Int8);
    const std::optional<double> int8_speedup =
        int8 ? std::optional(ours.inferences_per_second / int8->inferences_per_second) : std::nullopt;
    const std::optional<double> joules =
        watts > 0.0 ? ratio(watts, roofline.inferences_per_second) : std::nullopt;
    return {{"baseline", baseline.name},
            {"inferences_per_second", roofline.inferences_per_second},
            {"watts", watts > 0.0 ? Json(watts) : Json(nullptr)},
            {"speedup", bound["speedup"]},
            {"performance_per_watt", bound["performance_per_watt"]},
            {"band",
             {{"speedup", bound["band"]["speedup"]},
              {"performance_per_watt", bound["band"]["performance_per_watt"]}}},
            // It is in the expected figure that was fitted to published figures, not in one that was fitted
            // to products that were measured alone.
            {"host_time", !expected.is_null() && baseline.measured.model.empty()},
            {"joules_per_inference", or_null(joules)},
            {"precision", baselines::name_of(precision)},
            {"estimate", fmt::format("upper bound: {} roofline of one die", baselines::name_of(precision))},
            {"bound", roofline.memory_bound ? "memory" : "compute"},
            {"roofline", roofline_of(baseline, work, precision, roofline.inferences_per_second)},
            {"int8",
             {{"inferences_per_second", int8 ? Json(int8->inferences_per_second) : Json(nullptr)},
              {"speedup", or_null(int8_speedup)},
              {"band", {{"speedup", band_json(int8_speedup, ours.band)}}}}},
            {"expected", std::move(expected)},
            {"measured", measured_json(record, ours, baseline, work.batch)}};
}

}  // namespace

std::string host_time_text(const HostTime& host) {
    if (host.in_chip()) {
        const machine::HostPercent& percent = *host.percent;
        return fmt::format("host time is in {}: {:g} % of the chip's time is added, {:g} to {:g} %",
                           host.in_baselines ? "both sides" : "the chip's figures only", percent.typical,
                           percent.least, percent.most);
    }
    return fmt::format("host time is in {}: {}",
                       host.in_baselines ? "the baselines' figures only" : "neither side",
                       host.wanted ? "the machine file has no server.host_percent"
                                   : "the run leaves out that of the chip (host_time is false)");
}

std::pair<Json, Json> comparison_json(const Basis& basis) {
    const run::RunRecord& record = basis.record;
    const run::ProgramFacts& program = record.program;
    Json comparison = Json::array();
    if (!basis.inferences_per_second) return {nullptr, comparison};
    HostTime ours = make_host_time(record, *basis.inferences_per_second);
    // A baseline also does what our host does.
    const auto host_macs =
        basis.host_share.is_null() ? 0 : basis.host_share["macs_per_inference"].get<std::uint64_t>();
    // Cells of an array count the weights that are there; where there are none, the network has them.
    const std::uint64_t weights =
        program.weights == 0 && record.network ? record.network->weights() : program.weights;
    const baselines::Work work{
        .macs = saturating_sum(program.macs(), host_macs),
        .weights = weights,
        .batch = static_cast<std::uint32_t>(std::min<std::uint64_t>(program.batch, program.inferences))};
    for (const run::Json& json : record.spec.baselines) {
        const auto baseline = baselines::read_baseline(nlohmann::json(json), "baseline");
        const baselines::Precision precision = baselines::precision_beside(record.spec.machine, baseline);
        const auto roofline = baselines::roofline(baseline, work, precision);
        if (roofline) comparison.push_back(baseline_json(record, ours, baseline, work, precision, *roofline));
    }
    if (comparison.empty()) return {nullptr, comparison};
    ours.in_baselines =
        std::ranges::any_of(comparison, [](const Json& each) { return each["host_time"].get<bool>(); });
    return {host_time_json(ours), comparison};
}

std::string band_text(const Json& band, std::string (*show)(std::optional<double> value)) {
    return band.is_null()
               ? std::string()
               : fmt::format("{} to {}", show(band["least"].get<double>()), show(band["most"].get<double>()));
}

namespace {

std::string rough_number(std::optional<double> value) {
    return rough(value, "");
}

class ComparisonText : ReportLines {
public:
    ComparisonText(const Json& report, const terminal::Look& look)
        : ReportLines(look), comparison_(report["comparison"]), host_(report["host_time"]) {}

    std::string write() && {
        line("{}", heading("Comparison, die against die"));
        write_host_time();
        for (const Json& other : comparison_) {
            const std::string name = other["baseline"];
            line("");
            line("{}", heading("Against one die of " + terminal::fitted(name, columns_ - 30)));
            entry("at most", rough(number_at(other, "inferences_per_second"), "inf/s"),
                  fmt::format("upper bound: {} roofline, {}-bound", other["precision"].get<std::string>(),
                              other["bound"].get<std::string>()));
            write_least("speedup", other);
            if (!other["int8"]["speedup"].is_null()) write_least("  over its int8", other["int8"]);
            write_performance_per_watt("performance/W", other);
            if (!other["expected"].is_null()) write_expected(other["expected"], other["host_time"]);
            if (!other["measured"].is_null()) write_measured(other["measured"]);
        }
        return take();
    }

private:
    void write_host_time() {
        const bool in_chip = host_["in_chip"];
        std::string text = host_["text"];
        const auto source = in_chip ? host_["percent"]["source"].get<std::string>() : std::string();
        if (!source.empty()) text += fmt::format(" ({})", source);
        note(2, text);
        const bool of_models = std::ranges::any_of(comparison_, [](const Json& each) {
            return !each["expected"].is_null() &&
                   !each["expected"]["band"]["inferences_per_second"].is_null();
        });
        if (in_chip) {
            entry("chip and host", rough(number_at(host_, "inferences_per_second"), "inf/s"),
                  band_text(host_["band"]["inferences_per_second"], rough_number));
        }
        if (!in_chip && !of_models) return;
        const bool both = in_chip && of_models;
        note(2, fmt::format("(ranges: the least and the most of {}{}{}{})", in_chip ? "host time" : "",
                            both ? ", and of " : "", of_models ? "published figures over the model's" : "",
                            both ? "; a ratio combines both" : ""));
    }

    /// A speedup over an upper bound is a lower bound; only the host's share gives it a band.
    void write_least(std::string_view label, const Json& figures) {
        const std::string ends = band_text(figures["band"]["speedup"], rough_times);
        entry(label, rough_times(number_at(figures, "speedup")),
              remark_of({"at least", ends.empty() ? ends : ends + " by host time"}));
    }

    void write_performance_per_watt(std::string_view label, const Json& figures) {
        const Json& band = figures["band"]["performance_per_watt"];
        const std::optional<double> total = number_at(figures, "performance_per_watt.total");
        entry(label, rough_times(total),
              remark_of({band_text(band["total"], rough_times),
                         total ? "total, by servers' TDP" : "total: a server's watts are not known"}));
        entry("", rough_times(number_at(figures, "performance_per_watt.incremental")),
              remark_of({band_text(band["incremental"], rough_times), "incremental, without host"}));
    }

    void write_expected(const Json& expected, bool with_host_time) {
        const std::optional<double> latency = number_at(expected, "latency_seconds");
        const Json& efficiency = expected["efficiency"];
        entry("expected", rough(number_at(expected, "inferences_per_second"), "inf/s"),
              remark_of({band_text(expected["band"]["inferences_per_second"], rough_number),
                         fmt::format("batch {}", grouped(expected["batch"].get<std::uint64_t>())),
                         latency ? fmt::format("99 % within {}", rough_si(latency, "s")) : std::string()}));
        note(4, fmt::format("(with {:.3g} % of its peak, {:.3g} % of its bandwidth, {:.3g} us a layer{})",
                            100.0 * efficiency["peak_share"].get<double>(),
                            100.0 * efficiency["memory_share"].get<double>(),
                            efficiency["layer_microseconds"].get<double>(),
                            with_host_time ? "" : "; without the time of its host"));
        entry("  speedup", rough_times(number_at(expected, "speedup")),
              band_text(expected["band"]["speedup"], rough_times));
        write_performance_per_watt("  performance/W", expected);
    }

    void write_measured(const Json& measured) {
        entry("measured", inference_rate(number_at(measured, "fp32.inferences_per_second")),
              "fp32: the network's products alone");
        entry("  in int8", inference_rate(number_at(measured, "int8.inferences_per_second")), "");
        write_least("  speedup", measured["fp32"]);
        write_least("  over its int8", measured["int8"]);
    }

    const Json& comparison_;
    const Json& host_;
};

}  // namespace

std::string comparison_text(const Json& report, const terminal::Look& look) {
    return ComparisonText(report, look).write();
}

}  // namespace systole::report
