#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/ir/layer_kind.h"
#include "compiler/ir/window.h"

/// What operators share in reading layers of network files.
namespace systole::operators {

/// Keys of layers that move a window, besides that of the kernel.
std::vector<ir::LayerKey> keras_window_keys(const char* kernel_key);
std::vector<ir::LayerKey> json_window_keys();

/// The windows of a Keras layer with this kernel: `strides`, where `stride` is the default, and `padding`.
ir::Window keras_window(const ir::LayerReader& layer, const std::array<std::uint32_t, 2>& kernel,
                        const std::array<std::uint32_t, 2>& stride);
/// The windows of a layer of a graph file: `kernel`, `stride` (absent: the default, or the kernel),
/// `padding`.
ir::Window json_window(const ir::LayerReader& layer,
                       const std::optional<std::array<std::uint32_t, 2>>& default_stride);

/// [top, left, bottom, right], each at least 0.
std::array<std::uint32_t, 4> json_sides(const ir::LayerReader& layer, const char* key);
/// [n] or [height, width, channels], each at least 1.
ir::Shape json_shape(const ir::LayerReader& layer, const char* key);

/// Convolutions in Keras may be of kinds that are not supported.
void require_plain_convolution(const ir::LayerReader& layer);

/// Drawn weights lie between minus and plus this, so that sums over `fan_in` inputs are as large as the
/// inputs are: uniform within sqrt(3 / fan_in), or sqrt(6 / fan_in) before a ReLU, which halves the mean
/// square (He et al. 2015).
double drawn_limit(const ir::LayerReader& layer, double fan_in);

/// The layer's inputs, then its weights and, unless the key says no, its bias.
struct LayerWeights {
    ir::WeightRequest kernel;
    std::uint64_t channels = 0;  ///< of the result
    const char* bias_key = nullptr;
};
std::vector<ir::ValueId> with_weights(ir::LayerReader& layer, std::vector<ir::ValueId> inputs,
                                      const LayerWeights& weights);

}  // namespace systole::operators
