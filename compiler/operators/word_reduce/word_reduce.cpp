// Many numbers along some axes become one, in blocks by halves, as a vector unit takes its lanes together.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "compiler/ir/model_error.h"
#include "compiler/operators/axis_lines.h"
#include "compiler/operators/operator.h"
#include "compiler/operators/reduction.h"
#include "compiler/operators/strided.h"
#include "compiler/operators/words.h"
#include "compiler/operators/words_builder.h"
#include "hw/math/floats/word_reduction.h"

namespace systole::operators {
namespace {

bool is_reduced(const std::vector<std::size_t>& axes, std::size_t axis) {
    return std::ranges::find(axes, axis) != axes.end();
}

/// Numbers of a block where no machine says how many.
constexpr std::int64_t usual_block = 128;

class WordReduce final : public Operator {
public:
    std::string_view name() const override { return "word_reduce"; }
    std::string_view summary() const override {
        return "The numbers along some axes become one, in a stated order: the axes, row-major, are cut into "
               "blocks; in a block, with h the least power of two that is not less than half of its numbers, "
               "number i takes number i + h for each i that has one, until one is left; blocks are taken "
               "together in order. Every result of floats is a float32, rounded once and settled; integers "
               "wrap around; a bfloat16 result is rounded once more at the end. Passes make it for machines "
               "that compute in floats.";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{
            word_reduction_attribute(),
            {.name = "axes",
             .meaning = "the axes; none: all",
             .absent = std::vector<std::int64_t>{},
             .minimum = 0,
             .maximum = ir::Shape::most_extents - 1},
            {.name = "keep",
             .meaning = "1: the axes stay, with extent 1",
             .absent = std::int64_t{0},
             .minimum = 0,
             .maximum = 1},
            {.name = "sum_tile",
             .meaning = "numbers of a block; 0: as many as the machine has lanes, or 128 without a machine",
             .absent = usual_block,
             .minimum = 0,
             .maximum = std::numeric_limits<std::uint32_t>::max()}};
        return declarations;
    }
    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        return kept_batch(node, has_batch, reduced_axes(node).front() != 0);
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        if (node.node().inputs.size() != 1) throw ModelError("it must have exactly 1 input");
        const ir::Shape& shape = node.input().shape;
        if (shape.elements() == 0)
            throw ModelError(fmt::format("it reduces {}, which has no numbers", to_text(shape)));
        const std::vector<std::size_t> axes = reduced_axes(node);
        std::vector<std::uint32_t> extents;
        for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
            if (!is_reduced(axes, axis)) {
                extents.push_back(shape[axis]);
            } else if (node.node().integer("keep") != 0) {
                extents.push_back(1);
            }
        }
        return {ir::Shape(extents)};
    }
    Placement placement() const override {
        return {.where = "vector unit of a tensor core", .formats = "float32, bfloat16, int32"};
    }
    std::uint64_t operations(const ir::NodeView& node) const override {
        return node.input().shape.elements();
    }

    bool takes_words() const override { return true; }
    void check_types(const ir::NodeView& node) const override { check_reduction_types(node); }
    bool has_words() const override { return true; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override {
        const std::int64_t block = node.integer("sum_tile");
        const std::int64_t of_machine{builder.options().reduction_block};
        builder.copy(node, {{"sum_tile", block == 0 ? of_machine : block}});
    }
    void compute(const TensorCall& call) const override { compute_on_words(*this, call); }
    void evaluate(const FloatCall& call) const override {
        const ir::NodeView& node = call.node;
        const ir::Shape& shape = node.input().shape;
        const std::vector<std::size_t> axes = reduced_axes(node);
        const std::int64_t stated = node.node().integer("sum_tile");
        const auto block = static_cast<std::size_t>(stated == 0 ? usual_block : stated);
        const systole::Reduction reduction = word_reduction_of(node.node());
        const std::size_t numbers = reduced_elements(node);
        const std::size_t results = shape.elements() / numbers;
        const auto* from = reinterpret_cast<const std::uint32_t*>(call.inputs[0]);
        auto* to = reinterpret_cast<std::uint32_t*>(call.output);
        require_known_constants(node);
        const std::size_t step = node.input().constant ? 0 : shape.elements();
        // Neighbouring axes are lines where they are; others come last first.
        const bool are_neighbours = axes.empty() || axes.back() - axes.front() + 1 == axes.size();
        std::size_t inner = 1;
        for (std::size_t axis = axes.empty() ? shape.rank() : axes.back() + 1; axis < shape.rank(); ++axis) {
            inner *= shape[axis];
        }
        const StridedView view = with_reduced_axes_last(shape, axes);
        std::vector<std::uint32_t> moved(are_neighbours ? 0 : shape.elements());
        for (std::uint32_t image = 0; image < call.batch; ++image, from += step, to += results) {
            if (!are_neighbours) copy_view(view, sizeof(std::uint32_t), from, moved.data());
            if (!are_neighbours || inner == 1) {
                math::reduce_words(reduction,
                                   {.data = are_neighbours ? from : moved.data(),
                                    .numbers = numbers,
                                    .stride = 1,
                                    .columns = results,
                                    .column_stride = numbers,
                                    .block = block},
                                   false, to);
                continue;
            }
            for (std::size_t outer = 0; outer < results / inner; ++outer) {
                math::reduce_words(reduction,
                                   {.data = from + outer * numbers * inner,
                                    .numbers = numbers,
                                    .stride = inner,
                                    .columns = inner,
                                    .column_stride = 1,
                                    .block = block},
                                   false, to + outer * inner);
            }
        }
    }

private:
    static StridedView with_reduced_axes_last(const ir::Shape& shape, const std::vector<std::size_t>& axes) {
        const std::vector<std::ptrdiff_t> strides = packed_strides(shape);
        StridedView view;
        for (const bool reduced : {false, true}) {
            for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
                if (is_reduced(axes, axis) != reduced) continue;
                view.extents.push_back(shape[axis]);
                view.strides.push_back(strides[axis]);
            }
        }
        return view;
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_word_reduce() {
    return std::make_unique<WordReduce>();
}

}  // namespace systole::operators
