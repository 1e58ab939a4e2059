#pragma once

#include <cstdint>
#include <span>

#include "base/data_type.h"

namespace systole {

/// Converts stored numbers to int32 and back. `stored` has as many elements as `numbers`. Narrowing keeps the
/// low bits. Throws std::logic_error for types that are not integers.
void widen(const void* stored, DataType type, std::span<std::int32_t> numbers);
void narrow(std::span<const std::int32_t> numbers, DataType type, void* stored);

}  // namespace systole
