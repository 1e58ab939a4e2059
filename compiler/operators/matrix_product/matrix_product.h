#pragma once

#include <optional>
#include <vector>

#include "base/fixed_point.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/layer_kind.h"

namespace systole::operators {

/// Appends the product of two values, each of at least two axes; either may be computed. Without a type, the
/// result has that of the operator's rule. Fails if one has fewer axes.
ir::ValueId append_matrix_product(ir::LayerReader& layer, const std::vector<ir::ValueId>& inputs,
                                  std::vector<ir::NamedAttribute> attributes = {},
                                  std::optional<ir::ResultType> type = {});

/// Whether a node multiplies computed matrices pair by pair, those of the last two of three or four axes, and
/// takes the first ones as they are.
bool multiplies_pairs(const ir::NodeView& node);

/// By what sums of a node on integers are multiplied, whose rounding is no float_half_even.
FixedPoint product_multiplier(const ir::NodeView& node);

}  // namespace systole::operators
