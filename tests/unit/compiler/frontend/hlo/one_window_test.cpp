// Convolutions with one window, such as gradients of 1 x 1 kernels, are products of matrices.
#include <algorithm>
#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <cstdint>
#include <random>

#include "compiler/ir/graph.h"
#include "compiler/ir/text.h"
#include "tests/support/random_runs.h"
#include "tests/unit/compiler/frontend/hlo/hlo_runs.h"

using namespace systole;
using namespace systole::tests;

namespace {

/// Images and a kernel along two axes, with all axes in drawn orders. Numbers are small and whole, so that
/// sums are exact in any order.
class OneWindow {
public:
    explicit OneWindow(std::mt19937& random) : random_(random) {
        batch_ = 1 + below(4);
        features_ = 1 + below(4);
        filters_ = 1 + below(4);
        for (std::size_t i = 0; i < 2; ++i) {
            size_[i] = 1 + below(4);
            dilation_[i] = 1 + below(3);
            cut_[i] = below(3);
            is_reversed_[i] = below(3) == 0;
            behind_[i] = below(2);
            extent_[i] = cut_[i] + (size_[i] - 1) * dilation_[i] + 1 + behind_[i];
        }
        for (auto* const order : {&image_axes_, &kernel_axes_, &result_axes_})
            std::shuffle(order->begin(), order->end(), random_);
    }

    bool has_lines() const { return size_[0] > 1; }
    /// With `outside`, the first line of the window is above the image.
    HloModule module(bool outside = false) const {
        HloModule module;
        HloComputation entry = module.computation("main");
        const std::int64_t image = entry.parameter(shape_text("f32", image_extents()));
        const std::int64_t kernel = entry.parameter(shape_text("f32", kernel_extents()));
        entry.add("convolution", shape_text("f32", in_order({batch_, filters_, 1, 1}, result_axes_)),
                  {image, kernel});
        auto& numbers = *entry.last().mutable_convolution_dimension_numbers();
        numbers.set_input_batch_dimension(place_of(image_axes_, 0));
        numbers.set_input_feature_dimension(place_of(image_axes_, 1));
        numbers.set_kernel_output_feature_dimension(place_of(kernel_axes_, 0));
        numbers.set_kernel_input_feature_dimension(place_of(kernel_axes_, 1));
        numbers.set_output_batch_dimension(place_of(result_axes_, 0));
        numbers.set_output_feature_dimension(place_of(result_axes_, 1));
        for (std::size_t i = 0; i < 2; ++i) {
            numbers.add_input_spatial_dimensions(place_of(image_axes_, 2 + i));
            numbers.add_kernel_spatial_dimensions(place_of(kernel_axes_, 2 + i));
            numbers.add_output_spatial_dimensions(place_of(result_axes_, 2 + i));
            auto& dimension = *entry.last().mutable_window()->add_dimensions();
            const std::int64_t above = i == 0 && outside ? cut_[i] + 1 : 0;
            dimension.set_size(size_[i]);
            dimension.set_stride(1);
            dimension.set_padding_low(above - cut_[i]);
            dimension.set_padding_high(-behind_[i] - above);
            dimension.set_window_dilation(dilation_[i]);
            dimension.set_base_dilation(1);
            dimension.set_window_reversal(is_reversed_[i]);
        }
        return module;
    }

    Words image() { return numbers(image_extents()); }
    Words kernel() { return numbers(kernel_extents()); }

