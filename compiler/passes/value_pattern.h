#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/ir/border_values.h"
#include "compiler/ir/graph.h"

/// Patterns of how nodes of a float graph compute a value, for passes that replace groups of nodes.
namespace systole::passes {

/// A tree of operators, whose leaves are named values and numbers. A name stands for the same value, or for
/// equal constants, wherever it occurs in a pattern. The functions below make patterns.
struct Pattern {
    enum class Kind : std::uint8_t { Activation, Constant, AnyNumber, Number, Node, Product, Inverse, AnyOf };

    Kind kind = Kind::Activation;
    std::string_view name = {};  ///< of the value, or of the operator
    double number = 0.0;
    std::vector<Pattern> parts = {};
};

/// Any value that is no constant.
Pattern activation(std::string_view name);
/// Any constant.
Pattern constant(std::string_view name);
/// Any known constant of one element.
Pattern any_number(std::string_view name);
/// A known constant of one element that is this number, but for rounding to float32.
Pattern constant_number(double value);
/// The result of an operator. Operands of a commutative operator may have either order.
Pattern result_of(std::string_view op, std::vector<Pattern> operands);
/// The product of all factors, which the nodes multiply in any order and grouping. A node may divide by a
/// number, or by what an `inverse` divides by, instead of multiplying by the inverse.
Pattern product(std::vector<Pattern> factors);
/// 1 / divisor.
Pattern inverse(Pattern divisor);
Pattern any_of(std::vector<Pattern> alternatives);

/// What a pattern has met in a graph.
struct Match {
    std::map<std::string_view, ir::ValueId> values;  ///< by name
    std::set<ir::NodeId> nodes;
    /// The axes of all reductions, which keep them, and of softmax; ascending. Absent: there is none of
    /// these.
    std::optional<std::vector<std::size_t>> axes;

    bool operator==(const Match&) const = default;
};

/// Finds patterns in a graph. All their values are float32. The pass may change a node whose result has
/// matched, if it goes through the graph from the last node to the first: the matcher looks at earlier nodes.
class PatternMatcher {
public:
    explicit PatternMatcher(const ir::Graph& graph);

    /// The ways in which the result of a node matches. Nothing but the nodes of a match reads the values
    /// between its leaves and its result, and none of them is an output of the network.
    std::vector<Match> matches(const Pattern& pattern, ir::NodeId node) const;

private:
    using Matches = std::vector<Match>;
    using Factors = std::vector<const Pattern*>;

    // Each function extends a match, in each way in which the value fits the pattern.
    Matches with_pattern(const Pattern& pattern, ir::ValueId value, const Match& match) const;
    Matches with_operands(const Pattern& pattern, ir::ValueId value, const Match& match) const;
    Matches with_product(const Factors& factors, ir::ValueId value, const Match& match) const;
    Matches with_inverse(const Pattern& divisor, ir::ValueId value, const Match& match) const;
    /// The value is what a factor of a product divides by.
    Matches with_divisor(const Pattern& factor, ir::ValueId value, const Match& match) const;
    Matches with_name(const Pattern& pattern, ir::ValueId id, Match match) const;
    /// With a node; nullopt if it does not belong to the others.
    std::optional<Match> with_node(Match match, ir::NodeId id) const;

    const ir::Node* maker(ir::ValueId value) const;
    bool is_number(ir::ValueId value, double wanted) const;
    bool is_closed(const Match& match, ir::NodeId result) const;

    const ir::Graph& graph_;
    const ir::BorderValues border_;
    const std::vector<std::optional<ir::NodeId>> producers_;
    const std::vector<std::vector<ir::NodeId>> readers_;
};

}  // namespace systole::passes
