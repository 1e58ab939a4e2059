#include "compiler/target/tensor_core/phase_windows.h"

#include <utility>

namespace systole::tensor_core {
namespace {

PhaseWindows without_zeros(const operators::SpreadWindows& windows, operators::TapPhase phase) {
    PhaseWindows made{.taps = std::move(phase.taps), .outputs = std::move(phase.outputs)};
    if (made.taps.empty()) return made;
    // At least 1: what one output or one tap would be away does not matter.
    const auto pixels_apart = [&](const std::vector<std::uint32_t>& numbers, std::uint32_t step) {
        if (numbers.size() < 2) return std::uint32_t{1};
        return static_cast<std::uint32_t>(std::uint64_t{numbers[1] - numbers[0]} * step / windows.spread);
    };
    made.stride = pixels_apart(made.outputs, windows.stride);
    made.dilation = pixels_apart(made.taps, windows.dilation);
    const std::int64_t first = windows.place_of(made.outputs.front(), made.taps.front()) / windows.spread;
    if (first <= 0) {
        made.pad = static_cast<std::uint32_t>(-first);
    } else if (first < std::int64_t{windows.pixels}) {
        made.skipped = static_cast<std::uint32_t>(first);
    } else {
        // All windows are outside, as if they were before the image.
        made.pad = static_cast<std::uint32_t>((made.outputs.size() - 1) * made.stride +
                                              (made.taps.size() - 1) * made.dilation + 1);
    }
    return made;
}

}  // namespace

std::vector<PhaseWindows> phase_windows(const operators::SpreadWindows& windows) {
    std::vector<PhaseWindows> made;
    for (operators::TapPhase& phase : operators::phases_of(windows))
        made.push_back(without_zeros(windows, std::move(phase)));
    return made;
}

}  // namespace systole::tensor_core
