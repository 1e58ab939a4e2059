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

namespace {

constexpr double tensor_core_mm2 = 625.0 / 2.0;
constexpr double tensor_core_nm = 16.0;
constexpr double sram_cell_of_16_nm_um2 = 0.07;

}  // namespace

DieAnchor tpu_v1_die() {
    return {.mm2 = die_mm2, .process_nm = process_nm, .io_percent = 1.0, .unnamed_percent = 21.0};
}

double tensor_memory_percent() {
    const double mm2 = die_mm2 * unified_buffer_percent / 100.0 * tensor_memory_bytes / unified_buffer_bytes;
    return 100.0 * mm2 * sram_cell_of_16_nm_um2 / sram_cell_um2 / tensor_core_mm2;
}

DieAnchor tensor_core_die() {
    constexpr double links = 13.0;
    return {.mm2 = tensor_core_mm2,
            .process_nm = tensor_core_nm,
            .io_percent = links,
            .unnamed_percent = 100.0 - links - tensor_array_percent - tensor_memory_percent(),
            .note =
                "io: links between chips. other: vector unit, cross-lane unit, scalar unit, ports of "
                "memories and host, whose areas are not published"};
}

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
