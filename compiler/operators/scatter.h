#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compiler/operators/axis_lines.h"
#include "compiler/operators/operator.h"

namespace systole::operators {

/// The base of operators that write updates at computed places of a tensor. Inputs: the tensor, the indices,
/// and the updates. The attribute `reduction` says what becomes of an update and of what is there; of several
/// updates of a place, later ones come behind earlier ones.
class ScatterOperator : public Operator {
public:
    const std::vector<ir::AttributeDeclaration>& attributes() const override;
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override;
    DataType result_type(const ir::NodeView& node) const override { return node.input(0).type; }
    bool takes_words() const override { return true; }
    bool has_words() const override { return true; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override;
    Placement placement() const override;
    void check_types(const ir::NodeView& node) const override;
    void compute(const TensorCall& call) const override;

protected:
    /// `own`: the declarations of further attributes.
    explicit ScatterOperator(std::vector<ir::AttributeDeclaration> own);

    /// Throws ModelError unless the shapes of the inputs fit each other.
    virtual void check_shapes(const ir::NodeView& node) const = 0;
    /// How many neighbouring elements an update has.
    virtual std::size_t slice(const ir::NodeView& node) const = 0;
    /// The places that the updates of one inference are written to, in slices. Throws ModelError if one is
    /// outside.
    virtual std::vector<std::size_t> places(const ir::NodeView& node,
                                            std::span<const std::int32_t> indices) const = 0;

    /// The updates in words, as they lie beside the lines of the tensor.
    struct UpdateWords {
        AxisLines lines;          ///< of the tensor
        ir::ValueId places = 0;   ///< along the lines, checked: [1][outer or 1][count][1][inner or 1]
        ir::ValueId updates = 0;  ///< [1][outer][count][1][inner]
    };
    virtual UpdateWords update_words(const ir::Node& node, WordsBuilder& builder) const = 0;

private:
    std::vector<ir::AttributeDeclaration> attributes_;
};

/// The keys of ONNX nodes for `reduction`, and the attribute that they give.
ir::LayerKey onnx_scatter_key();
ir::NamedAttribute onnx_scatter_reduction(const ir::LayerReader& layer);
/// Adds to what is there.
ir::NamedAttribute scatter_add();

}  // namespace systole::operators
