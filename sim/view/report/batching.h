#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "sim/run/record/record.h"

namespace systole::report {

/// What became of the batch that the user asked for.
struct Batching {
    std::uint64_t asked = 0;
    machine::BatchFacts done;
    std::uint64_t slices = 1;  ///< in which a full batch goes through the network
    /// Why the batch was cut, what that costs, and the better batch, as sentences; empty if it was not cut.
    std::string text;
};

/// How images that do not fit the unified buffer go through the chip.
std::string cut_images_text(const machine::CutImages& cut);
nlohmann::ordered_json to_json(const machine::CutImages& cut);

Batching make_batching(std::uint64_t asked, const machine::BatchFacts& done);

/// "in batches of 5,000, 2,500 at a time"; "compiled for batches of 5,000" for a program, which does not say
/// how many images go through the network together. `batching` is the one of a report, or null.
std::string batches_text(const nlohmann::ordered_json& batching, std::uint64_t batch,
                         std::uint64_t inferences);

/// {"asked", "images", "at_a_time", "slices", "limit", "limited_by", "grouped_layers", "group",
/// "images_a_fetch", "fitting_batch", "fitting_images_a_fetch", "text"}.
nlohmann::ordered_json to_json(const Batching& batching);

}  // namespace systole::report
