#include "hw/activation_unit/parameters.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace systole::hw {

static_assert(std::endian::native == std::endian::little, "parameters are read as they lie in memory");

void RequantizationParameters::load(const std::uint8_t* bytes, std::size_t columns,
                                    isa::Multipliers multipliers) {
    bias_.resize(columns);
    std::memcpy(bias_.data(), bytes, columns * sizeof(std::int32_t));
    bytes += columns * sizeof(std::int32_t);
    if (isa::are_real(multipliers)) {
        real_multiplier_.resize(columns);
        std::memcpy(real_multiplier_.data(), bytes, columns * sizeof(double));
        return;
    }
    multiplier_.resize(columns);
    shift_.resize(columns);
    std::memcpy(multiplier_.data(), bytes, columns * sizeof(std::int32_t));
    bytes += columns * sizeof(std::int32_t);
    std::memcpy(shift_.data(), bytes, columns);
}

void RequantizationParameters::load_table(std::span<const std::uint8_t> bytes, DataType elements) {
    if (bytes_of(elements) == 2) {
        interpolated_table_ = math::read_interpolated_table(bytes);
    } else {
        std::copy_n(bytes.begin(), table_.size(), table_.begin());
    }
}

math::Requantization RequantizationParameters::bind(const isa::Registers& registers,
                                                    isa::Multipliers multipliers) {
    const std::size_t columns = registers[isa::Register::ActivationColumns];
    const auto at_least = [columns](auto& values) {
        if (values.size() < columns) values.resize(columns);
    };
    at_least(bias_);
    at_least(multiplier_);
    at_least(shift_);
    at_least(real_multiplier_);
    const bool is_real = isa::are_real(multipliers);
    return {
        .bias = bias_,
        .multiplier = multiplier_,
        .shift = shift_,
        .zero_point = registers.as_signed(isa::Register::OutputZeroPoint),
        .minimum = registers.as_signed(isa::Register::OutputMinimum),
        .maximum = registers.as_signed(isa::Register::OutputMaximum),
        .real_multiplier = is_real ? std::span<const double>(real_multiplier_) : std::span<const double>(),
        .half_to_even = isa::round_to_even(multipliers)};
}

}  // namespace systole::hw
