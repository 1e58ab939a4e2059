#include "compiler/target/tpu_v1/choose/cut_network.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <numeric>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "compiler/target/tpu_v1/network/host_parts.h"
#include "compiler/target/tpu_v1/schedule/schedule.h"
#include "tests/support/network_builder.h"
#include "tests/support/random_layers.h"
#include "tests/support/random_runs.h"

namespace systole::tpu_v1 {
namespace {

using tests::between;
using tests::NetworkBuilder;

constexpr ir::Window same_window{
    .kernel_height = 3, .kernel_width = 3, .pad_top = 1, .pad_left = 1, .pad_bottom = 1, .pad_right = 1};

/// Rows of eight bytes.
Target wide_target() {
    return {.geometry = {.rows = 8, .columns = 8}, .accumulator_rows = 256};
}

/// Where tensors lie if these are spilled.
Homes homes_with(const AnalysedNetwork& analysed, const std::set<TensorId>& spilled) {
    std::vector<bool> by_tensor(analysed.uses.size(), false);
    for (const TensorId id : spilled) by_tensor[id] = true;
    return homes_of(analysed, by_tensor);
}

/// Computes a network on numbers that stand for how they were computed: two elements are equal if they come
/// from the same elements by the same layers.
class Provenance {
public:
    /// `wholes`: by layer, the layer whose work it is; empty: its own.
    Provenance(const Network& network, std::vector<std::uint32_t> wholes)
        : network_(network), wholes_(std::move(wholes)) {
        for (const Tensor& tensor : network.tensors) {
            values_.emplace_back(tensor.shape.elements(), unknown);
        }
        for (const TensorId input : network.inputs) {
            std::iota(values_[input].begin(), values_[input].end(), std::uint64_t{input} << 32 | 1);
        }
        for (std::uint32_t l = 0; l < network.layers.size(); ++l) compute(l);
    }

    /// Whether every element had been computed when it was read.
    bool reads_only_known() const { return reads_only_known_; }
    const std::vector<std::uint64_t>& values(TensorId id) const { return values_[id]; }

private:
    static constexpr std::uint64_t unknown = 0;
    static constexpr std::uint64_t padding = 2;

    static std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
        std::uint64_t mixed = (a ^ (b + 0x9E3779B97F4A7C15U + (a << 6) + (a >> 2))) * 0xBF58476D1CE4E5B9U;
        mixed ^= mixed >> 29;
        return mixed | 4;  // neither unknown nor padding
    }

    std::uint64_t read(TensorId id, std::uint64_t element) {
        const std::uint64_t value = values_[id].at(element);
        reads_only_known_ = reads_only_known_ && value != unknown;
        return value;
    }
    const ir::FeatureMap& shape(TensorId id) const { return network_.tensors[id].shape; }

    void compute(std::uint32_t l) {
        const Layer& layer = network_.layers[l];
        const std::uint64_t seed = mix(wholes_.empty() ? l : wholes_[l], 1);
        std::visit([&](const auto& work) { compute(work, layer, seed); }, layer.work);
    }

    /// The elements of a window, or the padding, from channel `channel` on.
    std::uint64_t window(const Layer& layer, const ir::Window& window, std::uint64_t seed, std::uint32_t y,
                         std::uint32_t x, std::uint32_t channel, std::uint32_t channels) {
        const ir::FeatureMap& from = shape(layer.inputs[0]);
        for (std::uint32_t row = 0; row < window.kernel_height; ++row) {
            for (std::uint32_t column = 0; column < window.kernel_width; ++column) {
                const std::int64_t at_y = std::int64_t{y} * window.stride_y - window.pad_top +
                                          std::int64_t{row} * window.dilation_y;
                const std::int64_t at_x = std::int64_t{x} * window.stride_x - window.pad_left +
                                          std::int64_t{column} * window.dilation_x;
                const bool inside = at_y >= 0 && at_y < from.height && at_x >= 0 && at_x < from.width;
                const std::uint64_t pixel =
                    inside ? static_cast<std::uint64_t>(at_y) * from.width + static_cast<std::uint64_t>(at_x)
                           : 0;
                for (std::uint32_t c = channel; c < channel + channels; ++c) {
                    seed = mix(seed, inside ? read(layer.inputs[0], pixel * from.channels + c) : padding);
                }
            }
        }
        return seed;
    }

