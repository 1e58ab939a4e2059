#include "compiler/target/tpu_v1/choose/choose_stages.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/arithmetic.h"
#include "compiler/target/tpu_v1/cost/cost.h"
#include "compiler/target/tpu_v1/cost/layer_costs.h"
#include "compiler/target/tpu_v1/network/tensor_parts.h"
#include "compiler/target/tpu_v1/schedule/schedule.h"

namespace systole::tpu_v1 {
namespace {

/// Fewer cycles than this share of the whole are within the error of the prediction.
constexpr double least_pipeline_gain = 0.01;
/// Networks with more layers take too long to compare.
constexpr std::size_t most_layers = 200;
/// The operations that may be put in order for the comparison: about a tenth of a second.
constexpr std::size_t most_operations = 60'000;
/// Layers with which later stages may begin, unless the network has at most twice as many layers.
constexpr std::size_t most_places = 6;

/// The first layer of the chip, with what the host computes before it, such as the quantization of the input.
std::uint32_t first_layer_of_chip(const Network& network) {
    const auto first = std::ranges::find_if_not(network.layers, runs_on_host);
    return static_cast<std::uint32_t>(first - network.layers.begin());
}

/// The layers with which a second stage may begin: those before which the work has reached a share of all,
/// for evenly spaced shares. Each begins with matrix work.
std::vector<std::uint32_t> places_of_stages(const LayerCosts& costs, const Schedule& schedule) {
    const Network& network = costs.network();
    std::vector<double> work;  // before each layer
    double all = 0;
    for (std::uint32_t l = 0; l < network.layers.size(); ++l) {
        work.push_back(all);
        if (schedule.layers[l].tiling.tiles == 0) continue;
        all += static_cast<double>(
            costs.product_cycles(l, schedule.layers[l], schedule.memory.images_per_slice));
    }
    std::vector<std::uint32_t> places;
    for (std::uint32_t l = first_layer_of_chip(network) + 1; l < network.layers.size(); ++l) {
        const auto share = [&](double of) {
            return static_cast<std::size_t>(of / all * static_cast<double>(most_places + 1));
        };
        if (schedule.layers[l].tiling.tiles == 0 || schedule.layers[l].joined_to) continue;
        const bool few = network.layers.size() <= 2 * most_places;
        if (few || share(work[l]) > share(work[l - 1])) places.push_back(l);
    }
    return places;
}

/// Compares pipelines as long as the comparison has not cost too much.
class Comparison {
public:
    Comparison(const AnalysedNetwork& analysed, const Target& target, const mapping::Batches& batches)
        : analysed_(analysed),
          target_(target),
          batches_(batches),
          first_(first_layer_of_chip(analysed.network())) {}

    /// Tries a pipeline. While the chip works on a slice, the host prepares the next.
    void add(std::vector<std::uint32_t> stages, std::uint32_t images, bool weights_first) {
        if (operations_ > most_operations) return;
        if (first_ > 0) stages.insert(stages.begin(), first_);
        Target staged = target_;
        staged.choices.pipeline = {.stages = std::move(stages), .weights_first = weights_first};
        staged.choices.slice_images = images;
        const std::optional<PipelinePrediction> predicted = predict_pipeline(analysed_, staged, batches_);
        if (!predicted) return;
        operations_ += predicted->operations;
        array_ = std::min(array_, predicted->array);
        compared_.alternatives.push_back(
            {.pipeline = *staged.choices.pipeline, .images = images, .cycles = predicted->cycles});
    }

    /// The alternative with the fewest cycles so far; there must be one.
    std::size_t best() const {
        const auto least = std::ranges::min_element(compared_.alternatives, {}, &StageAlternative::cycles);
        return static_cast<std::size_t>(least - compared_.alternatives.begin());
    }
    bool is_empty() const { return compared_.alternatives.empty(); }
    Cycle fewest() const { return compared_.alternatives[best()].cycles; }
    /// The fewest cycles of array passes and data setup that an alternative has.
    Cycle array() const { return array_; }
    StageAlternatives take() { return std::move(compared_); }

private:
    const AnalysedNetwork& analysed_;
    const Target& target_;
    const mapping::Batches& batches_;
    const std::uint32_t first_;
    Cycle array_ = std::numeric_limits<Cycle>::max();
    std::size_t operations_ = 0;
    StageAlternatives compared_;
};

/// Whether a number of cycles is clearly smaller than another.
bool saves_cycles(Cycle fewer, Cycle than) {
    return static_cast<double>(fewer) < (1.0 - least_pipeline_gain) * static_cast<double>(than);
}

}  // namespace

StageAlternatives compare_stages(const AnalysedNetwork& analysed, const Target& target,
                                 const mapping::Batches& batches) {
    const Network& network = analysed.network();
    if (network.layers.size() > most_layers || batches.inferences < 2) return {};
    if (first_layer_of_chip(network) == network.layers.size()) return {};
    const LayerCosts costs(analysed, target, target.costs->machine);
    if (!costs.supports_all()) return {};
    const Schedule plain = plan_schedule(analysed, target, batches);
    if (plain.memory.groups.layers > 0) return {};
    const auto batch = static_cast<std::uint32_t>(std::min<std::uint64_t>(batches.batch, batches.inferences));
    const std::uint32_t whole = plain.memory.images_per_slice;
    std::vector<std::uint32_t> sizes{whole};
    // The stages hold several slices, for which the whole may leave no rows, or there is one slice alone.
    for (const std::uint32_t pieces : {2U, 4U}) {
        const std::uint32_t images = divide_up(whole, pieces);
        if (images < sizes.back() && divide_up(batch, images) <= 8) sizes.push_back(images);
    }
    Comparison comparison(analysed, target, batches);
    for (const std::uint32_t images : sizes) comparison.add({}, images, false);
    if (comparison.is_empty()) return {};
    const Cycle one_stage = comparison.fewest();
    if (!saves_cycles(comparison.array(), one_stage)) return comparison.take();
    const std::vector<std::uint32_t> places = places_of_stages(costs, plain);
    for (const std::uint32_t images : sizes) {
        for (const bool weights_first : {false, true}) {
            for (const std::uint32_t first : places) comparison.add({first}, images, weights_first);
        }
        for (const bool weights_first : {false, true}) {
            for (auto first = places.begin(); first != places.end(); ++first) {
                for (auto second = first + 1; second != places.end(); ++second) {
                    comparison.add({*first, *second}, images, weights_first);
                }
            }
        }
    }
    const bool pays = saves_cycles(comparison.fewest(), one_stage);
    const std::size_t best = comparison.best();
    StageAlternatives compared = comparison.take();
    if (pays) compared.chosen = best;
    return compared;
}

}  // namespace systole::tpu_v1
