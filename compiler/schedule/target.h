#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "compiler/mapping/pixel_block.h"
#include "hw/base/wrapped_sum.h"
#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"

namespace systole::schedule {

/// What the matrix work of a layer waits for when the layer before it ends.
enum class LayerOrder : std::uint8_t {
    Rows,             ///< the rows of the unified buffer that it reads
    Layer,            ///< all activations of the layer before it
    LayerAndWeights,  ///< the same, and its first weights are not fetched before
};

/// How slices go through the network side by side (stages.h, list_scheduler.h).
struct Pipeline {
    std::vector<std::uint32_t> stages;  ///< the first layers of the stages behind the first
    /// Steps that wait for weights come before others that could begin as early.
    bool weights_first = false;

    bool operator==(const Pipeline&) const = default;
};

/// What work takes, on the chip and on the host.
struct Costs {
    machine::MachineConfig machine;
    double host_seconds_per_operation = 0;  ///< the host takes the longer of the two
    double host_seconds_per_byte = 0;
    double host_seconds_per_layer = 0;  ///< in addition, each time that it computes a segment
};

/// The last channels of a convolution, computed by themselves with blocks of their own.
struct ChannelRest {
    std::uint32_t first_channel = 0;  ///< 0: there is no rest
    mapping::PixelBlock block = {};

    bool operator==(const ChannelRest&) const = default;
};

/// Choices of the compiler. They change instructions and cycles, never answers.
struct Mapping {
    bool join_convolutions = true;  ///< by the rule of parallel_layers.h
    /// By layer: the layer with which it is computed (choose_joins.h). Empty: by the rule.
    std::vector<std::uint32_t> joins = {};
    /// Tiles of a grouped convolution that hold only zeros are left out, as those of a depthwise one always
    /// are.
    bool skip_zero_tiles = true;
    bool split_channels = false;     ///< choose_blocks also compares ways to cut channels in two parts
    bool parts_by_delay = true;      ///< see AccumulatorParts::parts_behind; otherwise quarters
    bool group_first_layers = true;  ///< see SubBatches; otherwise batches that do not fit go in slices
    LayerOrder order = LayerOrder::Rows;
    /// During the work on a slice, the input of the next arrives and the output of the last one leaves, if
    /// the unified buffer has rows for that.
    bool overlap_transfers = true;
    /// The result of element-wise work takes the rows of an operand that is not read again.
    bool in_place = false;
    /// The input and the output of two slices have rows, if there are enough, and the columns of long vectors
    /// leave as soon as they are computed.
    bool double_buffers = false;
    std::uint32_t slice_images = 0;  ///< in a slice, at most; 0: those that memory_plan.h chooses
    /// By layer: the output pixels that a row of accumulators holds side by side (choose_blocks). Empty: one
    /// pixel in every layer. Joined layers have the block of the layer that they are joined to; the rule
    /// joins no layers with larger blocks.
    std::vector<mapping::PixelBlock> blocks = {};
    /// By layer: the channels that have other blocks than the first ones (choose_blocks). Empty: none. Joined
    /// layers have none.
    std::vector<ChannelRest> rests = {};
    /// Slices are pipelined (choose_stages.h). Then `costs` is set. Absent: the work of a slice follows
    /// that of the one before, layer after layer.
    std::optional<Pipeline> pipeline = {};
    /// By which the steps of pipelined slices are put in order.
    std::shared_ptr<const Costs> costs = {};

    bool operator==(const Mapping&) const = default;
};

/// The most lines of an output: instructions count them in 16 bits.
inline constexpr std::uint32_t most_lines = std::numeric_limits<std::uint16_t>::max();

/// The block of a layer's output pixels.
inline mapping::PixelBlock block_of(const Mapping& mapping, std::size_t layer) {
    return layer < mapping.blocks.size() ? mapping.blocks[layer] : mapping::PixelBlock{};
}

inline ChannelRest rest_of(const Mapping& mapping, std::size_t layer) {
    return layer < mapping.rests.size() ? mapping.rests[layer] : ChannelRest{};
}

/// The properties of the machine that the compiler needs, and how it maps networks to it. The caller sets the
/// properties from a valid machine configuration. All numbers except the delay are at least 1.
struct Target {
    isa::Geometry geometry;
    std::uint32_t accumulator_rows = 4096;      ///< of `geometry.columns` sums
    std::uint32_t unified_buffer_rows = 98304;  ///< of `geometry.rows` bytes
    std::uint64_t weight_memory_bytes = 1ULL << 33;
    bool spill_weights = false;  ///< weights beyond that stay in host memory; otherwise they are refused
    bool row_sums = true;        ///< the array can subtract a zero point from its weights
    std::uint32_t sum_bits = most_sum_bits;  ///< of an accumulator
    /// Cycles from a row's entry into the array until its activations are in the unified buffer, without any
    /// stalls.
    std::uint64_t activation_delay = 0;
    Mapping mapping = {};

    bool operator==(const Target&) const = default;
};

/// The work of the program. Both numbers are at least 1.
struct Options {
    std::uint32_t batch = 1;       ///< images that go through the network together
    std::uint64_t inferences = 1;  ///< images in all; the last batch may have fewer

    bool operator==(const Options&) const = default;
};

}  // namespace systole::schedule