    template <typename Element>
    void fill(TensorId id, const Element& element) {
        const ir::FeatureMap& map = shape(id);
        std::size_t next = 0;
        for (std::uint32_t y = 0; y < map.height; ++y) {
            for (std::uint32_t x = 0; x < map.width; ++x) {
                for (std::uint32_t c = 0; c < map.channels; ++c) values_[id][next++] = element(y, x, c);
            }
        }
    }

    void compute(const MatrixProduct& product, const Layer& layer, std::uint64_t seed) {
        if (!product.window) return compute_all(layer, seed);
        fill(layer.output, [&](std::uint32_t y, std::uint32_t x, std::uint32_t c) {
            return mix(window(layer, *product.window, seed, y, x, 0, shape(layer.inputs[0]).channels), c);
        });
    }
    void compute(const Pooling& pooling, const Layer& layer, std::uint64_t seed) {
        fill(layer.output, [&](std::uint32_t y, std::uint32_t x, std::uint32_t c) {
            return window(layer, pooling.window, seed, y, x, c, 1);
        });
    }
    void compute(const Elementwise&, const Layer& layer, std::uint64_t seed) {
        for (std::size_t e = 0; e < values_[layer.output].size(); ++e) {
            std::uint64_t value = seed;
            for (const TensorId input : layer.inputs) value = mix(value, read(input, e));
            values_[layer.output][e] = value;
        }
    }
    void compute(const Concatenation& work, const Layer& layer, std::uint64_t) {
        if (work.axis == Concatenation::Axis::Lines) {
            std::size_t next = 0;
            for (const TensorId input : layer.inputs) {
                for (std::size_t e = 0; e < values_[input].size(); ++e) {
                    values_[layer.output].at(next++) = read(input, e);
                }
            }
            return;
        }
        fill(layer.output, [&](std::uint32_t y, std::uint32_t x, std::uint32_t c) {
            std::size_t part = 0;
            for (; c >= shape(layer.inputs[part]).channels; ++part) c -= shape(layer.inputs[part]).channels;
            const ir::FeatureMap& from = shape(layer.inputs[part]);
            return read(layer.inputs[part],
                        (std::uint64_t{y} * from.width + x) * std::uint64_t{from.channels} + c);
        });
    }
    void compute(const Slice& slice, const Layer& layer, std::uint64_t) {
        copy(layer.inputs[0], slice.first_element, layer.output, 0, values_[layer.output].size());
    }
    void compute(const Fetch& fetch, const Layer& layer, std::uint64_t) {
        copy(layer.inputs[0], fetch.first_element, layer.output, 0, values_[layer.output].size());
    }
    void compute(const Send& send, const Layer& layer, std::uint64_t) {
        copy(layer.inputs[0], 0, layer.output, send.first_element, values_[layer.inputs[0]].size());
    }
    void compute(const HostSegment&, const Layer& layer, std::uint64_t seed) { compute_all(layer, seed); }

    /// Each element of the output from all elements of the inputs.
    void compute_all(const Layer& layer, std::uint64_t seed) {
        for (const TensorId input : layer.inputs) {
            for (std::size_t e = 0; e < values_[input].size(); ++e) seed = mix(seed, read(input, e));
        }
        for (std::size_t e = 0; e < values_[layer.output].size(); ++e) {
            values_[layer.output][e] = mix(seed, e);
        }
    }
    void copy(TensorId from, std::uint64_t first, TensorId to, std::uint64_t to_first, std::uint64_t count) {
        for (std::uint64_t e = 0; e < count; ++e) values_[to].at(to_first + e) = read(from, first + e);
    }