    Words expected(const Words& image, const Words& kernel) const {
        const Plain images{.dimensions = image_extents(), .words = image};
        const Plain kernels{.dimensions = kernel_extents(), .words = kernel};
        const Plain sums = plain(in_order({batch_, filters_, 1, 1}, result_axes_), [&](const Extents& index) {
            float sum = 0;
            for_each_index({features_, size_[0], size_[1]}, [&](const Extents& tap) {
                Extents pixel{index[place(result_axes_, 0)], tap[0]};
                Extents weight{index[place(result_axes_, 1)], tap[0]};
                for (std::size_t i = 0; i < 2; ++i) {
                    pixel.push_back(cut_[i] + tap[i + 1] * dilation_[i]);
                    weight.push_back(is_reversed_[i] ? size_[i] - 1 - tap[i + 1] : tap[i + 1]);
                }
                sum += std::bit_cast<float>(images.at(in_order(pixel, image_axes_))) *
                       std::bit_cast<float>(kernels.at(in_order(weight, kernel_axes_)));
            });
            return std::bit_cast<std::uint32_t>(sum);
        });
        return sums.words;
    }

private:
    using Order = std::array<std::size_t, 4>;  ///< batch or filters, features, and two spatial axes

    std::int64_t below(std::uint32_t limit) { return static_cast<std::int64_t>(random_() % limit); }
    static std::size_t place(const Order& order, std::size_t axis) {
        return static_cast<std::size_t>(std::ranges::find(order, axis) - order.begin());
    }
    static std::int64_t place_of(const Order& order, std::size_t axis) {
        return static_cast<std::int64_t>(place(order, axis));
    }
    static Extents in_order(const Extents& all, const Order& order) {
        Extents extents;
        for (const std::size_t axis : order) extents.push_back(all[axis]);
        return extents;
    }
    Extents image_extents() const {
        return in_order({batch_, features_, extent_[0], extent_[1]}, image_axes_);
    }
    Extents kernel_extents() const {
        return in_order({filters_, features_, size_[0], size_[1]}, kernel_axes_);
    }
    Words numbers(const Extents& extents) {
        Words words(elements_of(extents));
        for (std::uint32_t& word : words)
            word = std::bit_cast<std::uint32_t>(static_cast<float>(below(15)) - 7.0F);
        return words;
    }

    std::mt19937& random_;
    std::int64_t batch_ = 1;
    std::int64_t features_ = 1;
    std::int64_t filters_ = 1;
    std::array<std::int64_t, 2> size_{};
    std::array<std::int64_t, 2> dilation_{};
    std::array<std::int64_t, 2> cut_{};     ///< pixels before the window
    std::array<std::int64_t, 2> behind_{};  ///< pixels behind it
    std::array<std::int64_t, 2> extent_{};
    std::array<bool, 2> is_reversed_{};
    Order image_axes_{0, 1, 2, 3};
    Order kernel_axes_{0, 1, 2, 3};
    Order result_axes_{0, 1, 2, 3};
};

}  // namespace

TEST_CASE("A convolution with one window is a product of matrices", "[hlo][graph]") {
    for (std::uint32_t seed = 1; seed <= random_runs(200); ++seed) {
        std::mt19937 random(seed);
        OneWindow drawn(random);
        const HloModule module = drawn.module();
        const ir::Graph graph = graph_of(module);
        INFO("seed " << seed << "\n" << ir::to_text(graph));
        CHECK(std::ranges::count_if(graph.nodes,
                                    [](const ir::Node& node) { return node.is("matrix_product"); }) == 1);
        const Words image = drawn.image();
        const Words kernel = drawn.kernel();
        CHECK(run(module, {image, kernel}) == std::vector<Words>{drawn.expected(image, kernel)});
    }
}

TEST_CASE("A window that reaches outside the image is a convolution", "[hlo][graph]") {
    std::uint32_t convolutions = 0;
    for (std::uint32_t seed = 1; seed <= 40; ++seed) {
        std::mt19937 random(seed);
        const OneWindow drawn(random);
        if (!drawn.has_lines()) continue;
        const ir::Graph graph = graph_of(drawn.module(true));
        CHECK(std::ranges::none_of(graph.nodes,
                                   [](const ir::Node& node) { return node.is("matrix_product"); }));
        for (const ir::Node& node : graph.nodes) convolutions += node.is("word_convolution") ? 1 : 0;
    }
    CHECK(convolutions >= 20);
}
