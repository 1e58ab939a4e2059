#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ir/layer_kind.h"
#include "compiler/ir/window.h"

/// Reading of layers of network files that operators share.
namespace systole::operators {

/// What the page of operators says of a Keras layer's data_format; the reader puts the transpositions there.
inline constexpr const char* keras_data_format =
    "\"channels_last\"; with \"channels_first\", the layer is between transpositions";

/// The keys of layers with windows.
std::vector<ir::LayerKey> keras_window_keys(const char* kernel_key);
std::vector<ir::LayerKey> json_window_keys();

/// The windows of a Keras layer with this kernel, stride and dilation, by `padding`.
ir::Window keras_window(const ir::LayerReader& layer, const std::array<std::uint32_t, 2>& kernel,
                        const std::array<std::uint32_t, 2>& stride,
                        const std::array<std::uint32_t, 2>& dilation = {1, 1});
/// The shape of weights that meet the last axis of a value alone, as those of Keras' Dense: of a vector, or
/// of a 1x1 kernel over an image.
ir::Shape last_axis_weights(const ir::LayerReader& layer, ir::ValueId value, std::uint32_t units);
/// The product of the last axis of the first input and such weights, behind which there may be a bias. The
/// other axes stay. `activation` is the key of a function of the result; null: there is none.
ir::ValueId append_last_axis_product(ir::LayerReader& layer, const std::vector<ir::ValueId>& inputs,
                                     const char* activation = nullptr);

// Keras' layers over sequences, which are maps of height 1.

/// n, or [n].
std::uint32_t keras_length(const ir::LayerReader& layer, const char* key,
                           std::optional<std::uint32_t> absent = std::nullopt);
/// The windows, by `padding`, which may also be "causal": as many elements as before, all to the left.
ir::Window keras_sequence_window(const ir::LayerReader& layer, std::uint32_t kernel, std::uint32_t stride,
                                 std::uint32_t dilation = 1);
/// Throws unless the layer's input is a sequence.
void require_sequence(const ir::LayerReader& layer);
/// A map of height 1 as a sequence: [1, length, channels].
ir::ValueId as_sequence(ir::LayerReader& layer, ir::ValueId map);

/// scale * x + offset, by channel of the value; appended as a batch normalization.
ir::ValueId append_affine(ir::LayerReader& layer, ir::ValueId value, std::vector<float> scale,
                          std::vector<float> offset);

/// The windows of a layer of a graph file, by `kernel`, `stride` and `padding`. An absent `stride` is the
/// default, or the kernel without a default.
ir::Window json_window(const ir::LayerReader& layer,
                       const std::optional<std::array<std::uint32_t, 2>>& default_stride,
                       const std::array<std::uint32_t, 2>& dilation = {1, 1});

/// [top, left, bottom, right], each at least 0.
std::array<std::uint32_t, 4> json_sides(const ir::LayerReader& layer, const char* key);
/// [n] or [height, width, channels], each at least 1.
ir::Shape json_shape(const ir::LayerReader& layer, const char* key);

/// The limit of drawn weights with which sums over `fan_in` inputs are about as large as the inputs: sqrt(3 /
/// fan_in) for uniform weights, or sqrt(6 / fan_in) before a ReLU, which halves the mean square (He et al.
/// 2015).
double drawn_limit(const ir::LayerReader& layer, double fan_in);

/// The weights of a layer; the bias is absent if `bias_key` is false in the file.
struct LayerWeights {
    ir::WeightRequest kernel;
    std::uint64_t channels = 0;  ///< of the result
    const char* bias_key = nullptr;
};
/// The layer's inputs, followed by its weights and its bias, if any.
std::vector<ir::ValueId> with_weights(ir::LayerReader& layer, std::vector<ir::ValueId> inputs,
                                      const LayerWeights& weights);

}  // namespace systole::operators
