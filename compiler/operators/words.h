#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/word_operation.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/window.h"
#include "compiler/ir/word_step.h"
#include "compiler/operators/operator.h"

/// What the operators `word_chain`, `word_reduce`, `word_windows`, `word_select_and_scatter`,
/// `matrix_product` and `word_convolution` share: work on words of 32 bits whose every bit is stated, as
/// machines that compute in floats do it (docs/isa.md, "Machines with a tensor core").
namespace systole::operators {

/// Whether graphs in words have values of a type: float32, bfloat16 and int32. Integers without a sign and
/// truth values are int32 there: the operations say what a word is.
bool is_word_type(DataType type);
/// Throws ModelError unless all values of a node have such types.
void check_word_types(const ir::NodeView& node);
/// Throws ModelError unless all values of a node are float32 or bfloat16.
void check_float_words(const ir::NodeView& node);
/// Computes a node by its `evaluate`, which reads and writes words whatever the types of the values are.
void compute_on_words(const Operator& op, const TensorCall& call);
/// Throws std::logic_error if the node reads a constant whose elements are unknown.
void require_known_constants(const ir::NodeView& node);

using ir::most_word_values;
using ir::word_step_of;
using ir::WordStep;

/// The steps of a `word_chain`. Throws ModelError if one is wrong.
std::vector<WordStep> word_steps(const ir::Node& node);
/// The same with the rounding of a bfloat16 result, unless it is one already.
std::vector<WordStep> rounded_word_steps(const ir::NodeView& node);

/// The attribute `reduction` of `word_reduce` and `word_windows`: the name of a systole::Reduction.
ir::AttributeDeclaration word_reduction_attribute();
systole::Reduction word_reduction_of(const ir::Node& node);
/// Throws ModelError unless all values of such a node are numbers of its reduction: int32 for those of
/// integers, else float32 or bfloat16.
void check_reduction_types(const ir::NodeView& node);

/// The windows over an image, and its channels. Throws ModelError unless each has an element inside.
ir::FeatureMap word_window_output(const ir::FeatureMap& input, const ir::Window& window);

// Products of two operands whose sums are float32: `matrix_product` and `word_convolution`.

/// Throws ModelError unless the operands are float32 or bfloat16, and the result is float32.
void check_product_types(const ir::NodeView& node);
/// Appends the node as it is. If its sums have no `sum_tile`, they get the machine's, and its precision
/// unless they have one.
void copy_with_order(const ir::Node& node, WordsBuilder& builder);

}  // namespace systole::operators
