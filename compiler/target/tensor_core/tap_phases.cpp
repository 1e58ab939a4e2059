#include "compiler/target/tensor_core/tap_phases.h"

namespace systole::tensor_core {
namespace {

std::uint32_t distance(const std::vector<std::uint32_t>& numbers) {
    return numbers.size() < 2 ? 0 : numbers[1] - numbers[0];
}

}  // namespace

std::vector<TapPhase> phases_of(const SpreadWindows& windows) {
    const std::int64_t spread = windows.spread;
    // The place of a tap, where pixels are `spread` apart.
    const auto place_of = [&](std::uint32_t output, std::uint32_t tap) {
        return static_cast<std::int64_t>(std::uint64_t{output} * windows.stride) +
               static_cast<std::int64_t>(std::uint64_t{tap} * windows.dilation) - std::int64_t{windows.pad};
    };
    std::vector<TapPhase> phases(windows.spread);
    for (std::uint32_t output = 0; output < windows.outputs; ++output) {
        const std::int64_t rest = (place_of(output, 0) % spread + spread) % spread;
        phases[static_cast<std::size_t>(rest)].outputs.push_back(output);
    }
    std::erase_if(phases, [](const TapPhase& phase) { return phase.outputs.empty(); });
    for (TapPhase& phase : phases) {
        const std::uint32_t output = phase.outputs.front();
        for (std::uint32_t tap = 0; tap < windows.kernel; ++tap) {
            if (place_of(output, tap) % spread == 0) phase.taps.push_back(tap);
        }
        if (phase.taps.empty()) continue;
        // At least 1: what one output or one tap would be away does not matter.
        const auto in_pixels = [&](std::uint32_t places) {
            return places == 0 ? 1 : static_cast<std::uint32_t>(places / windows.spread);
        };
        phase.stride = in_pixels(distance(phase.outputs) * windows.stride);
        phase.dilation = in_pixels(distance(phase.taps) * windows.dilation);
        const std::int64_t first = place_of(output, phase.taps.front()) / spread;
        if (first <= 0) {
            phase.pad = static_cast<std::uint32_t>(-first);
        } else if (first < std::int64_t{windows.pixels}) {
            phase.skipped = static_cast<std::uint32_t>(first);
        } else {
            // All windows are outside, as if they were before the image.
            phase.pad = static_cast<std::uint32_t>((phase.outputs.size() - 1) * phase.stride +
                                                   (phase.taps.size() - 1) * phase.dilation + 1);
        }
    }
    return phases;
}

}  // namespace systole::tensor_core
