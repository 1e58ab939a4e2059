#pragma once

#include <cstdint>

#include "compiler/ir/window.h"
#include "compiler/operators/operator.h"

namespace systole::operators {

enum class PoolKind : std::uint8_t { Max, Average };

/// The maximum or the average of each window, by channel. Elements outside the image do not count. Each
/// padding is smaller than the kernel, so that no window lies outside the image.
class Pool : public Operator {
public:
    const std::vector<ir::AttributeDeclaration>& attributes() const override;
    std::vector<ir::LayerKind> layer_kinds() const override;
    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        return kept_batch(node, has_batch);
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override;
    LeadingOnes leading_ones(const ir::NodeView& /*node*/) const override { return LeadingOnes::Ignored; }
    bool is_identity(const ir::NodeView& node) const override;
    bool moves_elements() const override { return true; }
    Placement placement() const override;
    void check_types(const ir::NodeView& node) const override;
    void evaluate(const FloatCall& call) const override;
    void quantize(const ir::Node& node, Quantizer& quantizer) const override;
    void execute(const IntegerCall& call) const override;
    bool has_words() const override { return true; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override;

protected:
    /// The Keras class without its "2D".
    Pool(PoolKind kind, const char* keras_class) : kind_(kind), keras_class_(keras_class) {}

private:
    PoolKind kind_;
    const char* keras_class_;
};

/// The shape of the result of pooling an image. Throws ModelError unless each padding is smaller than the
/// kernel.
ir::Shape pooled_shape(const ir::NodeView& node);

// For pooling and for borders, which pooling computes: 8-bit numbers that keep their encoding.

Placement pooling_placement();
void check_pooled_types(const ir::NodeView& node);
void quantize_pooled(const ir::Node& node, Quantizer& quantizer);

}  // namespace systole::operators
