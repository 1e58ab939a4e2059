// What a call of the chip takes: the first one and a later one, in time and energy, beside other processors.
#include <fmt/format.h>

#include <string>

#include "sim/view/report/json_values.h"
#include "sim/view/report/numbers.h"
#include "sim/view/report/report_lines.h"
#include "sim/view/report/sections.h"
#include "sim/view/report/texts.h"

namespace systole::report {
namespace {

/// "2.6x the speed", or, below 1, the other way round.
std::string ratio_words(double factor, std::string_view more, std::string_view less) {
    return factor >= 1.0 ? fmt::format("{} {}", rough_times(factor), more)
                         : fmt::format("{} {}", rough_times(1.0 / factor), less);
}

/// Whether the network belongs on this machine, with the numbers that say so.
std::string sentence(const run::RunRecord& record, bool is_warm, const std::string& baseline,
                     std::optional<double> speedup, std::optional<double> per_joule) {
    std::string text = fmt::format("{}, {} call", record.program.model, is_warm ? "warm" : "cold");
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

/// Seconds and joules of a call; absent where the run does not have them.
struct Taken {
    std::optional<double> seconds;
    std::optional<double> joules;
};

/// A call against one inference of a baseline.
Json call_against_json(const run::RunRecord& record, const Json& comparison, const Taken& call,
                       bool is_warm) {
    const bool is_expected = !comparison["expected"].is_null();
    const double rate = (is_expected ? comparison["expected"] : comparison)["inferences_per_second"];
    const double seconds = 1.0 / rate;
    std::optional<double> speedup;
    if (call.seconds) speedup = seconds / *call.seconds;
    std::optional<double> joules;
    if (const auto watts = number_at(comparison, "watts")) joules = *watts * seconds;
    std::optional<double> per_joule;
    if (joules && call.joules) per_joule = *joules / *call.joules;
    const std::string baseline = comparison["baseline"];
    return {{"baseline", baseline},
            {"basis", is_expected ? "expected" : "upper bound"},
            {"ms", milliseconds * seconds},
            {"joules", or_null(joules)},
            {"speedup", or_null(speedup)},
            {"inferences_per_joule", or_null(per_joule)},
            {"sentence", sentence(record, is_warm, baseline, speedup, per_joule)}};
}

/// What the article says of its Coral board, beside the figures.
constexpr std::string_view edge_claim =
    "(the article has its TPU on a Coral Dev Board, whose speed and watts it does not give: 15-30x the "
    "performance and 30-80x the performance/W are those of TPU v1)";

/// A line and a sentence for each baseline.
class EdgeText : ReportLines {
public:
    EdgeText(const Json& report, const terminal::Look& look) : ReportLines(look), report_(report) {}

    std::string write() && {
        const Json& call = report_["call"];
        const bool is_warm = !call["warm_ms"].is_null();
        line("{}", heading("At the edge: a call against an inference of other processors"));
        note(2, edge_claim);
        constexpr std::string_view row = "  {:<22}{:>10}{:>11}{:>9}{:>14}   {}";
        line(row, "", "time", "energy", "speed", "inferences/J", "");
        line(row,
             terminal::fitted(report_["machine"].get<std::string>(), 15) + (is_warm ? ", warm" : ", cold"),
             si(seconds(call, is_warm ? "warm_ms" : "cold_ms"), "s"),
             si(number_at(call, is_warm ? "warm_joules" : "cold_joules"), "J"), "", "", "");
        for (const Json& each : call["against"]) {
            line(row, terminal::fitted(each["baseline"].get<std::string>(), 22),
                 rough_si(seconds(each, "ms"), "s"), rough_si(number_at(each, "joules"), "J"),
                 rough_times(number_at(each, "speedup")),
                 rough_times(number_at(each, "inferences_per_joule")), each["basis"].get<std::string>());
        }
        for (const Json& each : call["against"]) note(2, each["sentence"].get<std::string>());
        return take();
    }

private:
    static std::optional<double> seconds(const Json& object, std::string_view key) {
        const std::optional<double> ms = number_at(object, key);
        return ms ? std::optional(*ms / milliseconds) : ms;
    }

    const Json& report_;
};

}  // namespace

Json call_json(const Basis& basis, const Json& report) {
    const run::RunRecord& record = basis.record;
    const machine::MachineConfig& machine = basis.machine;
    Taken cold;
    Taken warm;
    if (basis.latency) {
        const auto calls = static_cast<double>(basis.batches);
        const std::uint64_t later = basis.batches - 1;
        cold.seconds = basis.latency->first;
        if (later > 0) {
            warm.seconds =
                (basis.latency->latency * calls - basis.latency->first) / static_cast<double>(later);
        }
        const std::optional<double> joules = number_at(report, "energy.joules");
        if (joules && machine.has_event_energy()) {
            cold.joules = joules;
            if (warm.seconds) {
                warm.joules = energy::joules_of_warm_call(record, basis.batches, *warm.seconds);
                *cold.joules -= static_cast<double>(later) * *warm.joules;
            }
        }
    }
    const auto ms = [](std::optional<double> seconds) {
        return seconds ? Json(milliseconds * *seconds) : Json(nullptr);
    };
    const bool is_warm = warm.seconds.has_value();
    return {{"cold_ms", ms(cold.seconds)},
            {"warm_ms", ms(warm.seconds)},
            {"cold_joules", or_null(cold.joules)},
            {"warm_joules", or_null(warm.joules)},
            {"host",
             {{"processor", basis.host ? Json(basis.host->name) : Json(nullptr)},
              {"call_us", machine.host.call_us},
              {"read_gb_per_s", machine.host_interface.read_gb_per_s},
              {"write_gb_per_s", machine.host_interface.write_gb_per_s}}},
            {"against", list_of(report["comparison"], [&](const Json& comparison) {
                 return call_against_json(record, comparison, is_warm ? warm : cold, is_warm);
             })}};
}

std::string call_text(const Json& report, const terminal::Look& look) {
    return EdgeText(report, look).write();
}

}  // namespace systole::report
