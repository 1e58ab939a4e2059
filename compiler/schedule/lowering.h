#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "compiler/mapping/network.h"
#include "compiler/schedule/accumulator_parts.h"
#include "compiler/schedule/chunking.h"
#include "compiler/schedule/layer_plan.h"
#include "compiler/schedule/memory_plan.h"
#include "compiler/schedule/operation.h"
#include "compiler/schedule/target.h"

namespace systole::schedule {

/// A layer and the tensors it works on.
struct LayerView {
    const mapping::Network& network;
    const mapping::Layer& layer;
    const Target& target;

    const mapping::Tensor& input(std::size_t index = 0) const { return network.tensors[layer.inputs[index]]; }
    const mapping::Tensor& output() const { return network.tensors[layer.output]; }

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

// One overload of each for a kind of work, in the file lower_<kind>.cpp.

/// Checks the layer against target and network, and fills in kind and tiling.
void plan(const mapping::MatrixProduct& product, const LayerView& view, LayerPlan& plan);
void plan(const mapping::Pooling& pooling, const LayerView& view, LayerPlan& plan);
void plan(const mapping::Elementwise& work, const LayerView& view, LayerPlan& plan);
void plan(const mapping::Concatenation& concatenation, const LayerView& view, LayerPlan& plan);
void plan(const mapping::Slice& slice, const LayerView& view, LayerPlan& plan);

/// Appends the operations that compute the layer for the images of a pass.
void lower(const mapping::MatrixProduct& product, PassContext& context);
void lower(const mapping::Pooling& pooling, PassContext& context);
void lower(const mapping::Elementwise& work, PassContext& context);
void lower(const mapping::Concatenation& concatenation, PassContext& context);
void lower(const mapping::Slice& slice, PassContext& context);

// What several kinds of work share.

/// Throws std::logic_error unless the window has a size and the layer's output is as large as windows fit
/// the padded input.
void check_window(const LayerView& view, const ir::Window& window);

/// Whether every window has a pixel inside the image.
bool windows_meet_image(const LayerView& view, const ir::Window& window);

/// Whether instructions take the layer's rows image by image: images of an operand or the result have more
/// rows than are worked on, or rows end within an element. Otherwise all rows follow each other.
bool works_by_image(const LayerView& view, const MemoryPlan& memory);

}  // namespace systole::schedule
