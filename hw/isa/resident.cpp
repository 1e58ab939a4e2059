#include "hw/isa/resident.h"

#include "base/arithmetic.h"
#include "base/limits.h"

namespace systole::isa {

std::uint64_t ResidentTensor::end_row(std::uint64_t lanes) const {
    // Each product fits in 64 bits, but not their sum. A sum above the limit stays above it.
    constexpr std::uint64_t above = hbm_row_limit + 1;
    std::uint64_t end = std::uint64_t{first_row} + 1;
    const auto add = [&](std::uint64_t count, std::uint64_t apart) {
        end = std::min(above, end) + std::min(above, (count - 1) * apart);
    };
    add(inferences, inference_rows);
    add(divide_up(std::uint64_t{columns}, lanes), panel_rows);
    for (const RowAxis& axis : axes) add(axis.extent, axis.apart);
    return end;
}

}  // namespace systole::isa
