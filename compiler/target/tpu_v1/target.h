#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/wrapped_sum.h"
#include "compiler/mapping/options.h"
#include "compiler/target/tpu_v1/network/pixel_block.h"
#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"
#include "hw/machine/mapping.h"

namespace systole::tpu_v1 {

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
    mapping::HostCosts host = {};
};

/// The last channels of a convolution, computed by themselves with blocks of their own.
struct ChannelRest {
    std::uint32_t first_channel = 0;  ///< 0: there is no rest
    PixelBlock block = {};

    bool operator==(const ChannelRest&) const = default;
};

/// What was chosen for a network; the mapping says what may be.
struct Choices {
    /// By layer: the layer with which it is computed (choose_joins.h). Empty: by the rule of
    /// parallel_layers.h.
    std::vector<std::uint32_t> joins = {};
    std::uint32_t slice_images = 0;  ///< in a slice, at most; 0: those that memory_plan.h chooses
    /// By layer: the output pixels that a row of accumulators holds side by side (choose_blocks.h). Empty:
    /// one pixel in every layer. Joined layers have the block of the layer that they are joined to; the rule
    /// joins no layers with larger blocks.
    std::vector<PixelBlock> blocks = {};
    /// By layer: the channels that have other blocks than the first ones (choose_blocks.h). Empty: none.
    /// Joined layers have none.
    std::vector<ChannelRest> rests = {};
    /// Slices are pipelined (choose_stages.h). Absent: the work of a slice follows that of the one before,
    /// layer after layer.
    std::optional<Pipeline> pipeline = {};

    bool operator==(const Choices&) const = default;
};

/// The most lines of an output: instructions count them in 16 bits.
inline constexpr std::uint32_t most_lines = std::numeric_limits<std::uint16_t>::max();

/// The block of a layer's output pixels.
inline PixelBlock block_of(const Choices& choices, std::size_t layer) {
    return layer < choices.blocks.size() ? choices.blocks[layer] : PixelBlock{};
}

inline ChannelRest rest_of(const Choices& choices, std::size_t layer) {
    return layer < choices.rests.size() ? choices.rests[layer] : ChannelRest{};
}

/// The properties of the machine on which programs depend, and how networks are mapped to it. The caller sets
/// the properties from a valid machine configuration. All numbers except the delay are at least 1.
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
    machine::Mapping mapping = {};
    Choices choices = {};
    /// By which alternatives are compared, and steps of pipelined slices put in order. Null unless the
    /// mapping chooses by cost: programs then depend on no other property of the machine.
    std::shared_ptr<const Costs> costs = {};

    bool operator==(const Target&) const = default;
};

/// The target for a valid machine; no choices are made.
Target target_of(const machine::MachineConfig& machine, const machine::Mapping& mapping,
                 const mapping::HostCosts& host = {});

/// All of the machine on which the program of a network depends, besides the mapping and the host.
std::string key_of(const Target& target);

}  // namespace systole::tpu_v1
