#pragma once

#include <cstddef>
#include <vector>

#include "compiler/ir/shape.h"
#include "compiler/operators/operator.h"

/// Operators that move elements and change none.
namespace systole::operators {

/// The elements of a tensor in another arrangement: element (i, j, ...) is the one at
/// offset + i * strides[0] + j * strides[1] + ... of the tensor. A stride of 0 repeats elements.
struct StridedView {
    std::vector<std::size_t> extents;
    std::vector<std::ptrdiff_t> strides;
    std::ptrdiff_t offset = 0;
};

/// The distance between neighbours along each axis of a packed tensor.
std::vector<std::ptrdiff_t> packed_strides(const ir::Shape& shape);
/// The tensor as it is.
StridedView whole_view(const ir::Shape& shape);
/// The tensor broadcast to a shape by NumPy's rule. Throws ModelError if that is impossible.
StridedView broadcast_view(const ir::Shape& from, const ir::Shape& to);
/// The shape that tensors of both shapes broadcast to. Throws ModelError if there is none.
ir::Shape broadcast_shape(const ir::Shape& a, const ir::Shape& b);

/// Calls visit(offset) with the offset of each row along the last axis of the view, in order. A view without
/// axes is one row.
template <typename Visit>
void for_each_row(const StridedView& view, const Visit& visit) {
    const std::size_t outer = view.extents.empty() ? 0 : view.extents.size() - 1;
    for (const std::size_t extent : view.extents) {
        if (extent == 0) return;
    }
    std::vector<std::size_t> position(outer, 0);
    std::ptrdiff_t offset = view.offset;
    while (true) {
        visit(offset);
        std::size_t axis = outer;
        while (axis-- > 0) {
            offset += view.strides[axis];
            if (++position[axis] < view.extents[axis]) break;
            offset -= view.strides[axis] * static_cast<std::ptrdiff_t>(view.extents[axis]);
            position[axis] = 0;
        }
        if (axis == static_cast<std::size_t>(-1)) return;
    }
}

/// Copies the elements of a view, packed.
void copy_view(const StridedView& given, std::size_t element_bytes, const void* from, void* to);

/// Throws ModelError unless inputs and results have one type, one scale and one zero point.
void require_one_kind(const ir::NodeView& node);

/// Adds a node that moves elements to the quantized graph: on stored numbers if all inputs are stored in the
/// same way, else on float32.
void quantize_moved(const ir::Node& node, Quantizer& quantizer);

/// The base of operators whose result is a view of their only input.
class ViewOperator : public Operator {
public:
    Placement placement() const override;
    bool moves_elements() const override { return true; }
    void check_types(const ir::NodeView& node) const override { require_one_kind(node); }
    void compute(const TensorCall& call) const override;
    void quantize(const ir::Node& node, Quantizer& quantizer) const override {
        quantize_moved(node, quantizer);
    }
    bool has_words() const override { return true; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override;

protected:
    virtual StridedView view_of(const ir::NodeView& node) const = 0;
};

}  // namespace systole::operators
