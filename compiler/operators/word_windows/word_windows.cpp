// The float32 of each window become one, by channel and one after the other.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

#include "compiler/ir/model_error.h"
#include "compiler/ir/window.h"
#include "compiler/operators/operator.h"
#include "compiler/operators/words.h"
#include "compiler/operators/words_builder.h"
#include "hw/math/floats/word_operations.h"

namespace systole::operators {
namespace {

WordOperation operation_of(systole::Reduction reduction) {
    switch (reduction) {
        case systole::Reduction::Sum:
            return WordOperation::Add;
        case systole::Reduction::Product:
            return WordOperation::Multiply;
        case systole::Reduction::Maximum:
            return WordOperation::Maximum;
        case systole::Reduction::Minimum:
            return WordOperation::Minimum;
    }
    throw std::logic_error("not a reduction");
}

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
        return "The sum, product, maximum or minimum of the float32 of each window, by channel: the elements "
               "inside the image, row-major, one after the other from the first one on; every result is "
               "rounded once and settled. Passes make it for machines that compute in floats.";
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
        node.require_inputs(1);
        const ir::FeatureMap input = node.input_map();
        const ir::FeatureMap result = word_window_output(input, ir::window_of(node.node()));
        return {ir::image_shape(result, node.batch())};
    }
    LeadingOnes leading_ones(const ir::NodeView& /*node*/) const override { return LeadingOnes::Ignored; }
    Placement placement() const override {
        return {.where = "vector unit of a tensor core", .formats = "float32"};
    }
    std::uint64_t operations(const ir::NodeView& node) const override {
        return node.output().shape.elements() * ir::window_of(node.node()).kernel_elements();
    }

    bool takes_words() const override { return true; }
    void check_types(const ir::NodeView& node) const override { check_word_types(node); }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override { builder.copy(node); }
    void compute(const TensorCall& call) const override { compute_on_words(*this, call); }
    void evaluate(const FloatCall& call) const override {
        const ir::FeatureMap input = call.node.input_map();
        const ir::FeatureMap result = call.node.output_map();
        const ir::Window window = ir::window_of(call.node.node());
        const WordOperation operation = operation_of(word_reduction_of(call.node.node()));
        std::vector<ir::WindowSpan> columns;
        for (std::uint32_t x = 0; x < result.width; ++x) columns.push_back(horizontal_span(input, window, x));
        std::vector<TapColumns> taps;
        for (std::uint32_t tap = 0; tap < window.kernel_width; ++tap)
            taps.push_back(columns_of(columns, tap));
        const auto* from = reinterpret_cast<const std::uint32_t*>(call.inputs[0]);
        auto* to = reinterpret_cast<std::uint32_t*>(call.output);
        const std::size_t channels = input.channels;
        for (std::uint32_t image = 0; image < call.batch; ++image, from += input.elements()) {
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