    const Network& network_;
    const std::vector<std::uint32_t> wholes_;
    std::vector<std::vector<std::uint64_t>> values_;  ///< by tensor
    bool reads_only_known_ = true;
};

/// A network of up to eight layers, most of which can be cut.
Network random_network(std::mt19937& random) {
    NetworkBuilder builder({between(random, 6, 16), between(random, 1, 3), between(random, 1, 2) * 4});
    std::vector<TensorId> made{0};
    const auto any = [&] { return made[random() % made.size()]; };
    const auto any_like = [&](TensorId id, bool same_channels) {
        std::vector<TensorId> alike;
        for (const TensorId other : made) {
            ir::FeatureMap shape = builder.shape(other);
            if (!same_channels) shape.channels = builder.shape(id).channels;
            if (shape == builder.shape(id)) alike.push_back(other);
        }
        return alike[random() % alike.size()];
    };
    const std::uint32_t layers = between(random, 1, 8);
    while (builder.network().layers.size() < layers) {
        const TensorId from = between(random, 0, 1) == 0 ? made.back() : any();
        const ir::FeatureMap shape = builder.shape(from);
        switch (between(random, 0, 9)) {
            case 0:
                made.push_back(builder.lookup(from));
                break;
            case 1:
                made.push_back(builder.sum(from, any_like(from, true)));
                break;
            case 2:
                made.push_back(builder.concat({from, any_like(from, false)}));
                break;
            case 3:
                if (shape.height < 4) break;
                made.push_back(between(random, 0, 1) == 0
                                   ? builder.pool(from, {.kernel_height = 2, .stride_y = 2})
                                   : builder.pool(from, {.kernel_height = 3, .pad_top = 1, .pad_bottom = 1}));
                break;
            case 4: {
                // Eight lines or fewer that begin at a row, whatever the width.
                if (shape.height < 10) break;
                const std::uint64_t line = std::uint64_t{shape.width} * shape.channels;
                made.push_back(builder.slice(from, 2 * line, {8, shape.width, shape.channels}));
                break;
            }
            case 5:
                if (between(random, 0, 2) > 0) break;
                made.push_back(builder.host({from, any()}, shape));
                break;
            default: {
                ir::Window window = same_window;
                if (shape.width < 3) window.kernel_width = 1, window.pad_left = window.pad_right = 0;
                if (between(random, 0, 2) == 0) window.pad_top = between(random, 0, 4);
                if (between(random, 0, 2) == 0) window.pad_bottom = between(random, 0, 4);
                if (between(random, 0, 3) == 0) window.stride_y = between(random, 2, 4);
                if (between(random, 0, 3) == 0) window.dilation_y = 2;
                if (shape.height + window.pad_top + window.pad_bottom < 5) break;
                made.push_back(builder.convolution(from, between(random, 1, 2) * 4, window));
            }
        }
    }
    return builder.network();
}

/// Runs of all layers, in strips where that can be planned.
std::vector<LayerRun> random_runs_of(const AnalysedNetwork& analysed, const Homes& homes,
                                     std::mt19937& random) {
    const Network& network = analysed.network();
    std::vector<LayerRun> runs;
    const auto layers = static_cast<std::uint32_t>(network.layers.size());
    for (std::uint32_t first = 0; first < layers;) {
        LayerRun run{.first = first, .end = first + 1};
        const std::uint32_t longest = between(random, 1, 4);
        while (run.end < layers && run.end - first < longest && !runs_on_host(network.layers[first]) &&
               !runs_on_host(network.layers[run.end])) {
            ++run.end;
        }
        bool can_cut = true;
        for (std::uint32_t l = run.first; l < run.end; ++l) can_cut = can_cut && can_be_cut(analysed, l);
        const std::uint32_t lines = network.tensors[network.layers[run.end - 1].output].shape.height;
        if (can_cut && lines > 1) run.strips = between(random, 2, lines);
        for (std::uint32_t number = 0; number < run.strips; ++number) {
            if (!plan_strip(analysed, homes, run, number)) run.strips = 1;
        }
        runs.push_back(run);
        first = run.end;
    }
    return runs;
}

}  // namespace

