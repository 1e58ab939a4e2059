#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace systole::machine {

/// How the batch of a network goes through the chip, as the compiler planned it.
struct BatchFacts {
    std::uint64_t images = 0;     ///< of a full batch: that asked for, or all inferences if they are fewer
    std::uint64_t at_a_time = 0;  ///< images that go through the network together, at most
    std::uint64_t that_fit = 0;   ///< images that the unified buffer holds at a time
    std::uint64_t grouped_layers = 0;  ///< the first layers, which take these images in groups; 0: none
    std::uint64_t group = 0;           ///< images of a group, at most; 0: no groups
    /// Rows for which a layer with several tiles a column fetches its weights: half of the accumulators.
    std::uint64_t rows_a_fetch = 0;
    double images_a_fetch = 0.0;  ///< images for which a weight tile is fetched, mean; 0 without weights
    /// Of a batch that was cut because it does not fit: a batch that fits, and its images a fetch; otherwise
    /// 0.
    std::uint64_t fitting_batch = 0;
    double fitting_images_a_fetch = 0.0;
    /// A batch whose weights are fetched for fewer than this times the images of another is no better.
    static constexpr double noticeable = 1.01;
    bool operator==(const BatchFacts&) const = default;
};

/// How images that do not fit the unified buffer go through the chip.
struct CutImages {
    std::uint64_t cut_layers = 0;      ///< that are computed in strips of lines
    std::uint64_t strips = 0;          ///< of these layers together
    std::int64_t extra_macs = 0;       ///< of an inference, for lines of several strips, less those of none
    std::vector<std::string> spilled;  ///< tensors that go through host memory for lack of rows
    std::uint64_t spilled_bytes = 0;   ///< of an inference: theirs, sent and fetched again
    bool operator==(const CutImages&) const = default;
};

}  // namespace systole::machine
