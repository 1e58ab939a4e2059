#pragma once

#include <cstdint>
#include <vector>

#include "compiler/operators/tap_phases.h"

/// Windows over an image with zeros between its pixels, without these zeros.
namespace systole::tensor_core {

/// The outputs of a phase as windows over the pixels alone.
struct PhaseWindows {
    std::vector<std::uint32_t> taps;
    std::vector<std::uint32_t> outputs;
    std::uint32_t skipped = 0;  ///< pixels before the one at which the first window may begin
    std::uint32_t pad = 0;
    std::uint32_t stride = 1;
    std::uint32_t dilation = 1;
};
std::vector<PhaseWindows> phase_windows(const operators::SpreadWindows& windows);

}  // namespace systole::tensor_core
