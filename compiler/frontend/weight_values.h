#pragma once

#include <cstdint>

namespace systole::frontend {

/// Whether a network is read with the values of its weights. Without them it can only be timed (see
/// ir::Graph::has_weights).
enum class WeightValues : std::uint8_t { Read, Skipped };

}  // namespace systole::frontend
