#include "compiler/schedule/choose_stages.h"

#include <algorithm>

#include "compiler/mapping/cost.h"
#include "compiler/schedule/mapped_product.h"
#include "compiler/schedule/schedule.h"
#include "compiler/schedule/tensor_parts.h"
#include "hw/base/arithmetic.h"

namespace systole::schedule {
namespace {

/// Fewer cycles than this share of the whole are within the error of the prediction.
constexpr double least_pipeline_gain = 0.01;
/// Networks with more layers take too long to compare; what few layers wait for is small there.
constexpr std::size_t most_layers = 200;
/// Places where the second stage may begin that are compared.
constexpr std::size_t most_places = 6;

/// The layers with which a second stage may begin: those before which the work has reached a share of all,
/// for evenly spaced shares. Each begins with matrix work.
std::vector<std::uint32_t> places_of_stages(const mapping::Network& network, const Schedule& schedule,
                                            const machine::MachineConfig& machine) {
    const std::vector<TensorPart> parts = place_parts(network);
    std::vector<double> work;  // before each layer
    double all = 0;
    for (std::size_t l = 0; l < network.layers.size(); ++l) {
        work.push_back(all);
        if (schedule.layers[l].tiling.tiles == 0) continue;
        const LayerView view{network, network.layers[l], schedule.target};
        const std::uint32_t bytes = pixel_bytes_of(network.tensors[parts[view.layer.output].whole]);
        all += static_cast<double>(mapping::predicted_cycles(
            mapped_product(view, schedule.layers[l], schedule.memory.images_per_slice, bytes), machine));
    }
    std::vector<std::uint32_t> places;
    for (std::uint32_t l = 1; l < network.layers.size(); ++l) {
        const auto share = [&](double of) {
            return static_cast<std::size_t>(of / all * static_cast<double>(most_places + 1));
        };
        if (schedule.layers[l].tiling.tiles == 0 || schedule.layers[l].joined_to) continue;
        const bool few = network.layers.size() <= 2 * most_places;
        if (few || share(work[l]) > share(work[l - 1])) places.push_back(l);
    }
    return places;
}

}  // namespace

StageAlternatives compare_stages(const mapping::Network& network, const Target& target,
                                 const Options& options) {
    StageAlternatives compared;
    if (network.layers.size() > most_layers || options.inferences < 2) return compared;
    if (std::ranges::any_of(network.layers, mapping::runs_on_host)) return compared;
    const Schedule plain = plan_schedule(network, target, options);
    if (plain.memory.groups.layers > 0) return compared;
    const auto add = [&](const std::vector<std::uint32_t>& stages, std::uint32_t images) {
        for (const bool weights_first : {false, true}) {
            if (weights_first && stages.empty()) continue;
            Target staged = target;
            staged.mapping.pipeline = {.stages = stages, .weights_first = weights_first};
            staged.mapping.slice_images = images;
            const std::optional<Cycle> cycles = predict_pipeline(network, staged, options);
            if (!cycles) return;
            compared.alternatives.push_back(
                {.pipeline = *staged.mapping.pipeline, .images = images, .cycles = *cycles});
        }
    };
    const auto batch = static_cast<std::uint32_t>(std::min<std::uint64_t>(options.batch, options.inferences));
    const std::uint32_t whole = plain.memory.images_per_slice;
    std::vector<std::uint32_t> sizes{whole};
    // The stages hold several slices, for which the whole may leave no rows, or there is one slice alone.
    for (const std::uint32_t pieces : {2U, 4U}) {
        const std::uint32_t images = divide_up(whole, pieces);
        if (images < sizes.back() && divide_up(batch, images) <= 8) sizes.push_back(images);
    }
    for (const std::uint32_t images : sizes) add({}, images);
    if (compared.alternatives.empty()) return compared;
    const std::vector<std::uint32_t> places = places_of_stages(network, plain, *target.mapping.machine);
    for (auto first = places.begin(); first != places.end(); ++first) {
        for (const std::uint32_t images : sizes) {
            add({*first}, images);
            for (auto second = first + 1; second != places.end(); ++second) add({*first, *second}, images);
        }
    }
    const auto least = [](auto begin, auto end) {
        return std::min_element(begin, end, [](const auto& a, const auto& b) { return a.cycles < b.cycles; });
    };
    const auto several = std::ranges::find_if(compared.alternatives,
                                              [](const auto& each) { return !each.pipeline.stages.empty(); });
    if (several == compared.alternatives.end()) return compared;
    const auto one = least(compared.alternatives.begin(), several);
    const auto best = least(several, compared.alternatives.end());
    if (static_cast<double>(best->cycles) < (1.0 - least_pipeline_gain) * static_cast<double>(one->cycles)) {
        compared.chosen = static_cast<std::size_t>(best - compared.alternatives.begin());
    }
    return compared;
}

}  // namespace systole::schedule
