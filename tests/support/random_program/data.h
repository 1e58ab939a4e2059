#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/support/random_program/choices.h"

namespace systole::tests {

/// Bytes of a tensor or a weight tile, elements of `element_bytes`: all alike, or of any value, or only the
/// extremes, whose sums wrap around.
std::vector<std::uint8_t> random_bytes(std::size_t count, std::size_t element_bytes, Choices& choices);

}  // namespace systole::tests
