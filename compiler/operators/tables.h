#pragma once

#include <functional>

#include "compiler/ir/encoding.h"
#include "compiler/mapping/network.h"

namespace systole::operators {

/// The table of function(real) for every stored byte, from one encoding of bytes to another.
mapping::ByteTable tabulate(const std::function<float(float)>& function, const ir::Encoding& from,
                            const ir::Encoding& to);

/// The same for the stored numbers 128 * i - 32768 and encodings of 16 bits.
mapping::WideTable tabulate_wide(const std::function<float(float)>& function, const ir::Encoding& from,
                                 const ir::Encoding& to);

/// The table for the encodings' width, which must be the same for both.
mapping::Table make_table(const std::function<float(float)>& function, const ir::Encoding& from,
                          const ir::Encoding& to);

}  // namespace systole::operators
