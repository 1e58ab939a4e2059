#pragma once

#include <cstdint>
#include <vector>

#include "compiler/operators/layer_formats.h"
#include "compiler/operators/weighted.h"

namespace systole::operators {

/// What the convolutions share: weights that move over an image in windows. Weights have 4 extents, of which
/// the first two are the window's and the last is the output channel; what lies outside the image counts as
/// 0.
class WindowedWeights : public WeightedOperator {
public:
    std::uint64_t macs(const ir::NodeView& node) const override;
    bool pads_with_zeros() const override { return true; }
    void execute(const IntegerCall& call) const override;

protected:
    /// The window's attributes and the clamp.
    static std::vector<ir::AttributeDeclaration> shared_attributes();
    /// The shape of the weights of a node of one data input, whose window has the same sides and whose result
    /// has as many channels as its bias. Throws ModelError.
    static ir::Shape checked_kernel(const ir::NodeView& node);
    /// The result of a node whose kernel is checked.
    static ir::Shape result_shape(const ir::NodeView& node);

    /// sums += what a pixel of the image, `channels` numbers, and the weights of a kernel element add to the
    /// output channels.
    virtual void add_pixel(const std::int32_t* pixel, std::size_t channels, std::int32_t zero_point,
                           const std::int8_t* weights, std::vector<std::int32_t>& sums) const = 0;
    std::uint64_t met_elements(const ir::NodeView& node, std::size_t input) const override;
};

/// The keys of a convolution's layer: those of its window, its own, and those that all have.
std::vector<ir::LayerKey> keras_convolution_keys(std::vector<ir::LayerKey> own);
std::vector<ir::LayerKey> json_convolution_keys(std::vector<ir::LayerKey> own);

/// Appends a convolution, and the function that its layer names.
ir::ValueId append_windowed(ir::LayerReader& layer, std::string_view op,
                            std::vector<ir::NamedAttribute> attributes, const LayerWeights& weights);

}  // namespace systole::operators
