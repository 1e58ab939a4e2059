#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/layer_kind.h"

namespace systole::operators {

/// Appends the product of two values, each of at least two axes; either may be computed. Without a type, the
/// result has that of the operator's rule. Fails if one has fewer axes.
ir::ValueId append_matrix_product(ir::LayerReader& layer, const std::vector<ir::ValueId>& inputs,
                                  std::vector<ir::NamedAttribute> attributes = {},
                                  std::optional<ir::ResultType> type = {});

}  // namespace systole::operators
