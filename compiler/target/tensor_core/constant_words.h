#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/value.h"

namespace systole::tensor_core {

/// The elements of a constant of float32, bfloat16 or int32 as words; none if they are unknown.
std::vector<std::uint32_t> words_of(const ir::Value& constant);

}  // namespace systole::tensor_core
