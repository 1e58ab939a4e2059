// The numbers of each window become one, by channel and one after the other.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/message_text.h"
#include "compiler/ir/model_error.h"
#include "compiler/ir/window.h"
#include "compiler/operators/leading_axes.h"
#include "compiler/operators/operator.h"
#include "compiler/operators/words.h"
#include "compiler/operators/words_builder.h"
#include "hw/math/floats/word_operations.h"

namespace systole::operators {
namespace {

/// The columns of a row of results whose windows have a tap inside the image, and of these the ones whose
/// first tap of a line it is: [first, last) and [first_begin, first_end).
struct TapColumns {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::uint32_t first_begin = 0;
    std::uint32_t first_end = 0;
};

class WordWindows final : public Operator {
public:
    std::string_view name() const override { return "word_windows"; }
    std::string_view summary() const override {
        return "The numbers of each window become one, by channel: the elements inside the image, row-major, "
               "one after the other from the first one on. Every result of floats is a float32, rounded once "
               "and settled; integers wrap around; a bfloat16 result is rounded once more at the end. The "
               "last three axes are an image; those before them are more images. Passes "
               "make it for machines that compute in floats.";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations = [] {
            std::vector<ir::AttributeDeclaration> list{word_reduction_attribute()};
            for (ir::AttributeDeclaration& attribute : ir::window_attributes()) {
                list.push_back(std::move(attribute));
            }
            return list;
        }();
        return declarations;
    }
    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        return kept_batch(node, has_batch);
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        const std::size_t inputs = node.node().inputs.size();
        if (inputs != 1)
            throw ModelError(fmt::format("it has {}; it must have exactly 1", counted(inputs, "input")));
        const ir::FeatureMap input = image_of(node);
        const ir::FeatureMap result = word_window_output(input, ir::window_of(node.node()));
        if (!has_leading_axes(node)) return {ir::image_shape(result, node.batch())};
        const std::array extents{result.height, result.width, result.channels};
        return {with_leading_axes(leading_axes(node.input().shape, image_extents), extents)};
    }
    LeadingOnes leading_ones(const ir::NodeView& node) const override {
        const bool is_one_image = node.input().shape.elements() == image_of(node).elements();
        return is_one_image && node.output().shape.rank() == image_rank ? LeadingOnes::Ignored
                                                                        : LeadingOnes::Counted;
    }
    Placement placement() const override {
        return {.where = "vector unit of a tensor core", .formats = "float32, bfloat16, int32"};
    }
    std::uint64_t operations(const ir::NodeView& node) const override {
        return node.output().shape.elements() * ir::window_of(node.node()).kernel_elements();
    }

    bool takes_words() const override { return true; }
    void check_types(const ir::NodeView& node) const override { check_reduction_types(node); }
    bool has_words() const override { return true; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override { builder.copy(node); }
    void compute(const TensorCall& call) const override { compute_on_words(*this, call); }
    void evaluate(const FloatCall& call) const override {
        require_known_constants(call.node);
        const ir::FeatureMap input = image_of(call.node);
        const ir::Window window = ir::window_of(call.node.node());
        const ir::FeatureMap result = window_output(input, window, input.channels);
        const WordOperation operation = operation_of(word_reduction_of(call.node.node()));
        std::vector<ir::WindowSpan> columns;
        for (std::uint32_t x = 0; x < result.width; ++x) columns.push_back(horizontal_span(input, window, x));
        std::vector<TapColumns> taps;
        for (std::uint32_t tap = 0; tap < window.kernel_width; ++tap)
            taps.push_back(columns_of(columns, tap));
        const std::size_t images = call.node.input().shape.elements() / input.elements();
        auto* to = reinterpret_cast<std::uint32_t*>(call.output);
        const std::size_t channels = input.channels;
        for (std::size_t image = 0; image < call.batch * images; ++image) {
            const float* const of_inference =
                input_of_inference(call, 0, static_cast<std::uint32_t>(image / images));
            const auto* const from =
                reinterpret_cast<const std::uint32_t*>(of_inference) + image % images * input.elements();
            for (std::uint32_t y = 0; y < result.height; ++y, to += result.width * channels) {
                const ir::WindowSpan rows = vertical_span(input, window, y);
                for (std::uint32_t row = rows.first; row < rows.last; ++row) {
                    const std::uint32_t* const line = from + rows.under(row) * input.width * channels;
                    for (std::uint32_t tap = 0; tap < window.kernel_width; ++tap) {
                        const TapColumns& range = taps[tap];
                        // Element x of this tap; the next result's is `stride_x` pixels further.
                        const auto source = [&](std::uint32_t x) {
                            return math::Words{line + columns[x].under(tap) * channels,
                                               window.stride_x * channels};
                        };
                        const auto take = [&](std::uint32_t first, std::uint32_t last) {
                            if (first >= last) return;
                            const std::array<math::Words, 2> operands{
                                math::Words{to + first * channels, channels}, source(first)};
                            math::apply_operation(operation, operands, 0,
                                                  {.data = to + first * channels,
                                                   .row_elements = channels,
                                                   .rows = last - first,
                                                   .columns = channels});
                        };
                        if (row != rows.first) {
                            take(range.first, range.last);
                            continue;
                        }
                        take(range.first, range.first_begin);
                        for (std::uint32_t x = range.first_begin; x < range.first_end; ++x) {
                            std::copy_n(source(x).data, channels, to + x * channels);
                        }
                        take(range.first_end, range.last);
                    }
                }
            }
        }
    }

private:
    static constexpr std::size_t image_rank = 4;

    /// Whether the axes before the last three are those of the result, too. A shape of fewer axes is an image
    /// as feature maps are, and the result has four.
    static bool has_leading_axes(const ir::NodeView& node) { return node.input().shape.rank() >= image_rank; }
    static ir::FeatureMap image_of(const ir::NodeView& node) {
        return has_leading_axes(node) ? last_image(node.input().shape) : node.input_map();
    }

    /// Further right, windows begin further right: both are ranges.
    static TapColumns columns_of(const std::vector<ir::WindowSpan>& columns, std::uint32_t tap) {
        TapColumns range;
        bool has_some = false;
        bool has_first = false;
        for (std::uint32_t x = 0; x < columns.size(); ++x) {
            if (tap < columns[x].first || tap >= columns[x].last) continue;
            if (!has_some) range = {x, x, x, x};
            has_some = true;
            range.last = x + 1;
            if (tap != columns[x].first) continue;
            if (!has_first) range.first_begin = x;
            has_first = true;
            range.first_end = x + 1;
        }
        if (!has_first) range.first_begin = range.first_end = range.first;
        return range;
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_word_windows() {
    return std::make_unique<WordWindows>();
}

}  // namespace systole::operators
