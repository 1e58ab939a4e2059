#pragma once

#include <string_view>

#include "compiler/operators/operator.h"

namespace systole::operators {

/// The base of arg_max and arg_min: the index of the extreme element of each line along an axis.
class ArgExtreme : public Operator {
public:
    const std::vector<ir::AttributeDeclaration>& attributes() const override;
    std::vector<ir::LayerKind> layer_kinds() const override;
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override;
    DataType result_type(const ir::NodeView& /*node*/) const override { return DataType::Int32; }
    std::optional<std::vector<ir::Attribute>> on_one_image(const ir::NodeView& node,
                                                           const std::vector<bool>& has_batch) const override;
    void check_types(const ir::NodeView& node) const override;
    Placement placement() const override;
    std::optional<PermutedNode> permuted(const ir::NodeView& node,
                                         std::span<const std::uint32_t> axes) const override;
    void quantize(const ir::Node& node, Quantizer& quantizer) const override;
    bool takes_words() const override { return true; }
    bool has_words() const override { return true; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override;
    void compute(const TensorCall& call) const override;

protected:
    ArgExtreme(bool largest, const char* onnx_name, const char* tflite_name)
        : largest_(largest), onnx_name_(onnx_name), tflite_name_(tflite_name) {}

private:
    bool largest_;
    const char* onnx_name_;
    const char* tflite_name_;
};

}  // namespace systole::operators
