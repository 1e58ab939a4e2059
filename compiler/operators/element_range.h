#pragma once

#include <cstdint>

#include "compiler/operators/operator.h"
#include "compiler/operators/quantizer.h"

namespace systole::operators {

/// The base of operators whose result is a range of the input's elements: moved, but not changed. The result
/// has the input's encoding.
class ElementRangeOperator : public Operator {
public:
    bool moves_elements() const override { return true; }
    void check_types(const ir::NodeView& node) const override;
    void evaluate(const FloatCall& call) const override;
    void quantize(const ir::Node& node, Quantizer& quantizer) const override;
    void execute(const IntegerCall& call) const override;
    bool has_words() const override { return true; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override;

protected:
    /// The first element of the range, in height, width, channel order of an image.
    virtual std::uint64_t first_element(const ir::NodeView& node) const = 0;
};

}  // namespace systole::operators
