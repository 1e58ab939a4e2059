#include <fmt/format.h>

#include <string>

#include "sim/view/report/report.h"
#include "sim/view/report/report_lines.h"

namespace systole::report {
namespace {

class AreaText : ReportLines {
public:
    explicit AreaText(const terminal::Look& look) : ReportLines(look) {}

    std::string write(const area::Area& area) && {
        line("{}", heading("Area"));
        for (const area::UnitArea& unit : area.units) {
            const double share = unit.mm2.nominal / area.die.nominal;
            line("  {:<16}{:>14}  {:>7}  {}", unit.label, mm2(unit.mm2.nominal), percent(share),
                 bar_for(share));
        }
        line("  {:<16}{:>14}  {:.0f} to {:.0f}, in {:g} nm", "die", mm2(area.die.nominal), area.die.low,
             area.die.high, area.process_nm);
        return take();
    }

private:
    static std::string mm2(double value) { return fmt::format("{:.1f} mm2", value); }
};

}  // namespace

std::string area_text(const Report& report, const terminal::Look& look) {
    return report.area
               ? AreaText(look).write(*report.area)
               : std::string("Area\n  unknown: the machine file has no section energy, and so no process\n");
}

}  // namespace systole::report
