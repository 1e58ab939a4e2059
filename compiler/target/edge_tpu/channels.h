#pragma once

#include <cstdint>
#include <optional>

#include "compiler/target/edge_tpu/network.h"

namespace systole::edge_tpu {

/// Whether steps that follow each other, both ends included, can be repeated for some channels of their
/// results at a time: only the first one combines channels, and all that they compute, but the last result,
/// is read by these steps alone.
bool has_channels_to_cut(const Network& network, std::uint32_t first, std::uint32_t last);

/// The network with such steps repeated for so many channels. What lies between them is there for these
/// channels alone. Nothing is computed twice, and no parameter is sent twice.
Network cut_channels(const Network& network, std::uint32_t first, std::uint32_t last, std::uint32_t channels);

}  // namespace systole::edge_tpu
