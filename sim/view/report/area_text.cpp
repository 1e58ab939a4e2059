#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

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
            const double share = unit.area.mm2 / area.die.mm2;
            line("  {:<16}{:>14}  {:>7}  {}", unit_name(unit.name), mm2(unit.area.mm2), percent(share),
                 bar_for(share));
        }
        line("  {:<16}{:>14}  {:.0f} to {:.0f}, in {:g} nm", "die", mm2(area.die.mm2), area.die.low,
             area.die.high, area.process_nm);
        return take();
    }

private:
    static std::string mm2(double value) { return fmt::format("{:.1f} mm2", value); }

    static std::string unit_name(std::string_view key) {
        if (key == "weight_memory_ports") return "memory ports";  // of weight memory
        if (key == "weight_fifo") return "weight FIFO";
        std::string name(key);
        std::replace(name.begin(), name.end(), '_', ' ');
        return name;
    }
};

}  // namespace

std::string area_text(const Report& report, const terminal::Look& look) {
    return report.area
               ? AreaText(look).write(*report.area)
               : std::string("Area\n  unknown: the machine file has no section energy, and so no process\n");
}

}  // namespace systole::report
