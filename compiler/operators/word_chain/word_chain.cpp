// Operations on words, element by element, as a machine that computes in floats does them in one pass over
// its rows.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/message_text.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/operator.h"
#include "compiler/operators/strided.h"
#include "compiler/operators/words.h"
#include "compiler/operators/words_builder.h"
#include "hw/math/floats/word_operations.h"

namespace systole::operators {
namespace {

using Steps = std::vector<std::string>;

/// Elements that all steps work on at a time: their results fit in a first-level cache.
constexpr std::size_t piece_elements = 4096;

/// The inputs broadcast to one shape, by input. Neighbouring axes are joined where all inputs let them be.
struct ChainViews {
    std::vector<std::size_t> extents;
    std::vector<std::vector<std::ptrdiff_t>> strides;  ///< by input, as many as extents
};

ChainViews views_of(const ir::NodeView& node) {
    const ir::Shape& shape = node.output().shape;
    const std::size_t inputs = node.node().inputs.size();
    std::vector<StridedView> whole;
    for (std::size_t i = 0; i < inputs; ++i) whole.push_back(broadcast_view(node.input(i).shape, shape));
    // From the last axis to the first; reversed at the end.
    ChainViews views{.extents = {}, .strides = std::vector<std::vector<std::ptrdiff_t>>(inputs)};
    for (std::size_t axis = shape.rank(); axis-- > 0;) {
        const std::size_t extent = shape[axis];
        if (extent == 1) continue;
        bool joins = !views.extents.empty();
        for (std::size_t i = 0; joins && i < inputs; ++i) {
            joins = whole[i].strides[axis] ==
                    views.strides[i].back() * static_cast<std::ptrdiff_t>(views.extents.back());
        }
        if (joins) {
            views.extents.back() *= extent;
            continue;
        }
        views.extents.push_back(extent);
        for (std::size_t i = 0; i < inputs; ++i) views.strides[i].push_back(whole[i].strides[axis]);
    }
    // At least a row and a column.
    while (views.extents.size() < 2) {
        views.extents.push_back(1);
        for (std::size_t i = 0; i < inputs; ++i) views.strides[i].push_back(0);
    }
    std::ranges::reverse(views.extents);
    for (auto& strides : views.strides) std::ranges::reverse(strides);
    return views;
}

/// A part of the result: `columns` elements of each of `rows` rows.
struct Piece {
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::size_t elements() const { return rows * columns; }
};

/// Computes pieces of a chain, with memory of its own for the values of steps.
class ChainWork {
public:
    ChainWork(std::vector<WordStep> steps, std::size_t inputs)
        : steps_(std::move(steps)), words_(inputs + steps_.size()), values_(words_.size()) {}

    /// Lets input `index` of the next piece begin at `from`, with these strides from row to row and from
    /// column to column.
    void set_input(std::size_t index, const std::uint32_t* from, std::ptrdiff_t row_stride,
                   std::ptrdiff_t column_stride, const Piece& piece) {
        if (column_stride == 1 || piece.columns == 1) {
            words_[index] = {from, static_cast<std::size_t>(row_stride)};
            return;
        }
        // The other stride that broadcasting gives is 0.
        std::vector<std::uint32_t>& copies = memory_of(index);
        const std::size_t rows = row_stride == 0 ? 1 : piece.rows;
        for (std::size_t row = 0; row < rows; ++row) {
            std::fill_n(copies.begin() + static_cast<std::ptrdiff_t>(row * piece.columns), piece.columns,
                        from[static_cast<std::ptrdiff_t>(row) * row_stride]);
        }
        words_[index] = {copies.data(), row_stride == 0 ? 0 : piece.columns};
    }

    void compute(const Piece& piece, std::uint32_t* to, std::size_t to_row_elements) {
        const std::size_t inputs = words_.size() - steps_.size();
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            const WordStep& step = steps_[i];
            const bool is_last = i + 1 == steps_.size();
            std::array<math::Words, 3> operands{};
            for (std::size_t k = 0; k < step.operands.size(); ++k) operands.at(k) = words_[step.operands[k]];
            math::WordsOut out{
                .data = to, .row_elements = to_row_elements, .rows = piece.rows, .columns = piece.columns};
            if (!is_last) {
                // A constant is the same in all rows.
                const bool is_constant = step.operation == WordOperation::Constant;
                out.data = memory_of(inputs + i).data();
                out.row_elements = piece.columns;
                if (is_constant) out.rows = 1;
                words_[inputs + i] = {out.data, is_constant ? 0 : piece.columns};
            }
            math::apply_operation(step.operation, std::span(operands).first(step.operands.size()),
                                  step.constant, out);
        }
    }

private:
    std::vector<std::uint32_t>& memory_of(std::size_t value) {
        values_[value].resize(piece_elements);
        return values_[value];
    }