TEST_CASE("Each strip is a layer with an input and an output of its own lines, between transfers",
          "[compiler][schedule][cut_network]") {
    NetworkBuilder builder({16, 4, 8});
    builder.convolution(builder.convolution(0, 8, same_window), 8, same_window);
    const AnalysedNetwork analysed = analyse(builder.network(), wide_target());
    const CutNetwork cut =
        cut_network(analysed, homes_with(analysed, {}), {{.first = 0, .end = 2, .strips = 2}});
    const Network& network = cut.network;
    CHECK(cut.whole_layers == std::vector<std::uint32_t>{0, 0, 1, 1, 0, 0, 1, 1});
    CHECK(network.inputs == std::vector<TensorId>{0});
    CHECK(network.outputs == std::vector<TensorId>{2});
    REQUIRE(network.layers.size() == 8);
    struct Expected {
        const char* input;
        std::uint32_t lines;  ///< of the output
        const char* output;
    };
    const Expected expected[] = {{"t0", 10, "t0[0..9]"},        {"t0[0..9]", 9, "t1[0..8]"},
                                 {"t1[0..8]", 8, "t2[0..7]"},   {"t2[0..7]", 16, "t2"},
                                 {"t0", 10, "t0[6..15]"},       {"t0[6..15]", 9, "t1[7..15]"},
                                 {"t1[7..15]", 8, "t2[8..15]"}, {"t2[8..15]", 16, "t2"}};
    for (std::size_t l = 0; l < 8; ++l) {
        CAPTURE(l);
        const Layer& layer = network.layers[l];
        REQUIRE(layer.inputs.size() == 1);
        CHECK(network.tensors[layer.inputs[0]].name == expected[l].input);
        const Tensor& output = network.tensors[layer.output];
        CHECK(output.name == expected[l].output);
        CHECK(output.shape == ir::FeatureMap{expected[l].lines, 4, 8});
        CHECK(layer.name == builder.network().layers[cut.whole_layers[l]].name);
        // The layers of the first strips stand for all.
        CHECK(layer.part_of == cut.whole_layers[l] + 1);
    }
    CHECK(std::get<Fetch>(network.layers[0].work).first_element == 0);
    CHECK(std::get<Send>(network.layers[3].work).first_element == 0);
    CHECK(std::get<Fetch>(network.layers[4].work).first_element == 6 * 4 * 8);
    CHECK(std::get<Send>(network.layers[7].work).first_element == 8 * 4 * 8);
    CHECK(network.layers[1].macs == builder.network().layers[0].macs);
    CHECK(network.layers[5].macs == 0);
}

TEST_CASE("Lines that stay on the chip are put together behind the strips, and read as slices",
          "[compiler][schedule][cut_network]") {
    NetworkBuilder builder({16, 4, 8});
    builder.convolution(builder.convolution(0, 8, same_window), 8, same_window);
    const AnalysedNetwork analysed = analyse(builder.network(), wide_target());
    const CutNetwork cut =
        cut_network(analysed, homes_with(analysed, {}),
                    {{.first = 0, .end = 1, .strips = 2}, {.first = 1, .end = 2, .strips = 2}});
    const Network& network = cut.network;
    // Fetch and convolution, twice; both together; a slice, convolution and send, twice.
    CHECK(cut.whole_layers == std::vector<std::uint32_t>{0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1});
    const Layer& together = network.layers[4];
    CHECK(std::get<Concatenation>(together.work).axis == Concatenation::Axis::Lines);
    CHECK(together.inputs == std::vector<TensorId>{network.layers[1].output, network.layers[3].output});
    CHECK(together.output == 1);
    CHECK(together.part_of == 1U);
    const Layer& above = network.layers[5];
    CHECK(std::get<Slice>(above.work).first_element == 0);
    CHECK(above.inputs == std::vector<TensorId>{1});
    CHECK(network.tensors[above.output].name == "t1[0..8]");
    const Layer& below = network.layers[8];
    CHECK(std::get<Slice>(below.work).first_element == 7 * 4 * 8);
    CHECK(network.tensors[below.output].name == "t1[7..15]");
}

