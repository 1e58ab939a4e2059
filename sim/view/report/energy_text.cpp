#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "sim/view/energy/run_energy.h"
#include "sim/view/report/numbers.h"
#include "sim/view/report/report_lines.h"
#include "sim/view/report/texts.h"

namespace systole::report {
namespace {

class EnergyText : ReportLines {
public:
    explicit EnergyText(const Shown& shown)
        : ReportLines(shown.look),
          report_(shown.report),
          energy_(shown.report["energy"]),
          record_(shown.record) {}

    std::string write() && {
        line("{}", heading("Energy"));
        if (energy_["joules"].is_null()) {
            entry("chip", "-", energy_["notes"].at(0).get<std::string>());
            return take();
        }
        if (energy_.contains("die_watts")) {
            write_event_energy();
        } else {
            write_published_energy();
        }
        for (const Json& each : energy_["notes"]) note(2, fmt::format("({})", each.get<std::string>()));
        return take();
    }

private:
    void write_published_energy() {
        const std::optional<double> of_idle = number_at(energy_, "static_joules");
        entry("chip", joules("joules"),
              of_idle
                  ? fmt::format("{} static, {} dynamic", joules("static_joules"), joules("dynamic_joules"))
                  : "the static part is not known: power.idle_watts is not given");
        write_figures("published, of the busy chip");
    }

    void write_event_energy() {
        const double all = energy_["joules"];
        for (const auto& [unit, of_unit] : energy_["by_unit"].items()) {
            const double joules = of_unit;
            const std::optional<double> share = all > 0.0 ? std::optional(joules / all) : std::nullopt;
            line("  {:<16}{:>14}  {:>7}  {}", consumer_name(unit), si(joules, "J"), percent(share),
                 bar_for(share));
        }
        const bool is_calibrated = energy_.contains("uncalibrated");
        write_figures(record_.main_unit().main->energy_of);
        const std::optional<double> published = number_at(energy_, "published_busy_watts");
        entry("  chip alone", si(number_at(energy_, "die_watts"), "W"),
              published ? fmt::format("{} published, busy", si(published, "W")) : std::string());
        if (!is_calibrated) return;
        entry("  uncalibrated", si(number_at(energy_, "uncalibrated.die_watts"), "W"),
              fmt::format("without the factor {:g} on its events",
                          energy_["die_dynamic_factor"].get<double>()));
    }

    std::string joules(std::string_view key) const { return si(number_at(energy_, key), "J"); }

    std::string consumer_name(const std::string& key) const {
        if (key == energy::Consumers::chip_static) return "chip, static";
        for (const machine::UnitDescription& unit : record_.units) {
            if (unit.name != key) continue;
            if (unit.die_part && unit.die_part->name == key) return unit.die_part->label;
            if (unit.box && is_abbreviation(unit.box->title)) return unit.box->title;
        }
        std::string name(key);
        std::replace(name.begin(), name.end(), '_', ' ');
        return name;
    }

    /// `basis` is what the power is of.
    void write_figures(std::string_view basis) {
        figure_lines(Figure::Part::Energy, report_, [&](const Figure& figure, std::optional<double> value) {
            using Remark = std::optional<std::string>;
            if (figure.key() == "energy.watts") return Remark(basis);
            // A program that states no inferences has no energy of one.
            if (figure.key() == "energy.joules_per_inference") {
                return number_at(report_, "inferences") > 0.0 ? Remark("") : Remark();
            }
            return value ? Remark(figure.line.remark) : Remark();
        });
    }

    const Json& report_;
    const Json& energy_;
    const run::RunRecord& record_;
};

}  // namespace

std::string energy_text(const Shown& shown) {
    return EnergyText(shown).write();
}

}  // namespace systole::report
