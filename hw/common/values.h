#pragma once

#include <cstdint>

namespace systole::hw {

/// Whether a run computes the network's values or only its cycles.
enum class Values : std::uint8_t { Computed, TimingOnly };

}  // namespace systole::hw
