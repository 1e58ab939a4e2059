#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/run/record/record.h"

namespace systole::report {

/// What became of the batch that the user asked for.
struct Batching {
    std::uint64_t asked = 0;
    run::BatchFacts done;
    std::uint64_t slices = 1;  ///< in which a full batch goes through the network
    /// Why the batch was cut, what that costs, and the better batch, as sentences; empty if it was not cut.
    std::string text;
};

Batching make_batching(std::uint64_t asked, const run::BatchFacts& done);

/// {"asked", "images", "at_a_time", "slices", "limit", "limited_by", "grouped_layers", "group",
/// "images_a_fetch", "fitting_batch", "fitting_images_a_fetch", "text"}.
nlohmann::ordered_json to_json(const Batching& batching);

}  // namespace systole::report
