#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hw/isa/multipliers.h"
#include "hw/math/interpolated_table.h"
#include "hw/math/lookup_table.h"

namespace systole::functional {

/// The parameters that the activation unit keeps from the last `load` of `activate`, for every array column.
struct ActivationParameters {
    explicit ActivationParameters(std::size_t array_columns)
        : bias(array_columns),
          multiplier(array_columns),
          shift(array_columns),
          real_multiplier(array_columns) {}

    /// Reads the parameters of the first `columns` columns from their bytes in the unified buffer; the
    /// parameters of the other columns become 0.
    void load(std::span<const std::uint8_t> bytes, std::size_t columns, isa::Multipliers multipliers);

    std::vector<std::int32_t> bias;
    std::vector<std::int32_t> multiplier;
    std::vector<std::int8_t> shift;
    std::vector<double> real_multiplier;
    math::LookupTable table{};
    math::InterpolatedTable interpolated_table{};
};

/// The little-endian 32-bit number that `bytes` begins with.
std::int32_t little_endian_word(std::span<const std::uint8_t> bytes);

/// The table that `bytes` begins with.
math::LookupTable table_of(std::span<const std::uint8_t> bytes);

}  // namespace systole::functional
