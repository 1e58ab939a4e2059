// The upper or lower triangle of each matrix of the last two axes; elements outside of it become 0.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "compiler/ir/model_error.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/leading_axes.h"
#include "compiler/operators/words_builder.h"

namespace systole::operators {
namespace {

constexpr std::size_t trilu_axes = 2;

ir::Results read_trilu(ir::LayerReader& layer) {
    const std::vector<std::int64_t> k =
        constant_integers_if_any(layer, 1).value_or(std::vector<std::int64_t>{0});
    if (k.size() != 1) layer.fail("its k must be one number");
    return append_same(layer, "trilu",
                       {{"upper", std::int64_t{flag_of(layer, "upper", true) ? 1 : 0}}, {"k", k.front()}},
                       {input_of(layer, 0)});
}

/// A triangle of a matrix, as an attribute list says it.
class Triangle {
public:
    explicit Triangle(const ir::NodeView& node)
        : rows_(node.input().shape[node.input().shape.rank() - 2]),
          columns_(node.input().shape.extents().back()),
          is_upper_(node.node().integer("upper") != 0),
          k_(node.node().integer("k")) {}

    std::uint32_t rows() const { return rows_; }
    std::uint32_t columns() const { return columns_; }
    bool contains(std::int64_t row, std::int64_t column) const {
        return is_upper_ ? column - row >= k_ : column - row <= k_;
    }

private:
    std::uint32_t rows_;
    std::uint32_t columns_;
    bool is_upper_;
    std::int64_t k_;
};

class Trilu final : public Operator {
public:
    std::string_view name() const override { return "trilu"; }
    std::string_view summary() const override {
        return "The upper or lower triangle of each matrix of the last two axes; elements outside of it "
               "become "
               "0.";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{
            {.name = "upper",
             .meaning = "1: the upper triangle; 0: the lower one",
             .absent = std::int64_t{1},
             .minimum = 0,
             .maximum = 1},
            {.name = "k",
             .meaning =
                 "the diagonal at which the triangle begins; 0: the main one; above 0: the one so many "
                 "columns to the right of it",
             .absent = std::int64_t{0},
             .minimum = std::numeric_limits<std::int32_t>::min(),
             .maximum = std::numeric_limits<std::int32_t>::max()}};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        return {{.format = ir::Format::Onnx,
                 .name = "Trilu",
                 .keys = {{"upper", "`upper`"}},
                 .build = read_trilu}};
    }
    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        return kept_batch(node, has_batch, node.input().shape.rank() > trilu_axes);
    }
    LeadingOnes leading_ones(const ir::NodeView& /*node*/) const override { return LeadingOnes::Passed; }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        if (node.node().inputs.size() != 1) throw ModelError("it must have exactly 1 input");
        static_cast<void>(leading_axes(node.input().shape, trilu_axes));
        return {node.input().shape};
    }
    Placement placement() const override { return {.where = "host", .formats = "all"}; }
    void check_types(const ir::NodeView& node) const override {
        if (is_stored_alike(node.input(), node.output())) return;
        fail_as_stored_unlike("its input and its result", node.input(), node.output());
    }
    bool takes_words() const override { return true; }
    bool has_words() const override { return true; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override {
        const Triangle triangle(builder.view(node));
        std::vector<std::int32_t> inside;
        for (std::uint32_t row = 0; row < triangle.rows(); ++row) {
            for (std::uint32_t column = 0; column < triangle.columns(); ++column)
                inside.push_back(triangle.contains(row, column) ? 1 : 0);
        }
        const ir::ValueId input = builder.input_of(node);
        const ir::ValueId mask =
            builder.integers("triangle", {triangle.rows(), triangle.columns()}, std::move(inside));
        builder.set(node.output(), builder.chain({input, mask}, [](std::span<const Word> in) {
            return select(in[1], in[0], constant_word(in[0].steps(), 0));
        }));
    }
    void compute(const TensorCall& call) const override {
        const Triangle triangle(call.node);
        const std::size_t bytes = bytes_of(call.node.output().type);
        const std::size_t count = call.output_elements();
        const auto* from = call.input<std::uint8_t>(0);
        auto* to = call.output<std::uint8_t>();
        for (std::size_t element = 0; element < count; ++element, from += bytes, to += bytes) {
            const std::size_t row = element / triangle.columns() % triangle.rows();
            const std::size_t column = element % triangle.columns();
            if (triangle.contains(static_cast<std::int64_t>(row), static_cast<std::int64_t>(column))) {
                std::memcpy(to, from, bytes);
            } else {
                std::fill_n(to, bytes, std::uint8_t{0});
            }
        }
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_trilu() {
    return std::make_unique<Trilu>();
}

}  // namespace systole::operators
