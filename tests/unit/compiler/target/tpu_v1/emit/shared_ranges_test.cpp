// A wide part of a concatenation takes nothing from tensors that others read too, and no instruction depends
// on how wide it is.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "compiler/passes/drop_weights.h"
#include "compiler/passes/prepare.h"
#include "compiler/reference/executor.h"
#include "compiler/target/tpu_v1/emit/emit_program.h"
#include "compiler/target/tpu_v1/lowering/lowering.h"
#include "tests/support/bare_program.h"
#include "tests/support/graphs.h"
#include "tests/support/quantized_outputs.h"
#include "tests/support/random_runs.h"

using namespace systole;
using tests::Graph;
using tests::NodeId;

namespace {

constexpr std::uint32_t images = 6;

/// What of a drawn network is made.
enum class Made { Whole, WithoutWide, WideOnly, KeptOnly };

/// Draws a network in which a concatenation with a wide part and other nodes read one tensor. The same seed
/// draws the same parts, whichever of them are made. All that nobody reads are outputs; in the whole network,
/// those behind the concatenation are the last.
class SharedTensorNetwork {
public:
    SharedTensorNetwork(std::uint32_t seed, Made made)
        : parts_(seed), made_(made), graph_({parts_.number(2, 7), parts_.number(2, 7), parts_.number(1, 4)}) {
        const NodeId kept = convolution(0);
        const NodeId wide = drawn_wide();
        if (made == Made::WideOnly || made == Made::KeptOnly) {
            graph_.get().outputs = {graph_.value(made == Made::WideOnly ? wide : kept)};
            return;
        }
        NodeId part = kept;
        switch (parts_.number(0, 3)) {
            case 0:
                part = append(tests::max_pool(around()), {kept});
                read(part, parts_.number(0, 3));
                break;
            case 1:
                // As in DenseNet: a result of a concatenation is read, and concatenated again.
                part = append(tests::op("concat"), {kept, convolution(0)});
                read(part, parts_.number(0, 3));
                break;
            default:
                break;
        }
        const std::uint32_t others = parts_.number(1, 3);
        for (std::uint32_t i = 0; i < others; ++i) read(kept, parts_.number(0, 6));
        if (made == Made::Whole) {
            std::vector<NodeId> joined{part, wide};
            if (parts_.number(0, 1) == 0) std::ranges::reverse(joined);
            outputs_.push_back(append(tests::op("concat"), joined));
        }
        graph_.get().outputs.clear();
        for (const NodeId output : outputs_) graph_.get().outputs.push_back(graph_.value(output));
    }

    const ir::Graph& graph() const { return graph_; }
    /// How much larger the weights of the wide part are.
    float factor() const { return factor_; }

private:
    static ir::Window around() {
        return {.kernel_height = 3,
                .kernel_width = 3,
                .pad_top = 1,
                .pad_left = 1,
                .pad_bottom = 1,
                .pad_right = 1};
    }
    NodeId append(const tests::Op& made, const std::vector<NodeId>& from) {
        return graph_.append("n" + std::to_string(graph_.size()), made, from);
    }
    NodeId convolution(NodeId from) {
        const ir::FeatureMap shape = graph_.shape(from);
        tests::Op drawn =
            parts_.convolution(shape, parts_.number(0, 1) == 0 ? ir::Window{} : around(), channels, true);
        return append(drawn, {from});
    }
    /// With weights that are up to a thousand times larger.
    NodeId drawn_wide() {
        tests::Op drawn = parts_.convolution(graph_.shape(0), {}, channels, true);
        factor_ = std::pow(10.0F, 3.0F * parts_.values(1, 0.0F, 1.0F).front());
        for (float& weight : drawn.weights) weight *= factor_;
        return made_ == Made::WithoutWide || made_ == Made::KeptOnly ? 0 : append(drawn, {0});
    }
    /// Lets another node read a tensor.
    void read(NodeId from, std::uint32_t kind) {
        switch (kind) {
            case 0:
                return outputs_.push_back(append(parts_.dense(graph_.shape(from), 5, true), {from}));
            case 1:
                return outputs_.push_back(convolution(append(tests::max_pool(around()), {from})));
            case 2:
                return outputs_.push_back(append(tests::op("sigmoid"), {from}));
            case 3:
                return outputs_.push_back(convolution(from));
            case 4:
                return outputs_.push_back(append(tests::op("add"), {from, convolution(0)}));
            case 5:
                return outputs_.push_back(append(tests::op("concat"), {convolution(0), from}));
            default:
                if (std::ranges::find(outputs_, from) == outputs_.end()) outputs_.push_back(from);
        }
    }

    static constexpr std::uint32_t channels = 3;

