#include "compiler/target/tpu_v1/choose/choose_mapping.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/ir/model_error.h"
#include "compiler/target/tpu_v1/choose/fit_memory.h"
#include "compiler/target/tpu_v1/network/align_pixels.h"
#include "compiler/target/tpu_v1/network/fold_lines.h"
#include "compiler/target/tpu_v1/network/parallel_layers.h"

namespace systole::tpu_v1 {
namespace {

/// Channels are cut in parts only if that saves this share of all cycles. The second part of a layer begins
/// when the first has ended, so all channels of its first rows are ready later for the next layer, which the
/// prediction of a single layer does not see.
constexpr double least_gain_of_parts = 0.01;

/// Makes the choices one after the other, each with those before it made.
class Chooser {
public:
    Chooser(MappedNetwork& mapped, const mapping::Batches& batches) : mapped_(mapped), batches_(batches) {}

    void choose_joins() {
        const machine::Mapping& mapping = target().mapping;
        if (!mapping.join_by_cost) {
            join(group_parallel_layers(network(), target()));
            return;
        }
        const auto blocks = mapping.pixel_blocks ? JoinBlocks::Best : JoinBlocks::Single;
        compared().joins = compare_joins(analysed(), target(), machine(), batches_, blocks);
        join(chosen_joins(compared().joins, network().layers.size()));
    }

    /// Channels cut in parts take more tiles, which each slice of the batch fetches again; so it is decided
    /// for the whole batch whether channels are cut; of a batch of one image, which waits for weights, none
    /// are. Mapping::split_channels of the target then says the decision.
    void choose_blocks() {
        if (!target().mapping.pixel_blocks) return;
        const bool may_cut = target().mapping.split_channels;
        Blocks cut = best_blocks(may_cut);
        const auto is_cut = [](const ChannelRest& rest) { return rest.first_channel > 0; };
        if (std::ranges::none_of(cut.target.choices.rests, is_cut)) {
            take(std::move(cut));
            return;
        }
        Blocks whole = best_blocks(false);
        const auto with = predicted_total(cut.target);
        const auto without = predicted_total(whole.target);
        const bool pays =
            with && without &&
            static_cast<double>(*with) < (1.0 - least_gain_of_parts) * static_cast<double>(*without);
        compared().channels_stay_whole = !pays;
        take(std::move(pays ? cut : whole));
    }

    void cut_images() {
        if (!target().mapping.cut_images) return;
        FittedNetwork fitted = fit_memory(analysed(), target(), machine());
        analysed() = std::move(fitted.analysed);
        target() = std::move(fitted.target);
        mapped_.cut_images = std::move(fitted.fit);
    }

    void choose_slices() {
        if (!target().mapping.double_buffers) return;
        compared().slices = compare_slices(analysed(), target(), machine(), batches_);
        target().choices.slice_images = compared().slices.slice_images();
    }

    void choose_stages() {
        if (!target().mapping.pipeline) return;
        compared().stages = compare_stages(analysed(), target(), batches_);
        if (!compared().stages.chosen) return;
        const StageAlternative& chosen = compared().stages.alternatives[*compared().stages.chosen];
        target().choices.pipeline = chosen.pipeline;
        target().choices.slice_images = chosen.images;
    }

private:
    /// The blocks of pixels that cost least; the joins are settled.
    struct Blocks {
        Target target;
        std::vector<LayerAlternatives> layers;
    };

    AnalysedNetwork& analysed() { return mapped_.analysed; }
    const Network& network() const { return mapped_.analysed.network(); }
    Target& target() { return mapped_.target; }
    Comparisons& compared() { return mapped_.compared; }
    const machine::MachineConfig& machine() const { return mapped_.target.costs->machine; }

    void join(std::vector<std::uint32_t> joins) {
        analysed().join(joins);
        target().choices.joins = std::move(joins);
    }

    Blocks best_blocks(bool may_cut_channels) {
        Blocks blocks{.target = target(), .layers = {}};
        blocks.target.mapping.split_channels = may_cut_channels;
        blocks.layers = compare_blocks(analysed(), blocks.target, machine(), batches_);
        set_chosen_blocks(blocks.layers, network().layers.size(), blocks.target.choices);
        return blocks;
    }

    void take(Blocks&& blocks) {
        target() = std::move(blocks.target);
        compared().blocks = std::move(blocks.layers);
    }

    /// The predicted cycles of all inferences; absent if there are none.
    std::optional<Cycle> predicted_total(const Target& of) {
        try {
            const auto slices = compare_slices(analysed(), of, machine(), batches_);
            if (slices.alternatives.empty()) return std::nullopt;
            return slices.alternatives[slices.chosen].cycles;
        } catch (const ModelError&) {
            return std::nullopt;  // an image does not fit, and may be cut
        }
    }

    MappedNetwork& mapped_;
    const mapping::Batches& batches_;
};

}  // namespace

MappedNetwork choose_mapping(Network network, Target target, const mapping::Batches& batches) {
    Network folded = align_pixels(fold_long_lines(std::move(network), target), target);
    AnalysedNetwork analysed(std::move(folded), target.geometry.rows);
    MappedNetwork mapped{
        .analysed = std::move(analysed), .target = std::move(target), .cut_images = {}, .compared = {}};
    for (const Layer& layer : mapped.analysed.network().layers) mapped.compared.layers.push_back(layer.name);
    Chooser chooser(mapped, batches);
    chooser.choose_joins();
    chooser.choose_blocks();
    chooser.cut_images();
    if (mapped.cut_images) return mapped;  // its layers stand in the order of their strips
    chooser.choose_slices();
    chooser.choose_stages();
    return mapped;
}

}  // namespace systole::tpu_v1
