#pragma once

#include <cstdint>
#include <optional>

#include "base/data_type.h"

namespace systole::operators {

/// The type in the graph for a code of TensorProto.DataType; nullopt if there is none. As everywhere, 64-bit
/// integers are int32, and truth values uint8.
std::optional<DataType> onnx_type(std::int64_t code);

}  // namespace systole::operators
