// The host's time in comparisons, and the bands of their figures.
#include <fmt/format.h>

#include "sim/view/report/report.h"

namespace systole::report {

std::string host_time_text(const HostTime& host) {
    if (host.in_chip()) {
        const machine::HostPercent& percent = *host.percent;
        return fmt::format("host time is in {}: {:g} % of the chip's time is added, {:g} to {:g} %",
                           host.in_baselines ? "both sides" : "the chip's figures only", percent.typical,
                           percent.least, percent.most);
    }
    return fmt::format("host time is in {}: {}",
                       host.in_baselines ? "the baselines' figures only" : "neither side",
                       host.wanted ? "the machine file has no server.host_percent"
                                   : "the run leaves out that of the chip (host_time is false)");
}

std::string band_text(double value, const std::optional<baselines::Band>& band,
                      std::string (*show)(std::optional<double> value)) {
    return band ? fmt::format("{} to {}", show(value * band->least), show(value * band->most))
                : std::string();
}

}  // namespace systole::report
