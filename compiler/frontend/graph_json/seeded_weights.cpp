#include "compiler/frontend/graph_json/seeded_weights.h"

#include <fmt/format.h>

#include "base/random_values.h"

namespace systole::frontend::graph_json {
namespace {

constexpr std::uint64_t most_values = std::uint64_t{1} << 30U;  ///< 4 GiB in float
/// No weight memory holds more, and numbers of multiply-accumulates stay far from overflow.
constexpr std::uint64_t most_weights = std::uint64_t{1} << 34U;

}  // namespace

std::optional<std::string> SeededWeights::count(const std::vector<std::uint64_t>& shape) {
    const std::uint64_t most = skipped() ? most_weights : most_values;
    std::uint64_t weights = 1;
    for (const std::uint64_t extent : shape) {
        // More than `most` stays more than it.
        if (weights > most || __builtin_mul_overflow(weights, extent, &weights)) weights = most + 1;
    }
    counted_ += weights;
    if (counted_ <= most) return std::nullopt;
    return fmt::format("the network has more than {} weights{}", most,
                       skipped() ? "" : "; a run that computes may have no more");
}

std::vector<float> SeededWeights::draw(std::uint64_t size, double limit, std::uint64_t seed,
                                       const std::string& layer, const std::string& role) const {
    if (skipped()) return {};
    std::vector<float> values(size);
    fill_random(values, static_cast<float>(limit), seed_for(seed, layer + "/" + role));
    return values;
}

}  // namespace systole::frontend::graph_json
