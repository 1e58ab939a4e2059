#include "sim/view/report/main_layers.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace systole::report {

LayerLines main_layers(std::span<const std::uint64_t> cycles, bool all) {
    std::vector<std::size_t> order(cycles.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (all || cycles.size() <= most_listed_layers + 1) return {.listed = std::move(order), .others = {}};
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return cycles[a] > cycles[b]; });
    const auto without_cycles = std::ranges::find_if(order, [&](std::size_t i) { return cycles[i] == 0; });
    const auto cut = std::min(order.begin() + most_listed_layers, without_cycles);
    LayerLines lines{.listed = {order.begin(), cut}, .others = {cut, order.end()}};
    std::ranges::sort(lines.listed);
    std::ranges::sort(lines.others);
    return lines;
}

}  // namespace systole::report
