#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "hw/isa/registers.h"
#include "hw/math/requantize.h"

namespace systole::hw {

/// The requantization parameters and the lookup table that the activation unit holds.
class RequantizationParameters {
public:
    /// From the bytes `activate` describes: int32 bias, int32 multiplier, int8 shift of each column.
    void load(const std::uint8_t* bytes, std::size_t columns);
    void load_table(const std::uint8_t* bytes);

    /// With the output range the registers give. Columns beyond those loaded are 0.
    math::Requantization bind(const isa::Registers& registers);
    const std::array<std::uint8_t, 256>& table() const { return table_; }

private:
    std::vector<std::int32_t> bias_;
    std::vector<std::int32_t> multiplier_;
    std::vector<std::int8_t> shift_;
    std::array<std::uint8_t, 256> table_{};
};

}  // namespace systole::hw
