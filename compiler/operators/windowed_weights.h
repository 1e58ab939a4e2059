#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "compiler/operators/layer_formats.h"
#include "compiler/operators/weighted.h"

namespace systole::operators {

/// The common part of the convolutions, whose weights move over an image in windows. Weights have 4 extents:
/// the first two are the window's, the last is the output channel. Elements outside the image count as 0.
class WindowedWeights : public WeightedOperator {
public:
    std::uint64_t macs(const ir::NodeView& node) const override;
    bool pads_with_zeros() const override { return true; }
    void execute(const IntegerCall& call) const override;

protected:
    /// The window's attributes and the clamp.
    static std::vector<ir::AttributeDeclaration> shared_attributes();
    /// Checks a node and returns the shape of its weights. Throws ModelError unless it has one data input,
    /// weights of the window's size, and a bias of the right length.
    static ir::Shape checked_kernel(const ir::NodeView& node);
    /// The shape of the result of a node that passed checked_kernel.
    static ir::Shape result_shape(const ir::NodeView& node);

    /// Adds the products of a pixel of the image (`channels` numbers) and the weights of a kernel element to
    /// the sums of the output channels.
    virtual void add_pixel(const ir::Node& node, const std::int32_t* pixel, std::size_t channels,
                           std::int32_t zero_point, const std::int8_t* weights,
                           std::vector<std::int32_t>& sums) const = 0;
    /// Adds `factor` times the sum of the input channels that an output channel depends on to its sum.
    virtual void add_pixel_sums(const ir::Node& node, const std::vector<std::int32_t>& by_channel,
                                std::int32_t factor, std::vector<std::int32_t>& sums) const = 0;
    std::uint64_t met_elements(const ir::NodeView& node, std::size_t input) const override;

private:
    /// Adds the products of the window at a position of the output (row, column).
    void add_window(const ir::NodeView& node, const std::int32_t* pixels,
                    const std::array<std::uint32_t, 2>& position, std::vector<std::int32_t>& sums) const;
};

/// The keys of a convolution's layer: those of its window, its own, and those of all convolutions.
std::vector<ir::LayerKey> keras_convolution_keys(std::vector<ir::LayerKey> own);
std::vector<ir::LayerKey> json_convolution_keys(std::vector<ir::LayerKey> own);

/// Appends a convolution and the function that its layer names, if any.
ir::ValueId append_windowed(ir::LayerReader& layer, std::string_view op,
                            std::vector<ir::NamedAttribute> attributes, const LayerWeights& weights);
/// The same for a Keras layer over sequences.
ir::ValueId append_sequence_windowed(ir::LayerReader& layer, std::string_view op,
                                     std::vector<ir::NamedAttribute> attributes, const LayerWeights& weights);

}  // namespace systole::operators
