#include "compiler/operators/tap_phases.h"

#include <map>
#include <utility>

namespace systole::operators {

std::vector<TapPhase> phases_of(const SpreadWindows& windows) {
    const std::int64_t spread = windows.spread;
    // By what lies between the first tap and the pixel before it.
    std::map<std::int64_t, std::vector<std::uint32_t>> outputs;
    for (std::uint32_t output = 0; output < windows.outputs; ++output) {
        const std::int64_t rest = windows.place_of(output, 0) % spread;
        outputs[rest < 0 ? rest + spread : rest].push_back(output);
    }
    // By what lies between the first tap and a pixel before it if the tap falls on a pixel.
    std::map<std::int64_t, std::vector<std::uint32_t>> taps;
    for (std::uint32_t tap = 0; tap < windows.kernel; ++tap) {
        const std::int64_t rest = std::int64_t{tap} * windows.dilation % spread;
        taps[rest == 0 ? 0 : spread - rest].push_back(tap);
    }
    std::vector<TapPhase> phases;
    phases.reserve(outputs.size());
    for (auto& [rest, list] : outputs) phases.push_back({.taps = taps[rest], .outputs = std::move(list)});
    return phases;
}

}  // namespace systole::operators
