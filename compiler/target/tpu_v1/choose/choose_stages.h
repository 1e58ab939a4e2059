#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/cycle.h"
#include "compiler/target/tpu_v1/network/analysed_network.h"
#include "compiler/target/tpu_v1/network/network.h"
#include "compiler/target/tpu_v1/target.h"

namespace systole::tpu_v1 {

/// A pipeline that slices could go through.
struct StageAlternative {
    Pipeline pipeline;
    std::uint32_t images = 0;  ///< of a slice, at most
    Cycle cycles = 0;          ///< predicted, of all inferences
};

/// The pipelines that are compared, first those of one stage, in which a slice follows the other; none if
/// there is no choice.
struct StageAlternatives {
    std::vector<StageAlternative> alternatives;
    /// The pipeline with the fewest predicted cycles, if it has several stages and saves clearly more than
    /// those of one stage.
    std::optional<std::size_t> chosen;
};

/// Compares pipelines of one to three stages for slices of a few sizes, as the list scheduler orders them;
/// what the host computes before the first layer of the chip is a stage more. `target` has costs, and
/// Choices::slice_images as chosen for slices that are not pipelined. There is no choice for a single
/// inference, for slices that take the first layers in groups, for networks of very many layers, and for
/// those that the host computes alone.
StageAlternatives compare_stages(const AnalysedNetwork& analysed, const Target& target,
                                 const mapping::Batches& batches);

}  // namespace systole::tpu_v1
