#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/data_type.h"
#include "hw/isa/multipliers.h"
#include "hw/isa/registers.h"
#include "hw/math/interpolated_table.h"
#include "hw/math/lookup_table.h"
#include "hw/math/requantize.h"

namespace systole::hw {

/// The requantization parameters and the lookup tables that the activation unit holds: a table for 8-bit and
/// one for 16-bit elements.
class RequantizationParameters {
public:
    /// Loads the arrays that `activate` describes: int32 bias, and int32 multiplier and int8 shift or float64
    /// multiplier of each column.
    void load(const std::uint8_t* bytes, std::size_t columns, isa::Multipliers multipliers);
    void load_table(std::span<const std::uint8_t> bytes, DataType elements);

    /// The parameters with the output range of the registers. The values of columns that were not loaded are
    /// 0.
    math::Requantization bind(const isa::Registers& registers, isa::Multipliers multipliers);
    const math::LookupTable& table() const { return table_; }
    const math::InterpolatedTable& interpolated_table() const { return interpolated_table_; }

private:
    std::vector<std::int32_t> bias_;
    std::vector<std::int32_t> multiplier_;
    std::vector<std::int8_t> shift_;
    std::vector<double> real_multiplier_;
    math::LookupTable table_{};
    math::InterpolatedTable interpolated_table_{};
};

}  // namespace systole::hw
