// What a call of the chip takes: the first one and a later one, in time and energy, beside other processors.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "sim/view/report/json_values.h"
#include "sim/view/report/numbers.h"
#include "sim/view/report/report.h"
#include "sim/view/report/report_lines.h"

namespace systole::report {
namespace {

using Json = nlohmann::ordered_json;

CallAgainst call_against(const Comparison& comparison, const Call& call) {
    const bool is_expected = comparison.expected.has_value();
    const double rate =
        is_expected ? comparison.expected->inferences_per_second : comparison.inferences_per_second;
    CallAgainst result{.baseline = comparison.baseline,
                       .basis = is_expected ? "expected" : "upper bound",
                       .seconds = 1.0 / rate};
    if (const auto seconds = call.seconds()) result.speedup = result.seconds / *seconds;
    if (!(comparison.watts > 0.0)) return result;
    result.joules = comparison.watts * result.seconds;
    if (const auto joules = call.joules()) result.per_joule = *result.joules / *joules;
    return result;
}

/// "2.6x the speed", or, below 1, the other way round.
std::string ratio_words(double factor, std::string_view more, std::string_view less) {
    return factor >= 1.0 ? fmt::format("{} {}", rough_times(factor), more)
                         : fmt::format("{} {}", rough_times(1.0 / factor), less);
}

class EdgeText : ReportLines {
public:
    EdgeText(const Report& report, const terminal::Look& look) : ReportLines(look), report_(report) {}

    std::string write(const Call& call) && {
        line("{}", heading("At the edge: a call against an inference of other processors"));
        note(2, std::string(edge_claim));
        constexpr std::string_view row = "  {:<22}{:>10}{:>11}{:>9}{:>14}   {}";
        line(row, "", "time", "energy", "speed", "inferences/J", "");
        line(row, terminal::fitted(report_.machine, 15) + (call.warm ? ", warm" : ", cold"),
             si(call.seconds(), "s"), si(call.joules(), "J"), "", "", "");
        for (const CallAgainst& each : call.against) {
            line(row, terminal::fitted(each.baseline, 22), rough_si(each.seconds, "s"),
                 rough_si(each.joules, "J"), rough_times(each.speedup), rough_times(each.per_joule),
                 each.basis);
        }
        for (const CallAgainst& each : call.against)
            note(2, each.sentence(report_.model, call.warm.has_value()));
        return take();
    }

private:
    const Report& report_;
};

}  // namespace

std::string CallAgainst::sentence(std::string_view model, bool is_warm) const {
    std::string text = fmt::format("{}, {} call", model, is_warm ? "warm" : "cold");
    if (!speedup) return text + ": its time is not known";
    text += fmt::format(": {} of {}", ratio_words(*speedup, "the speed", "the time"), baseline);
    if (!per_joule) return text + "; its joules are not compared";
    text += fmt::format(", {}", ratio_words(*per_joule, "the inferences of a joule", "the joules"));
    // A cold call alone says nothing of those that follow.
    if (!is_warm) return text;
    const bool is_faster = *speedup >= 1.0;
    const bool is_thrifty = *per_joule >= 1.0;
    if (is_faster && is_thrifty) return text + ": it belongs on this machine";
    if (!is_faster && !is_thrifty) return text + ": it does not belong on this machine";
    return text + (is_faster ? ": on this machine for speed alone" : ": on this machine for energy alone");
}

Call make_call(const Report& report, const run::RunRecord& record) {
    const machine::MachineConfig& machine = record.spec.machine;
    Call call{.host = report.host,
              .host_us = machine.host.call_us,
              .read_gb_per_s = machine.host_interface.read_gb_per_s,
              .write_gb_per_s = machine.host_interface.write_gb_per_s};
    if (!report.latency) return call;
    const BatchSeconds& latency = *report.latency;
    call.cold = latency.first;
    call.later = report.batches - 1;
    if (call.later > 0) {
        call.warm = (latency.latency * static_cast<double>(report.batches) - latency.first) /
                    static_cast<double>(call.later);
    }
    if (report.energy && machine.has_event_energy()) {
        call.cold_joules = report.energy->joules();
        if (call.warm) {
            call.warm_joules = energy::joules_of_warm_call(record, report.batches, *call.warm);
            *call.cold_joules -= static_cast<double>(call.later) * *call.warm_joules;
        }
    }
    for (const Comparison& each : report.comparison) call.against.push_back(call_against(each, call));
    return call;
}

nlohmann::ordered_json call_json(const Call& call, std::string_view model) {
    constexpr double milliseconds = 1e3;
    const auto ms = [](std::optional<double> seconds) {
        return seconds ? Json(milliseconds * *seconds) : Json(nullptr);
    };
    Json json{{"cold_ms", ms(call.cold)},
              {"warm_ms", ms(call.warm)},
              {"cold_joules", or_null(call.cold_joules)},
              {"warm_joules", or_null(call.warm_joules)},
              {"host",
               {{"processor", call.host.empty() ? Json(nullptr) : Json(call.host)},
                {"call_us", call.host_us},
                {"read_gb_per_s", call.read_gb_per_s},
                {"write_gb_per_s", call.write_gb_per_s}}}};
    json["against"] = list_of(call.against, [&](const CallAgainst& each) -> Json {
        return {{"baseline", each.baseline},
                {"basis", each.basis},
                {"ms", milliseconds * each.seconds},
                {"joules", or_null(each.joules)},
                {"speedup", or_null(each.speedup)},
                {"inferences_per_joule", or_null(each.per_joule)},
                {"sentence", each.sentence(model, call.warm.has_value())}};
    });
    return json;
}

std::string call_text(const Report& report, const terminal::Look& look) {
    return EdgeText(report, look).write(*report.call);
}

}  // namespace systole::report