    tests::GraphParts parts_;
    Made made_;
    Graph graph_;
    std::vector<NodeId> outputs_;
    float factor_ = 1.0F;
};

/// The power of each output in float over that of its difference, in decibels.
std::vector<double> signal_to_noise(const ir::Graph& graph, const std::vector<float>& inputs) {
    const std::vector<std::span<const float>> given{inputs};
    const tests::Tensors expected = reference::execute(graph, given, images);
    const tests::Tensors outputs =
        tests::real_outputs(tests::quantized(graph, {inputs}, images), {inputs}, images);
    std::vector<double> decibels;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        double signal = 0.0;
        double noise = 1e-30;
        for (std::size_t k = 0; k < outputs[i].size(); ++k) {
            signal += std::pow(double{expected[i][k]}, 2);
            noise += std::pow(double{expected[i][k]} - double{outputs[i][k]}, 2);
        }
        decibels.push_back(10.0 * std::log10(signal / noise));
    }
    return decibels;
}

bool is_concatenation(const ir::Graph& graph, std::size_t output) {
    const auto maker = ir::producers(graph)[graph.outputs[output]];
    return maker && graph.nodes[*maker].is("concat");
}

std::vector<float> inputs_for(const ir::Graph& graph, std::uint32_t seed) {
    return tests::GraphParts(seed + 1).values(images * graph.input().shape.elements());
}

}  // namespace

TEST_CASE("A wide part of a concatenation takes no accuracy from tensors that others read too",
          "[compiler][emit]") {
    // Ranges that are less than a bit wider may be shared. Far wider ones are not: they cost nothing at all,
    // but where another concatenation reads the tensor. It may have had that one's range, and is now rounded
    // once more, from a step at most half as large: its noise grows by a quarter.
    constexpr double a_bit = 6.1;
    const double rounded_once_more = 10.0 * std::log10(1.25);
    constexpr float far_wider = 50.0F;
    constexpr std::uint32_t first_seed = 35'000;
    std::uint32_t far = 0;
    for (std::uint32_t seed = first_seed; seed < first_seed + tests::random_runs(150); ++seed) {
        INFO("seed " << seed);
        const SharedTensorNetwork whole(seed, Made::Whole);
        const SharedTensorNetwork without(seed, Made::WithoutWide);
        const SharedTensorNetwork wide(seed, Made::WideOnly);
        const std::vector<float> inputs = inputs_for(whole.graph(), seed);
        const std::vector<double> ours = signal_to_noise(whole.graph(), inputs);
        const std::vector<double> alone = signal_to_noise(without.graph(), inputs);
        REQUIRE(ours.size() == alone.size() + 1);
        INFO("factor " << whole.factor());
        for (std::size_t i = 0; i < alone.size(); ++i) {
            INFO("output " << i << ": " << ours[i] << " dB, " << alone[i] << " dB without the wide part");
            const double of_far = is_concatenation(whole.graph(), i) ? rounded_once_more : 1e-6;
            CHECK(ours[i] >= alone[i] - (whole.factor() > far_wider ? of_far : a_bit));
        }
        // Each part of a result has the error of its range, and an error of its own.
        const SharedTensorNetwork kept(seed, Made::KeptOnly);
        const double of_wide = signal_to_noise(wide.graph(), inputs).front();
        const double of_kept = signal_to_noise(kept.graph(), inputs).front();
        INFO("joined: " << ours.back() << " dB, alone: " << of_wide << " and " << of_kept << " dB");
        CHECK(ours.back() >= std::min(of_wide, of_kept) - 8.0);
        far += whole.factor() > far_wider ? 1 : 0;
    }
    CHECK(far >= tests::random_share(40));
}

TEST_CASE("No instruction depends on how wide the parts of a concatenation are", "[compiler][emit]") {
    constexpr std::uint32_t first_seed = 36'000;
    for (std::uint32_t seed = first_seed; seed < first_seed + tests::random_runs(100); ++seed) {
        INFO("seed " << seed);
        const SharedTensorNetwork drawn(seed, Made::Whole);
        std::mt19937 random(seed);
        const tpu_v1::Target target{.geometry = {.rows = 1 + static_cast<std::uint32_t>(random() % 40),
                                                 .columns = 1 + static_cast<std::uint32_t>(random() % 40)},
                                    .accumulator_rows = 64,
                                    .unified_buffer_rows = 60'000};
        const mapping::Batches options{.batch = 3, .inferences = 5};
        const auto compiled = [&](const ir::Graph& quantized) {
            return tests::bare(tpu_v1::compile(tpu_v1::lower(quantized), target, options));
        };
        const isa::Program full =
            compiled(tests::quantized(drawn.graph(), {inputs_for(drawn.graph(), seed)}, images));
        const isa::Program timed = compiled(passes::prepare(passes::drop_weights(drawn.graph()), {}));
        REQUIRE(full.instructions == timed.instructions);
        REQUIRE(full == timed);
    }
}
