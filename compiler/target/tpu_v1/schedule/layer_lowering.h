#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "compiler/target/tpu_v1/network/accumulator_parts.h"
#include "compiler/target/tpu_v1/network/analysed_network.h"
#include "compiler/target/tpu_v1/network/chunking.h"
#include "compiler/target/tpu_v1/network/host_parts.h"
#include "compiler/target/tpu_v1/network/network.h"
#include "compiler/target/tpu_v1/schedule/layer_plan.h"
#include "compiler/target/tpu_v1/schedule/memory_plan.h"
#include "compiler/target/tpu_v1/schedule/operation.h"
#include "compiler/target/tpu_v1/target.h"

namespace systole::tpu_v1 {

/// Throws std::logic_error with the layer's name unless `holds`: earlier stages must not build such a layer.
void require(bool holds, const Network& network, const Layer& layer, std::string_view rule);

/// A layer and the tensors it works on.
struct LayerView {
    const Network& network;
    const Layer& layer;
    const Target& target;

    const Tensor& input(std::size_t index = 0) const { return network.tensors[layer.inputs[index]]; }
    const Tensor& output() const { return network.tensors[layer.output]; }

    void require(bool holds, std::string_view rule) const;
    /// Throws ModelError with the names of network and layer: the chip cannot compute the layer.
    [[noreturn]] void reject(std::string_view message) const;
};

/// Lowers one layer for images of one batch slice.
struct LayerLowering {
    LayerView view;
    const LayerPlan& plan;
    std::uint32_t layer = 0;       ///< its number
    std::uint32_t image_rows = 1;  ///< unified-buffer rows of an image of the output
    const MemoryPlan& memory;
    const std::vector<mapping::TensorUse>& uses;  ///< by tensor
    std::uint64_t first_inference = 0;
    std::uint32_t first_image = 0;  ///< the place of that inference in the unified buffer
    std::uint32_t images = 0;
    std::optional<std::uint32_t> output_part;  ///< of MemoryPlan::outputs, whose columns leave when computed
    AccumulatorParts& accumulators;
    std::vector<Operation>& operations;

    /// Chunks of the output of at most `limit` pixels (see cut_lines). Images are named by their places.
    std::vector<Chunk> chunks(std::uint32_t limit) const;
};

// plan() and lower() have an overload for each kind of work, in the file lower_<kind>.cpp.

/// Checks the layer against target and network and sets kind and tiling of the plan.
void plan(const MatrixProduct& product, const LayerView& view, LayerPlan& plan);
void plan(const Pooling& pooling, const LayerView& view, LayerPlan& plan);
void plan(const Elementwise& work, const LayerView& view, LayerPlan& plan);
void plan(const Concatenation& concatenation, const LayerView& view, LayerPlan& plan);
void plan(const Slice& slice, const LayerView& view, LayerPlan& plan);
void plan(const HostSegment& segment, const LayerView& view, LayerPlan& plan);
void plan(const Fetch& fetch, const LayerView& view, LayerPlan& plan);
void plan(const Send& send, const LayerView& view, LayerPlan& plan);

/// Throws ModelError if a slice that the host does not transfer begins inside a row.
void check_slices(const AnalysedNetwork& analysed, const Target& target);

/// Appends the operations that compute the layer for the images of the context.
void lower(const MatrixProduct& product, LayerLowering& context);
void lower(const Pooling& pooling, LayerLowering& context);
void lower(const Elementwise& work, LayerLowering& context);
void lower(const Concatenation& concatenation, LayerLowering& context);
void lower(const Slice& slice, LayerLowering& context);
void lower(const HostSegment& segment, LayerLowering& context);
void lower(const Fetch& fetch, LayerLowering& context);
void lower(const Send& send, LayerLowering& context);

// Functions that several kinds of work share.

/// The column tiles of a part of a plan; the numbers of its weight tiles are those of the whole.
Tiling columns_of(const LayerPlan& plan, const PlanPart& part);

/// Throws std::logic_error unless the window has a size and the output has one pixel for each position of
/// the window on the padded input; that of a strip may have fewer lines.
void check_window(const LayerView& view, const ir::Window& window);

/// Whether every window has a pixel inside the image.
bool windows_meet_image(const LayerView& view, const ir::Window& window);

/// Whether each instruction covers rows of one image only: images of an operand or of the result have more
/// rows than the layer uses, or a row ends inside an element. Otherwise the rows of all images are
/// contiguous.
bool works_by_image(const LayerView& view, const MemoryPlan& memory);

}  // namespace systole::tpu_v1
