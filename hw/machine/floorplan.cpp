#include "hw/machine/floorplan.h"

#include <algorithm>
#include <cmath>

namespace systole::machine::floorplan {
namespace {

/// The share of a memory that is cells; its decoders, sense amplifiers and wires are the rest. 24 MiB with
/// error correction (72 bits for 64) in published cells of 28 nm, over the published share of the die.
constexpr double cells_share_of_memory = unified_buffer_bytes * 8.0 * (72.0 / 64.0) * sram_cell_um2 * 1e-6 /
                                         (die_mm2 * unified_buffer_percent / 100.0);

}  // namespace

Estimate between(double nominal, std::initializer_list<double> others) {
    Estimate estimate{nominal, nominal, nominal};
    for (const double other : others) {
        estimate.low = std::min(estimate.low, other);
        estimate.high = std::max(estimate.high, other);
    }
    return estimate;
}

Estimate memory_of_size(double percent, double ratio) {
    const double by_side = cells_share_of_memory * ratio + (1.0 - cells_share_of_memory) * std::sqrt(ratio);
    return between(percent * ratio, {percent * by_side});
}

}  // namespace systole::machine::floorplan
