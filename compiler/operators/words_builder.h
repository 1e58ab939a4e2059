#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/ir/window.h"
#include "compiler/ir/words_options.h"
#include "compiler/operators/word_expression.h"
#include "compiler/operators/words.h"

namespace systole::operators {

using ir::WordsOptions;

/// As many as a chain of a program has sources (docs/isa.md, `.source`).
inline constexpr std::size_t most_chain_inputs = 4;

using ir::WordFormula;

/// Builds the graph of primitives whose attributes state every bit: each node of a float graph adds those
/// that compute it, by the rule of its operator (Operator::to_words). Values keep ir::Value::before of those
/// of the float graph whose numbers they have.
class WordsBuilder {
public:
    WordsBuilder(const ir::Graph& graph, WordsOptions options);

    const ir::Graph& graph() const { return graph_; }
    ir::NodeView view(const ir::Node& node) const { return {graph_, node}; }
    const WordsOptions& options() const { return options_; }
    /// Throws ModelError with the node's layer.
    [[noreturn]] static void fail(const ir::Node& node, const std::string& rule);

    /// Adds the nodes of a node of the float graph.
    void add(const ir::Node& node);
    ir::Graph finish() &&;

    // For rules of operators. Values are those of the graph being built, unless they are of the float graph.

    /// What has the numbers of a value of the float graph; constants of floats are settled.
    ir::ValueId words_of(ir::ValueId id);
    /// The same for an input of a node of the float graph.
    ir::ValueId input_of(const ir::Node& node, std::size_t index = 0) { return words_of(node.inputs[index]); }
    const ir::Value& value(ir::ValueId id) const { return result_.values[id]; }
    const ir::Shape& shape_of(ir::ValueId id) const { return value(id).shape; }

    /// Appends a node of the current layer; returns its first result.
    ir::ValueId append(std::string_view op, std::vector<ir::NamedAttribute> attributes,
                       std::vector<ir::ValueId> inputs, std::optional<std::uint32_t> stated_data = {},
                       std::vector<ir::ResultType> types = {});
    /// Adds a constant of float32; with `unknown`, its elements are not known.
    ir::ValueId constant(std::string_view role, const ir::Shape& shape, std::vector<float> elements);
    ir::ValueId unknown_constant(std::string_view role, const ir::Shape& shape);
    /// Adds a constant of int32.
    ir::ValueId integers(std::string_view role, const ir::Shape& shape, std::vector<std::int32_t> elements);

    /// A `word_chain`. Inputs that are a known number become constants of it; at most `most_chain_inputs`
    /// others. The result has the type of the first input.
    ir::ValueId chain(const std::vector<ir::ValueId>& inputs, const WordFormula& formula);
    /// The same with a result of another type, which has the words of the formula.
    ir::ValueId chain_as(DataType type, const std::vector<ir::ValueId>& inputs, const WordFormula& formula);
    /// A `word_reduce`; axes keep an extent of 1.
    ir::ValueId reduce(systole::Reduction reduction, ir::ValueId input, const std::vector<std::size_t>& axes,
                       bool keep = true);
    /// The quotient of sums and a number of addends.
    ir::ValueId divide(ir::ValueId sums, std::uint64_t count);
    /// A `word_windows` of an image, or a `word_reduce` where the image is one window.
    ir::ValueId windows(systole::Reduction reduction, ir::ValueId input, const ir::Window& window);
    /// Reshapes; the value itself if it has the shape.
    ir::ValueId reshape(ir::ValueId input, const ir::Shape& shape);
    /// The elements with these places along an axis.
    ir::ValueId take(ir::ValueId input, std::size_t axis, const std::vector<std::int64_t>& places);
    /// The elements [first, first + count) along each axis; the value itself if that is all.
    ir::ValueId slice(ir::ValueId input, const std::vector<std::int64_t>& first,
                      const std::vector<std::int64_t>& count);

    /// Lets a value have the numbers of a value of the float graph, with its name.
    void set(ir::ValueId id, ir::ValueId words);
    /// Appends the node as it is but for the attributes in `changed`.
    void copy(const ir::Node& node, const std::vector<ir::NamedAttribute>& changed = {});

private:
    ir::FormulaChain formula_chain(const std::vector<ir::ValueId>& inputs, const WordFormula& formula) const;

    const ir::Graph& graph_;
    WordsOptions options_;
    ir::Graph result_;
    const ir::Node* node_ = nullptr;                 ///< the one that is being added
    std::vector<std::optional<ir::ValueId>> words_;  ///< by value of the float graph
    std::vector<bool> is_named_;                     ///< by value: whether `set` has named it
};

/// Numbers less their mean along some axes, and the mean of the squares of that.
struct CenteredWords {
    ir::ValueId differences;
    ir::ValueId variance;  ///< axes have an extent of 1
};
CenteredWords centered_words(WordsBuilder& builder, ir::ValueId input, const std::vector<std::size_t>& axes);
/// The mean of the squares of numbers along some axes, which get an extent of 1.
ir::ValueId mean_square_words(WordsBuilder& builder, ir::ValueId input, const std::vector<std::size_t>& axes);

}  // namespace systole::operators
