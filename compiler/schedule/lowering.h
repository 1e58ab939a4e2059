#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "compiler/graph/quantized_network.h"
#include "compiler/schedule/accumulator_parts.h"
#include "compiler/schedule/chunking.h"
#include "compiler/schedule/layer_plan.h"
#include "compiler/schedule/memory_plan.h"
#include "compiler/schedule/operation.h"
#include "compiler/schedule/target.h"

namespace systole::schedule {

/// A layer and the tensors it works on.
struct LayerView {
    const quantized::Network& network;
    const quantized::Layer& layer;
    const Target& target;

    const quantized::Tensor& input(std::size_t index = 0) const {
        return network.tensors[layer.inputs[index]];
    }
    const quantized::Tensor& output() const { return network.tensors[layer.output]; }

    /// Throws std::logic_error naming the layer: the passes before must not make such a network.
    void require(bool holds, std::string_view rule) const;
    /// Throws ModelError naming network and layer: what the chip cannot do.
    [[noreturn]] void reject(std::string_view message) const;
};

/// The layer's work for images of one pass, and where it is appended.
struct PassContext {
    LayerView view;
    const LayerPlan& plan;
    std::uint32_t layer = 0;       ///< its number
    std::uint32_t image_rows = 1;  ///< unified-buffer rows of an image of the output
    const MemoryPlan& memory;
    std::uint32_t first_image = 0;  ///< of the pass
    std::uint32_t images = 0;
    AccumulatorParts& accumulators;
    std::vector<Operation>& operations;

    /// Chunks of the output of at most `limit` pixels (see cut_lines), images counted in the pass.
    std::vector<Chunk> chunks(std::uint32_t limit) const;
};

// One overload of each an operation, in the file lower_<operation>.cpp.

/// Checks the layer against target and network, and fills in kind and tiling.
void plan(const quantized::Convolution& convolution, const LayerView& view, LayerPlan& plan);
void plan(const quantized::DepthwiseConvolution& convolution, const LayerView& view, LayerPlan& plan);
void plan(const quantized::Dense& dense, const LayerView& view, LayerPlan& plan);
void plan(const quantized::Pool& pool, const LayerView& view, LayerPlan& plan);
void plan(const quantized::Add& add, const LayerView& view, LayerPlan& plan);
void plan(const quantized::Multiply& multiply, const LayerView& view, LayerPlan& plan);
void plan(const quantized::Lookup& lookup, const LayerView& view, LayerPlan& plan);
void plan(const quantized::Concat& concat, const LayerView& view, LayerPlan& plan);
void plan(const quantized::Slice& slice, const LayerView& view, LayerPlan& plan);

/// Appends the operations that compute the layer for the images of a pass.
void lower(const quantized::Convolution& convolution, PassContext& context);
void lower(const quantized::DepthwiseConvolution& convolution, PassContext& context);
void lower(const quantized::Dense& dense, PassContext& context);
void lower(const quantized::Pool& pool, PassContext& context);
void lower(const quantized::Add& add, PassContext& context);
void lower(const quantized::Multiply& multiply, PassContext& context);
void lower(const quantized::Lookup& lookup, PassContext& context);
void lower(const quantized::Concat& concat, PassContext& context);
void lower(const quantized::Slice& slice, PassContext& context);

}  // namespace systole::schedule
