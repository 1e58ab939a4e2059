#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "compiler/ir/layer_kind.h"

namespace systole::operators {

/// The result of an operator with weights on a first input that is a known constant, as a constant. Such an
/// operator takes its first input for one that the network computes, so it cannot be appended.
/// `type`: of the result, or that of the operator's rule.
ir::ValueId append_known_product(ir::LayerReader& layer, std::string_view op,
                                 std::vector<ir::NamedAttribute> attributes,
                                 const std::vector<ir::ValueId>& inputs,
                                 const std::optional<ir::ResultType>& type);

}  // namespace systole::operators
