#include "compiler/operators/element_range.h"

#include <algorithm>
#include <cstddef>

#include "compiler/operators/integer_types.h"
#include "compiler/operators/words_builder.h"

namespace systole::operators {
namespace {

/// Copies the range of each image of a batch.
template <typename Call>
void copy_ranges(const Call& call, std::uint64_t first) {
    const std::size_t elements = call.node.input().shape.elements();
    const std::size_t count = call.node.output().shape.elements();
    for (std::size_t image = 0; image < call.batch; ++image) {
        std::copy_n(call.inputs[0] + image * elements + first, count, call.output + image * count);
    }
}

}  // namespace

void ElementRangeOperator::check_types(const ir::NodeView& node) const {
    if (!works_on_integers(node)) return;
    require_integers(node);
    require_one_encoding(node);
}

void ElementRangeOperator::evaluate(const FloatCall& call) const {
    copy_ranges(call, first_element(call.node));
}

void ElementRangeOperator::quantize(const ir::Node& node, Quantizer& quantizer) const {
    quantizer.require_one_width(node);
    quantizer.add_like(node, quantizer.stored_encoding(node.inputs.front()));
}

void ElementRangeOperator::to_words(const ir::Node& node, WordsBuilder& builder) const {
    builder.copy(node);
}

void ElementRangeOperator::execute(const IntegerCall& call) const {
    copy_ranges(call, first_element(call.node));
}

}  // namespace systole::operators
