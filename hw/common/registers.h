#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "hw/common/clock.h"

namespace systole::hw {

/// The registers of the cells of an array of integers at the end of a cycle, row by row.
struct ArrayRegisters {
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::span<const std::int16_t> activations;
    std::span<const std::int16_t> weights;
    std::span<const std::int16_t> shadow_weights;
    /// The result of each cell in this cycle: the sum from above plus its product.
    std::span<const std::int32_t> partial_sums;
};

/// Receives the array's registers after every cycle in which a value moves. Only the engine "pe" has
/// registers to report.
class RegisterSink {
public:
    virtual ~RegisterSink() = default;
    virtual void cycle(Cycle cycle, const ArrayRegisters& registers) = 0;
};

}  // namespace systole::hw
