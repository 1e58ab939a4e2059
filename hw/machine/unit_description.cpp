#include "hw/machine/unit_description.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>

namespace systole::machine {

const UnitDescription& main_unit_of(const std::vector<UnitDescription>& units) {
    const auto found =
        std::ranges::find_if(units, [](const UnitDescription& unit) { return unit.main.has_value(); });
    if (found == units.end()) throw std::logic_error("a machine without a main unit");
    return *found;
}

ShownLine latency_line(std::uint32_t cycles, double nanoseconds) {
    constexpr double nanosecond = 1e-9;
    const std::string_view counted = cycles == 1 ? "{} cycle" : "{} cycles";
    ShownLine line{.text = "latency "};
    if (cycles > 0 || nanoseconds == 0.0) {
        line.text += counted;
        line.numbers.push_back({static_cast<double>(cycles), "count"});
    }
    if (nanoseconds > 0.0) {
        line.text += line.numbers.empty() ? "{}" : " + {}";
        line.numbers.push_back({nanoseconds * nanosecond, "s"});
    }
    return line;
}

}  // namespace systole::machine
