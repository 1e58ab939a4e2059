#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "sim/view/report/numbers.h"
#include "sim/view/report/report.h"
#include "sim/view/report/report_lines.h"

namespace systole::report {
namespace {

class EnergyText : ReportLines {
public:
    EnergyText(const Report& report, const nlohmann::ordered_json& json, const terminal::Look& look)
        : ReportLines(look), report_(report), json_(json) {}

    std::string write() && {
        line("{}", heading("Energy"));
        if (!report_.energy) {
            entry("chip", "-", report_.no_energy.value_or(""));
            return take();
        }
        const Energy& energy = *report_.energy;
        if (energy.events) {
            write_event_energy(energy, *energy.events);
        } else {
            write_published_energy(energy);
        }
        for (const std::string& each : energy.notes) note(2, fmt::format("({})", each));
        return take();
    }

private:
    void write_published_energy(const Energy& energy) {
        entry("chip", si(energy.joules(), "J"),
              energy.knows_static ? fmt::format("{} static, {} dynamic", si(energy.static_joules, "J"),
                                                si(energy.dynamic_joules, "J"))
                                  : "the static part is not known: power.idle_watts is not given");
        write_figures("published, of the busy chip");
    }

    void write_event_energy(const Energy& energy, const EventEnergy& events) {
        for (const auto& [unit, joules] : energy.by_unit) {
            const double all = energy.joules();
            const std::optional<double> share = all > 0.0 ? std::optional(joules / all) : std::nullopt;
            line("  {:<16}{:>14}  {:>7}  {}", consumer_name(unit), si(joules, "J"), percent(share),
                 bar_for(share));
        }
        write_figures(events.calibration ? "chip and weight memory" : "chip, link, host and board");
        entry("  chip alone", si(events.die_watts, "W"),
              events.published_watts > 0.0
                  ? fmt::format("{} published, busy", si(events.published_watts, "W"))
                  : std::string());
        if (!events.calibration) return;
        entry("  uncalibrated", si(events.calibration->uncalibrated_die_watts, "W"),
              fmt::format("without the factor {:g} on its events", events.calibration->die_dynamic_factor));
    }

    static std::string consumer_name(std::string_view key) {
        if (key == "chip_static") return "chip, static";
        if (key == "weight_fifo") return "weight FIFO";
        std::string name(key);
        std::replace(name.begin(), name.end(), '_', ' ');
        return name;
    }

    /// `basis` is what the power is of.
    void write_figures(std::string_view basis) {
        figure_lines(Figure::Part::Energy, json_, [&](const Figure& figure, std::optional<double> value) {
            using Remark = std::optional<std::string>;
            if (figure.key() == "energy.watts") return Remark(basis);
            // A program that states no inferences has no energy of one.
            if (figure.key() == "energy.joules_per_inference")
                return report_.inferences > 0 ? Remark("") : Remark();
            return value ? Remark(figure.line.remark) : Remark();
        });
    }

    const Report& report_;
    const nlohmann::ordered_json& json_;
};

}  // namespace

std::string energy_text(const Report& report, const nlohmann::ordered_json& json,
                        const terminal::Look& look) {
    return EnergyText(report, json, look).write();
}

}  // namespace systole::report
