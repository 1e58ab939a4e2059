#pragma once

#include <cstdint>
#include <functional>

#include "compiler/ir/constant.h"
#include "compiler/ir/encoding.h"

namespace systole::operators {

/// The entries of a table for stored numbers of this type: one for each byte; of 16-bit numbers one for every
/// 128th number from -32768 on, the last of them beyond the largest number, and readers interpolate.
std::uint32_t table_entries(DataType type);

/// The table of function(real) for every stored number that has an entry, as numbers of the type of `to`.
/// Throws std::logic_error unless both encodings have the same width.
ir::Constant make_table(const std::function<float(float)>& function, const ir::Encoding& from,
                        const ir::Encoding& to);

}  // namespace systole::operators
