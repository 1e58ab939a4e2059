#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace systole::machine {

/// What the matrix work of a layer waits for when the layer before it ends.
enum class LayerOrder : std::uint8_t {
    Rows,             ///< the rows of the unified buffer that it reads
    Layer,            ///< all activations of the layer before it
    LayerAndWeights,  ///< the same, and its first weights are not fetched before
};
constexpr std::array<std::string_view, 3> names_of(LayerOrder) {
    return {"rows", "layer", "layer_and_weights"};
}

/// How the compiler maps networks to the machine: the choices that it has. They change instructions and
/// cycles, never answers. What it chose for a network is schedule::Choices. The initial values are those of
/// MappingName::AsPublished.
struct Mapping {
    bool join_convolutions = true;  ///< by the rule of parallel_layers.h
    bool join_by_cost = false;      ///< layers that read the same rows, where that is faster (choose_joins.h)
    /// Tiles of a grouped convolution that hold only zeros are left out, as those of a depthwise one always
    /// are.
    bool skip_zero_tiles = false;
    bool parts_by_delay = true;      ///< see AccumulatorParts::parts_behind; otherwise quarters
    bool group_first_layers = true;  ///< see SubBatches; otherwise batches that do not fit go in slices
    bool pixel_blocks = false;       ///< several pixels of a convolution in a row of sums (choose_blocks.h)
    bool split_channels = false;     ///< the last channels of a convolution with blocks of their own
    bool in_place = false;  ///< element-wise work writes into rows of an operand that is not read again
    /// The input and the output of two slices have rows, if there are enough, slices are as large as costs
    /// least (choose_slices.h), and the columns of long vectors leave as soon as they are computed.
    bool double_buffers = false;
    bool pipeline = false;  ///< slices take turns where that is faster (choose_stages.h)
    /// During the work on a slice, the input of the next arrives and the output of the last one leaves, if
    /// the unified buffer has rows for that.
    bool overlap_transfers = true;
    LayerOrder order = LayerOrder::Rows;
    bool cut_images = false;  ///< images that do not fit are cut into strips of lines (fit_memory.h)
    bool compare = false;     ///< a simpler mapping is taken if it takes fewer cycles by simulation
    /// On tensor cores: element-wise work and sums that read the same rows are one step with several results.
    bool join_results = false;
    /// On tensor cores: sums over all cores that need no result of each other go over the links as one
    /// transfer, where that is faster.
    bool combine_sums = true;
    /// On tensor cores: results stay in vector memory for the steps that read them, where there is room.
    bool keep_results = true;

    bool operator==(const Mapping&) const = default;
};

/// Names of mappings: all choices that save cycles; those with which the published cycles are compared; none.
enum class MappingName : std::uint8_t { Best, AsPublished, Plain };
constexpr std::array<std::string_view, 3> names_of(MappingName) {
    return {"best", "as_published", "plain"};
}

/// Without `overlap`, transfers and the work of layers follow each other, whatever the name says; without
/// `cut_images`, an image that does not fit is refused.
constexpr Mapping mapping_named(MappingName name, bool overlap = true, bool cut_images = true) {
    const bool plain = name == MappingName::Plain;
    const bool best = name == MappingName::Best;
    return {.join_convolutions = !plain,
            .join_by_cost = best,
            .skip_zero_tiles = best,
            .parts_by_delay = !plain,
            .group_first_layers = !plain,
            .pixel_blocks = best,
            .split_channels = best,
            .in_place = best,
            .double_buffers = best && overlap,
            .pipeline = best && overlap,
            .overlap_transfers = overlap,
            .order = overlap ? LayerOrder::Rows : LayerOrder::Layer,
            .cut_images = best && cut_images,
            .compare = best,
            .join_results = best,
            .combine_sums = best,
            .keep_results = best};
}

/// Whether the program depends on more of the machine than its sizes: on what work costs.
constexpr bool chooses_by_cost(const Mapping& mapping) {
    return mapping.join_by_cost || mapping.pixel_blocks || mapping.double_buffers || mapping.pipeline ||
           mapping.cut_images || mapping.compare;
}

}  // namespace systole::machine
