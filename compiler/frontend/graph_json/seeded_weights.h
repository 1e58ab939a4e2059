#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/frontend/weight_values.h"

namespace systole::frontend::graph_json {

/// Generates the weights of a network from a seed, with the same values on every computer.
class SeededWeights {
public:
    SeededWeights(WeightValues values, std::uint64_t seed) : values_(values), seed_(seed) {}

    bool skipped() const { return values_ == WeightValues::Skipped; }
    std::uint64_t seed() const { return seed_; }

    /// Counts the weights of a layer; no extent may be 0. Returns an error text if the network has too many.
    std::optional<std::string> count(const std::vector<std::uint64_t>& shape);

    /// Values between -limit and limit; empty if values are skipped. Each role ("kernel", "bias") of each
    /// layer has different values.
    std::vector<float> draw(std::uint64_t size, double limit, std::uint64_t seed, const std::string& layer,
                            const std::string& role) const;

private:
    WeightValues values_;
    std::uint64_t seed_;
    std::uint64_t counted_ = 0;
};

}  // namespace systole::frontend::graph_json
