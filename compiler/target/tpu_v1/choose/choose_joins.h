#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/cycle.h"
#include "compiler/target/tpu_v1/network/analysed_network.h"
#include "compiler/target/tpu_v1/network/network.h"
#include "compiler/target/tpu_v1/target.h"
#include "hw/machine/machine_config.h"

namespace systole::tpu_v1 {

/// A way to compute layers that read the same rows.
struct JoinAlternative {
    std::vector<std::uint32_t> groups;  ///< of each layer the number of its group, counted from 0
    std::uint64_t tiles = 0;            ///< weight tiles
    Cycle cycles = 0;                   ///< predicted, of one batch

    bool operator==(const JoinAlternative&) const = default;
};

/// Layers that read the same rows (sibling_layers), and how they could be computed: each by itself first.
struct SiblingAlternatives {
    std::vector<std::uint32_t> layers;
    std::vector<JoinAlternative> alternatives;
    std::size_t chosen = 0;
    /// All its layers repeat those of an earlier set, and go together as they do.
    bool is_repeated = false;

    bool operator==(const SiblingAlternatives&) const = default;
};

/// Whether groups may have blocks of pixels (choose_blocks.h), each the block with which it is fastest.
enum class JoinBlocks : bool { Single, Best };

/// For each set of layers that read the same rows, the ways to compute some of them together. Chosen is the
/// one with the fewest predicted cycles, of equals the first. Of more than five layers, groups are built
/// layer by layer: each joins the group, or begins one, with which all layers up to it take the fewest
/// cycles. Of more than 16, a layer joins only one of the last 8 groups, with which it takes fewer column
/// tiles, so that the time of the comparison grows with the number of layers.
///
/// Results of joined layers live from the first one's step on. If the rows of one image grow by that and a
/// batch then fits the unified buffer no more, all layers stay apart.
std::vector<SiblingAlternatives> compare_joins(const AnalysedNetwork& apart, const Target& target,
                                               const machine::MachineConfig& machine,
                                               const mapping::Batches& batches, JoinBlocks blocks);

/// The chosen groups by layer, for Choices::joins.
std::vector<std::uint32_t> chosen_joins(const std::vector<SiblingAlternatives>& sets,
                                        std::size_t layer_count);

}  // namespace systole::tpu_v1
