#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/support/random_program/choices.h"

namespace systole::tests {

/// Bytes of a tensor or a weight tile with elements of `element_bytes` bytes: all equal, or random, or only
/// extremes, whose sums wrap around.
std::vector<std::uint8_t> random_bytes(std::size_t count, std::size_t element_bytes, Choices& choices);

}  // namespace systole::tests
