#include "hw/isa/resident.h"

#include "base/arithmetic.h"

namespace systole::isa {

std::uint64_t ResidentTensor::end_row(std::uint64_t lanes) const {
    constexpr std::uint64_t most = std::uint64_t{1} << 32U;
    std::uint64_t end = std::uint64_t{first_row} + 1;
    // Each product fits in 64 bits, but not their sum.
    const auto add = [&](std::uint64_t count, std::uint64_t apart) {
        end = std::min(most, end) + std::min(most, (count - 1) * apart);
    };
    add(inferences, inference_rows);
    add(divide_up(std::uint64_t{columns}, lanes), panel_rows);
    for (const RowAxis& axis : axes) add(axis.extent, axis.apart);
    return end;
}

}  // namespace systole::isa
