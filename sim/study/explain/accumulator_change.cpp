#include "sim/study/explain/accumulator_change.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "hw/machine/config_error.h"
#include "sim/run/path_finder.h"
#include "sim/view/report/numbers.h"

namespace systole::explain {
namespace {

constexpr std::string_view accumulator_rows = "accumulators.rows";
constexpr std::string_view accumulator_setting = "machine.accumulators.rows";

/// A layer is computed in pieces of a part of the accumulators.
std::string_view why(bool has_more) {
    return has_more ? "a layer is computed in pieces of a part of the accumulators; larger pieces fetch "
                      "weights less "
                      "often, but the next layer waits until the whole last piece is activated"
                    : "a layer is computed in pieces of a part of the accumulators, and each piece fetches "
                      "the weights "
                      "again";
}

}  // namespace

std::optional<WhatIf> without_accumulator_change(const Situation& situation) {
    run::RunConfig unchanged = situation.config;
    const auto removed = std::erase_if(unchanged.machine_settings, [](const run::Setting& setting) {
        return setting.key == accumulator_rows;
    });
    if (removed == 0) return std::nullopt;
    try {
        const std::uint32_t rows =
            run::read_machine(unchanged, run::PathFinder(unchanged.file)).accumulators.rows;
        if (rows == situation.machine.accumulators.rows) return std::nullopt;
        return WhatIf{fmt::format("the {} accumulators of the machine file", report::grouped(rows)),
                      {{std::string(accumulator_setting), rows}}};
    } catch (const machine::ConfigError&) {
        return std::nullopt;  // another setting needs the changed accumulators
    }
}

std::string why_slower(const WhatIf& what_if, std::uint32_t rows, std::optional<double> speedup) {
    const bool is_one_change = what_if.settings.size() == 1;
    if (!is_one_change || what_if.settings.front().key != accumulator_setting) return {};
    if (!speedup || *speedup > 1.0 - report::noticeable_change) return {};
    return fmt::format("because {}", why(what_if.settings.front().value.get<std::uint32_t>() > rows));
}

std::string warning(const WhatIf& without, std::uint32_t rows, std::optional<double> speedup) {
    if (!speedup || *speedup < 1.0 + report::noticeable_change) return {};
    const auto unchanged = without.settings.front().value.get<std::uint32_t>();
    return fmt::format(
        "The change to {} accumulators makes the run slower, because {}: {} would run it at {} the speed.",
        report::grouped(rows), why(rows > unchanged), without.change, report::times(speedup));
}

}  // namespace systole::explain
