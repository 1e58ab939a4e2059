// Numbers are added where an image has the greatest or least element of each window: the gradient of a
// maximum over windows.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "compiler/ir/model_error.h"
#include "compiler/ir/window.h"
#include "compiler/operators/leading_axes.h"
#include "compiler/operators/operator.h"
#include "compiler/operators/words.h"
#include "compiler/operators/words_builder.h"
#include "hw/math/floats/float_values.h"

namespace systole::operators {
namespace {

class WordSelectAndScatter final : public Operator {
public:
    std::string_view name() const override { return "word_select_and_scatter"; }
    std::string_view summary() const override {
        return "The sums of the second input's numbers, one for each window over the images "
               "[height][width][channel] of the first, at the places of the elements that the windows "
               "select; axes before these are broadcast by NumPy's rule. A window looks by channel at its "
               "elements inside the image, row-major: it selects the first one, and then the next one each "
               "time, unless the selected one is greater or equal, or less or equal, as `select` says; a NaN "
               "is neither. A place begins with 0 and takes its numbers by their place in the window, "
               "row-major, in float32; each sum is rounded once and settled. A bfloat16 is rounded at the "
               "end.";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations = [] {
            std::vector<ir::AttributeDeclaration> list = ir::window_attributes();
            list.push_back({.name = "select",
                            .meaning =
                                "greatest: an element stays selected if it is greater than the next one or "
                                "equal to it; least: if it is less or equal",
                            .absent = std::string("greatest"),
                            .choices = {"greatest", "least"}});
            return list;
        }();
        return declarations;
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        const ir::Shape leading = broadcast_leading_axes(node, 2, image_extents);
        const ir::FeatureMap image = last_image(node.input(0).shape);
        const ir::FeatureMap given = last_image(node.input(1).shape);
        const ir::FeatureMap windows = word_window_output(image, ir::window_of(node.node()));
        if (given != windows) {
            throw ModelError(fmt::format("its second input has images of {}; its windows over {} are {}",
                                         to_text(given), to_text(image), to_text(windows)));
        }
        const std::array extents{image.height, image.width, image.channels};
        return {with_leading_axes(leading, extents)};
    }
    Placement placement() const override {
        return {.where = "vector unit of a tensor core", .formats = "float32 and bfloat16"};
    }
    /// Each element of a window is compared, and its number is added.
    std::uint64_t operations(const ir::NodeView& node) const override {
        const std::uint64_t images = leading_axes(node.output().shape, image_extents).elements();
        const ir::FeatureMap windows = last_image(node.input(1).shape);
        return images * windows.elements() * (ir::window_of(node.node()).kernel_elements() + 1);
    }

    bool takes_words() const override { return true; }
    void check_types(const ir::NodeView& node) const override { check_float_words(node); }
    bool has_words() const override { return true; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override { builder.copy(node); }
    void compute(const TensorCall& call) const override { compute_on_words(*this, call); }
    void evaluate(const FloatCall& call) const override {
        const ir::NodeView& node = call.node;
        require_known_constants(node);
        const ir::FeatureMap image = last_image(node.input(0).shape);
        const ir::FeatureMap windows = last_image(node.input(1).shape);
        const ir::Window window = ir::window_of(node.node());
        const bool is_greatest = node.node().text("select") == "greatest";
        const std::vector<std::size_t> images = leading_blocks(node, 0, image_extents);
        const std::vector<std::size_t> sources = leading_blocks(node, 1, image_extents);
        float* to = call.output;
        for (std::uint32_t inference = 0; inference < call.batch; ++inference) {
            for (std::size_t i = 0; i < images.size(); ++i, to += image.elements()) {
                const float* const elements =
                    input_of_inference(call, 0, inference) + images[i] * image.elements();
                const float* const numbers =
                    input_of_inference(call, 1, inference) + sources[i] * windows.elements();
                const WindowWalk walk{image, windows, window};
                std::vector<std::uint32_t> selected(windows.elements());
                std::vector<float> current(windows.elements());
                walk.for_each_pixel([&](std::uint32_t tap, bool is_first, std::size_t first_of_window,
                                        std::size_t first_of_pixel) {
                    for (std::size_t c = 0; c < image.channels; ++c) {
                        const float candidate = elements[first_of_pixel + c];
                        float& now = current[first_of_window + c];
                        const bool is_kept = is_greatest ? now >= candidate : now <= candidate;
                        if (!is_first && is_kept) continue;
                        now = candidate;
                        selected[first_of_window + c] = tap;
                    }
                });
                std::fill_n(to, image.elements(), 0.0F);
                walk.for_each_pixel([&](std::uint32_t tap, bool /*is_first*/, std::size_t first_of_window,
                                        std::size_t first_of_pixel) {
                    for (std::size_t c = 0; c < image.channels; ++c) {
                        if (selected[first_of_window + c] != tap) continue;
                        float& sum = to[first_of_pixel + c];
                        sum = math::settled(sum + numbers[first_of_window + c]);
                    }
                });
            }
        }
    }

private:
    struct WindowWalk {
        ir::FeatureMap image;
        ir::FeatureMap windows;
        ir::Window window;

        /// Calls visit(tap, whether it is the window's first inside the image, first element of the window in
        /// the results of windows, first element of the pixel in the image) tap by tap, row-major.
        template <typename Visit>
        void for_each_pixel(const Visit& visit) const {
            for (std::uint32_t row = 0; row < window.kernel_height; ++row) {
                for (std::uint32_t column = 0; column < window.kernel_width; ++column) {
                    for (std::uint32_t y = 0; y < windows.height; ++y) {
                        const ir::WindowSpan rows = vertical_span(image, window, y);
                        if (row < rows.first || row >= rows.last) continue;
                        for (std::uint32_t x = 0; x < windows.width; ++x) {
                            const ir::WindowSpan columns = horizontal_span(image, window, x);
                            if (column < columns.first || column >= columns.last) continue;
                            visit(row * window.kernel_width + column,
                                  row == rows.first && column == columns.first,
                                  (std::size_t{y} * windows.width + x) * image.channels,
                                  (rows.under(row) * image.width + columns.under(column)) * image.channels);
                        }
                    }
                }
            }
        }
    };
};

}  // namespace

std::unique_ptr<ir::Operator> make_word_select_and_scatter() {
    return std::make_unique<WordSelectAndScatter>();
}

}  // namespace systole::operators
