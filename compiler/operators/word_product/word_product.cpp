// Products of matrices of floats, of which each may be computed, with the sums of a matrix unit.
#include <fmt/format.h>

#include <array>
#include <optional>

#include "compiler/ir/model_error.h"
#include "compiler/operators/leading_axes.h"
#include "compiler/operators/operator.h"
#include "compiler/operators/strided.h"
#include "compiler/operators/weighted.h"
#include "compiler/operators/words.h"
#include "compiler/operators/words_builder.h"

namespace systole::operators {
namespace {

constexpr std::size_t matrix_axes = 2;

/// A matrix (rows x columns) that lies in memory as it is or transposed.
struct PlacedMatrix {
    std::size_t rows = 0;
    std::size_t columns = 0;
    bool is_transposed = false;

    std::size_t elements() const { return rows * columns; }

    /// Its elements row-major: where they are, or in `copy`.
    const float* packed(const float* from, std::vector<float>& copy) const {
        if (!is_transposed) return from;
        copy.resize(elements());
        const StridedView view{.extents = {rows, columns}, .strides = {1, static_cast<std::ptrdiff_t>(rows)}};
        copy_view(view, sizeof(float), from, copy.data());
        return copy.data();
    }
};

PlacedMatrix matrix_of(const ir::NodeView& node, std::size_t input, const char* attribute) {
    const ir::Shape& shape = node.input(input).shape;
    const std::size_t rows = shape[shape.rank() - 2];
    const std::size_t columns = shape[shape.rank() - 1];
    if (node.node().integer(attribute) == 0) return {rows, columns, false};
    return {columns, rows, true};
}

PlacedMatrix first_matrix(const ir::NodeView& node) {
    return matrix_of(node, 0, "transposed_a");
}

PlacedMatrix second_matrix(const ir::NodeView& node) {
    return matrix_of(node, 1, "transposed_b");
}

ir::AttributeDeclaration transposed_attribute(const char* name, const char* meaning) {
    return {.name = name, .meaning = meaning, .absent = std::int64_t{0}, .minimum = 0, .maximum = 1};
}

class WordProduct final : public Operator {
public:
    std::string_view name() const override { return "word_product"; }
    std::string_view summary() const override {
        return "The product of the matrices of the last two axes, [M][K] and [K][N]; axes before them are "
               "broadcast by NumPy's rule. Both inputs may be computed or constants. A sum adds its products "
               "in the order of K.";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{
            transposed_attribute("transposed_a", "1: the first input's matrices are [K][M]"),
            transposed_attribute("transposed_b", "1: the second input's matrices are [N][K]"),
            sum_tile_attribute(), precision_attribute()};
        return declarations;
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        const ir::Shape leading = broadcast_leading_axes(node, 2, matrix_axes);
        const PlacedMatrix a = first_matrix(node);
        const PlacedMatrix b = second_matrix(node);
        if (a.columns != b.rows) {
            throw ModelError(fmt::format(
                "its inputs are {}{} and {}{}; rows of {} elements cannot meet columns of {}",
                to_text(node.input(0).shape), a.is_transposed ? " transposed" : "",
                to_text(node.input(1).shape), b.is_transposed ? " transposed" : "", a.columns, b.rows));
        }
        const std::array extents{static_cast<std::uint32_t>(a.rows), static_cast<std::uint32_t>(b.columns)};
        return {with_leading_axes(leading, extents)};
    }
    DataType result_type(const ir::NodeView& /*node*/) const override { return DataType::Float32; }
    Placement placement() const override { return word_product_placement(); }
    std::uint64_t macs(const ir::NodeView& node) const override {
        return node.output().shape.elements() * first_matrix(node).columns;
    }

    bool takes_words() const override { return true; }
    void check_types(const ir::NodeView& node) const override { check_product_types(node); }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override {
        copy_with_order(node, builder);
    }
    void compute(const TensorCall& call) const override { compute_on_words(*this, call); }
    void evaluate(const FloatCall& call) const override {
        const ir::NodeView& node = call.node;
        require_known_constants(node);
        const PlacedMatrix a = first_matrix(node);
        const PlacedMatrix b = second_matrix(node);
        const std::vector<std::size_t> a_blocks = leading_blocks(node, 0, matrix_axes);
        const std::vector<std::size_t> b_blocks = leading_blocks(node, 1, matrix_axes);
        const SumOrder order = sum_order(node.node());
        std::vector<float> a_copy;
        std::vector<float> b_copy;
        const float* prepared = nullptr;  // the second matrix whose `weights` are there
        std::optional<OrderedWeights> weights;
        float* to = call.output;
        for (std::uint32_t inference = 0; inference < call.batch; ++inference) {
            const float* const all_a = input_of_inference(call, 0, inference);
            const float* const all_b = input_of_inference(call, 1, inference);
            std::size_t count = 0;  // of first matrices that are multiplied together, as one with more rows
            for (std::size_t i = 0; i < a_blocks.size(); i += count, to += count * a.rows * b.columns) {
                const float* const second = all_b + b_blocks[i] * b.elements();
                if (second != prepared) {
                    weights.emplace(b.packed(second, b_copy), b.rows, b.columns, order);
                    prepared = second;
                }
                for (count = 1; !a.is_transposed && i + count < a_blocks.size(); ++count) {
                    const bool follows =
                        a_blocks[i + count] == a_blocks[i] + count && b_blocks[i + count] == b_blocks[i];
                    if (!follows) break;
                }
                const float* const first = a.packed(all_a + a_blocks[i] * a.elements(), a_copy);
                weights->multiply(first, to, count * a.rows);
            }
        }
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_word_product() {
    return std::make_unique<WordProduct>();
}

}  // namespace systole::operators
