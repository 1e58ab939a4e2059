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

/// A size that slices could have.
struct SliceAlternative {
    std::uint32_t images = 0;  ///< of a slice, at most
    std::uint64_t slices = 0;  ///< of all inferences
    Cycle cycles = 0;          ///< predicted, of all inferences

    bool operator==(const SliceAlternative&) const = default;
};

/// The sizes of slices that are compared, that of Choices::slice_images 0 first; none if there is no choice.
struct SliceAlternatives {
    std::vector<SliceAlternative> alternatives;
    std::size_t chosen = 0;

    /// For Choices::slice_images: 0 if the first is chosen.
    std::uint32_t slice_images() const { return chosen == 0 ? 0 : alternatives[chosen].images; }
};

/// Compares the fewest slices that the unified buffer demands with fewer, whose first layers then go in
/// groups, and with more. Chosen is the size with the fewest predicted cycles, if that is clearly less.
///
/// Smaller slices begin earlier, and more of their transfers overlap with work; but each slice, and each
/// group, fetches weights again. A slice of r cycles of reading, c of work and w of writing follows another
/// after the longest of the three. Work is that of the matrix unit, as cost.h predicts it, layer
/// after layer. There is no choice with work of the host.
SliceAlternatives compare_slices(const AnalysedNetwork& analysed, const Target& target,
                                 const machine::MachineConfig& machine, const mapping::Batches& batches);

}  // namespace systole::tpu_v1