    std::vector<WordStep> steps_;
    std::vector<math::Words> words_;                  ///< by value: where its elements of the piece are
    std::vector<std::vector<std::uint32_t>> values_;  ///< by value
};

class WordChain final : public Operator {
public:
    std::string_view name() const override { return "word_chain"; }
    std::string_view summary() const override {
        return "Operations on float32 and other words of 32 bits, element by element, with NumPy's "
               "broadcasting; every result is rounded once and settled (no subnormal number, one NaN), and a "
               "bfloat16 result is rounded to it. "
               "Passes make it for machines that compute in floats.";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{
            {.name = "steps",
             .meaning =
                 "texts, each with an operation of a chain of docs/isa.md and the values that it "
                 "takes: the inputs are 0, 1, ..., then come the steps; `constant` has a word instead; "
                 "the last step is the result",
             .absent = Steps{},
             .is_required = true}};
        return declarations;
    }
    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        return batch_of_elements(node, has_batch);
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        const std::size_t inputs = node.node().inputs.size();
        if (inputs == 0) throw ModelError("it has no input; it must have at least 1");
        const std::vector<WordStep> steps = word_steps(node.node());
        if (steps.empty()) throw ModelError("it has no steps; it must have at least 1");
        if (inputs + steps.size() > most_word_values) {
            throw ModelError(fmt::format("it has {} and {}; there may be {} together",
                                         counted(inputs, "input"), counted(steps.size(), "step"),
                                         most_word_values));
        }
        ir::Shape shape = node.input().shape;
        for (std::size_t i = 1; i < inputs; ++i) shape = broadcast_shape(shape, node.input(i).shape);
        return {shape};
    }
    LeadingOnes leading_ones(const ir::NodeView& /*node*/) const override { return LeadingOnes::Passed; }
    std::optional<PermutedNode> permuted(const ir::NodeView& node,
                                         std::span<const std::uint32_t> axes) const override {
        return permuted_elements(node, axes);
    }
    Placement placement() const override {
        return {.where = "vector unit of a tensor core", .formats = "float32, bfloat16, int32"};
    }
    std::uint64_t operations(const ir::NodeView& node) const override {
        return node.output().shape.elements() * word_steps(node.node()).size();
    }

    bool takes_words() const override { return true; }
    void check_types(const ir::NodeView& node) const override { check_word_types(node); }
    bool has_words() const override { return true; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override { builder.copy(node); }
    void compute(const TensorCall& call) const override { compute_on_words(*this, call); }
    void evaluate(const FloatCall& call) const override {
        const ir::NodeView& node = call.node;
        const ChainViews views = views_of(node);
        const std::size_t inputs = node.node().inputs.size();
        require_known_constants(node);
        std::vector<const std::uint32_t*> from;
        for (std::size_t i = 0; i < inputs; ++i) {
            from.push_back(reinterpret_cast<const std::uint32_t*>(call.inputs[i]));
        }
        auto* to = reinterpret_cast<std::uint32_t*>(call.output);
        ChainWork work(word_steps(node.node()), inputs);
        for (std::uint32_t image = 0; image < call.batch; ++image, to += node.output().shape.elements()) {
            compute_one(views, from, work, to);
            for (std::size_t i = 0; i < inputs; ++i) {
                if (!node.input(i).constant) from[i] += node.input(i).shape.elements();
            }
        }
    }

private:
    static void compute_one(const ChainViews& views, const std::vector<const std::uint32_t*>& from,
                            ChainWork& work, std::uint32_t* to) {
        const std::size_t rank = views.extents.size();
        const std::size_t rows = views.extents[rank - 2];
        const std::size_t columns = views.extents[rank - 1];
        const std::size_t piece_columns = std::min(columns, piece_elements);
        const std::size_t piece_rows = piece_elements / std::max<std::size_t>(piece_columns, 1);
        // The planes of the last two axes: the offset of each input there, in order.
        std::vector<std::vector<std::ptrdiff_t>> planes;
        for (const auto& strides : views.strides) {
            StridedView outer{.extents = {views.extents.begin(), views.extents.end() - 2},
                              .strides = {strides.begin(), strides.end() - 2}};
            outer.extents.push_back(1);
            outer.strides.push_back(0);
            planes.emplace_back();
            for_each_row(outer, [&](std::ptrdiff_t offset) { planes.back().push_back(offset); });
        }
        for (std::size_t plane = 0; plane < planes.front().size(); ++plane, to += rows * columns) {
            for (std::size_t row = 0; row < rows; row += piece_rows) {
                for (std::size_t column = 0; column < columns; column += piece_columns) {
                    const Piece piece{std::min(piece_rows, rows - row),
                                      std::min(piece_columns, columns - column)};
                    for (std::size_t i = 0; i < from.size(); ++i) {
                        const std::ptrdiff_t row_stride = views.strides[i][rank - 2];
                        const std::ptrdiff_t column_stride = views.strides[i][rank - 1];
                        work.set_input(i,
                                       from[i] + planes[i][plane] +
                                           static_cast<std::ptrdiff_t>(row) * row_stride +
                                           static_cast<std::ptrdiff_t>(column) * column_stride,
                                       row_stride, column_stride, piece);
                    }
                    work.compute(piece, to + row * columns + column, columns);
                }
            }
        }
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_word_chain() {
    return std::make_unique<WordChain>();
}

}  // namespace systole::operators
