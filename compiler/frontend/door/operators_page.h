#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"

namespace systole::frontend {

/// A family of machines: what runs nodes of an operator there.
struct PlacesColumn {
    std::string_view name;
    std::string_view (*place_of)(const ir::Operator& op) = nullptr;
};

/// The text of docs/operators.md: every operator, what runs it on each family, its attributes and its names
/// in each file format.
std::string operators_page(const std::vector<PlacesColumn>& columns);

}  // namespace systole::frontend
