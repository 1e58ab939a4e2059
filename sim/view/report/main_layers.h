#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace systole::report {

/// The layers of a text: those with a line of their own, and the others, which share one line.
struct LayerLines {
    std::vector<std::size_t> listed;  ///< indices, in the order of the layers
    std::vector<std::size_t> others;  ///< the same; empty, or at least two
};

/// The number of layers that a text lists unless the user wants all.
inline constexpr std::size_t most_listed_layers = 10;

/// Lists the layers with most cycles, and none without cycles. If at most one layer would be left out, or if
/// `all` is set, every layer is listed. `cycles` are those of each layer.
LayerLines main_layers(std::span<const std::uint64_t> cycles, bool all);

}  // namespace systole::report
