#include "sim/run/record/feeding.h"

#include <fmt/format.h>

#include "hw/machine/config_error.h"

namespace systole::run {

void Feeding::validate(const std::string& place) const {
    if (gap_ms > 0.0 && loop_steps == 0) {
        throw machine::ConfigError(fmt::format(
            "{}: feeding.gap_ms is {}; it needs the steps of a loop, feeding.loop_steps", place, gap_ms));
    }
    if (examples > 0 && example_us == 0.0) {
        throw machine::ConfigError(fmt::format(
            "{}: feeding.examples is {}; it needs the time of one, feeding.example_us", place, examples));
    }
}

}  // namespace systole::run