TEST_CASE("A spilled tensor has a place in host memory and another on the chip",
          "[compiler][schedule][cut_network]") {
    NetworkBuilder builder({4, 4, 8});
    const TensorId spilled = builder.lookup(0);
    builder.sum(spilled, spilled);
    const AnalysedNetwork analysed = analyse(builder.network(), wide_target());
    const CutNetwork cut = cut_network(analysed, homes_with(analysed, {spilled}),
                                       {{.first = 0, .end = 1}, {.first = 1, .end = 2}});
    const Network& network = cut.network;
    CHECK(cut.whole_layers == std::vector<std::uint32_t>{0, 0, 0, 1, 1, 1});
    CHECK(network.layers[1].output != spilled);
    CHECK(std::holds_alternative<Send>(network.layers[2].work));
    CHECK(network.layers[2].output == spilled);
    CHECK(std::holds_alternative<Fetch>(network.layers[3].work));
    CHECK(network.layers[3].inputs == std::vector<TensorId>{spilled});
    // Layers that are computed whole are reported as themselves.
    CHECK_FALSE(network.layers[1].part_of.has_value());
    CHECK_FALSE(network.layers[4].part_of.has_value());
    CHECK(network.layers[2].part_of == 1U);
    CHECK(network.layers[3].part_of == 4U);
}

TEST_CASE("A run that cannot be planned is our own error", "[compiler][schedule][cut_network]") {
    // Lines of twelve bytes: those on the chip can be read from every second one on.
    NetworkBuilder builder({8, 3, 4});
    builder.sum(builder.lookup(0), 1);
    const AnalysedNetwork analysed = analyse(builder.network(), wide_target());
    const auto cut = [&](std::uint32_t strips) {
        cut_network(analysed, homes_with(analysed, {}),
                    {{.first = 0, .end = 1}, {.first = 1, .end = 2, .strips = strips}});
    };
    CHECK_NOTHROW(cut(4));
    CHECK_THROWS_AS(cut(8), std::logic_error);
}

TEST_CASE("A cut network computes what the whole one does, on tensors of its own that are brought and sent",
          "[compiler][schedule][cut_network]") {
    const std::uint32_t first_seed = 5200;
    std::size_t cut_runs = 0, long_runs = 0, spills = 0;
    for (std::uint32_t seed = first_seed; seed < first_seed + tests::random_runs(500); ++seed) {
        INFO("seed " << seed);
        std::mt19937 random(seed);
        const Network network = random_network(random);
        const AnalysedNetwork analysed = analyse(network, wide_target());
        std::set<TensorId> spilled;
        for (const Layer& layer : network.layers) {
            if (between(random, 0, 4) == 0 && !runs_on_host(layer)) spilled.insert(layer.output);
        }
        const Homes homes = homes_with(analysed, spilled);
        const std::vector<LayerRun> runs = random_runs_of(analysed, homes, random);
        for (const LayerRun& run : runs) {
            cut_runs += run.strips > 1;
            long_runs += run.strips > 1 && run.end - run.first > 1;
        }
        spills += spilled.size();
        const CutNetwork cut = cut_network(analysed, homes, runs);

        const Provenance whole(network, {});
        const Provenance of_strips(cut.network, cut.whole_layers);
        CHECK(of_strips.reads_only_known());
        CHECK(cut.network.outputs == network.outputs);
        for (const TensorId output : network.outputs) {
            CHECK(of_strips.values(output) == whole.values(output));
        }
        // Transfers are layers of their own.
        const AnalysedNetwork of_cut = analyse(cut.network, wide_target());
        CHECK(of_cut.inputs.empty());
        CHECK(of_cut.outputs.empty());
        // The chip can compute it: shapes and windows fit.
        CHECK_NOTHROW(plan_schedule(of_cut, wide_target(), {}));

        REQUIRE(cut.whole_layers.size() == cut.network.layers.size());
        std::vector<std::uint64_t> macs(network.layers.size());
        for (std::size_t l = 0; l < cut.network.layers.size(); ++l) {
            const Layer& layer = cut.network.layers[l];
            macs[cut.whole_layers[l]] += layer.macs;
            if (!layer.part_of) continue;
            CHECK(cut.whole_layers[*layer.part_of] == cut.whole_layers[l]);
        }
        for (std::size_t l = 0; l < network.layers.size(); ++l) CHECK(macs[l] == network.layers[l].macs);
    }
    CHECK(cut_runs >= tests::random_share(300));
    CHECK(long_runs >= tests::random_share(100));
    CHECK(spills >= tests::random_share(100));
}

}  // namespace systole::tpu_v1
