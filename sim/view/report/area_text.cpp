#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "sim/view/report/report_lines.h"
#include "sim/view/report/texts.h"

namespace systole::report {
namespace {

class AreaText : ReportLines {
public:
    explicit AreaText(const Shown& shown) : ReportLines(shown.look), record_(shown.record) {}

    std::string write(const Json& area) && {
        line("{}", heading("Area"));
        const double die = area["mm2"];
        for (const auto& [unit, estimate] : area["by_unit"].items()) {
            const double of_unit = estimate["mm2"];
            const double share = of_unit / die;
            line("  {:<16}{:>14}  {:>7}  {}", label_of(unit), mm2(of_unit), percent(share), bar_for(share));
        }
        line("  {:<16}{:>14}  {:.0f} to {:.0f}, in {:g} nm", "die", mm2(die), area["mm2_low"].get<double>(),
             area["mm2_high"].get<double>(), area["process_nm"].get<double>());
        if (area.contains("note")) note(2, fmt::format("({})", area["note"].get<std::string>()));
        return take();
    }

private:
    static std::string mm2(double value) { return fmt::format("{:.1f} mm2", value); }

    /// A part of the die that is no unit's has its name.
    std::string label_of(const std::string& part) const {
        for (const machine::UnitDescription& unit : record_.units) {
            if (unit.die_part && unit.die_part->name == part) return unit.die_part->label;
        }
        return part;
    }

    const run::RunRecord& record_;
};

}  // namespace

std::string area_text(const Shown& shown) {
    const Json& area = shown.report["area"];
    return area.is_null() ? std::string(
                                "Area\n  unknown: the machine file has no section energy or tensor_energy, "
                                "and so no process\n")
                          : AreaText(shown).write(area);
}

}  // namespace systole::report
