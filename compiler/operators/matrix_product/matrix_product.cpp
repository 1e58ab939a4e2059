// Products of matrices, of which each may be computed: of floats, with the sums of a matrix unit where they
// are stated, and of integers of 8 bits.
#include "compiler/operators/matrix_product/matrix_product.h"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "compiler/ir/model_error.h"
#include "compiler/operators/fixed_point.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/leading_axes.h"
#include "compiler/operators/matrix_product/keras_attention.h"
#include "compiler/operators/matrix_product/keras_products.h"
#include "compiler/operators/matrix_product/onnx_einsum.h"
#include "compiler/operators/quantizer.h"
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
    std::size_t place(std::size_t row, std::size_t column) const {
        return is_transposed ? column * rows + row : row * columns + column;
    }

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

/// By what sums of integers are multiplied: the product of the inputs' scales over the result's. TFLite's own
/// product of scales has float32.
double sum_multiplier(const ir::NodeView& node) {
    const double a = encoding_of(node.input(0)).scale;
    const double b = encoding_of(node.input(1)).scale;
    const double result = encoding_of(node.output()).scale;
    switch (rounding_of(node.node())) {
        case Rounding::Tflite:
            return double{static_cast<float>(a) * static_cast<float>(b)} / result;
        case Rounding::HalfToEven:
            return scale_quotient(a, b, result);
        case Rounding::FloatHalfEven:
            return a * b / result;
    }
    throw std::logic_error("a rounding that does not exist");
}

/// Turns sums of integers into stored results.
class SumScaling {
public:
    explicit SumScaling(const ir::NodeView& node)
        : rounding_(rounding_of(node.node())),
          type_(node.output().type),
          zero_point_(encoding_of(node.output()).zero_point) {
        const double multiplier = sum_multiplier(node);
        if (rounding_ == Rounding::FloatHalfEven) {
            float_multiplier_ = float_multiplier_of(multiplier);
        } else {
            multiplier_ = fixed_point_of(multiplier);
        }
    }

    std::int32_t stored(std::int32_t sum) const {
        return offset_and_clamp(scaled(sum), zero_point_, lowest_of(type_), highest_of(type_));
    }

private:
    std::int32_t scaled(std::int32_t sum) const {
        if (rounding_ == Rounding::FloatHalfEven) return scale_float_to_even(sum, float_multiplier_);
        return rounding_ == Rounding::HalfToEven
                   ? scale_to_even(sum, multiplier_.multiplier, multiplier_.shift)
                   : scale(sum, multiplier_.multiplier, multiplier_.shift);
    }

    Rounding rounding_;
    DataType type_;
    std::int32_t zero_point_;
    float float_multiplier_ = 0.0F;
    FixedPoint multiplier_;
};

/// Throws ModelError unless a node on integers has values of 8 bits, each with one scale.
void check_integer_types(const ir::NodeView& node) {
    static constexpr std::array types{DataType::Uint8, DataType::Int8};
    require_integers(node, types);
    if (has_sum_tile(node.node()))
        throw ModelError("it works on integers, and `sum_tile` is of sums in float32");
    check_rounding(node);
    SumScaling{node};
}

ir::Results read_json_product(ir::LayerReader& layer) {
    std::vector<ir::NamedAttribute> attributes;
    for (const char* const key : {"transposed_a", "transposed_b"})
        attributes.emplace_back(key, std::int64_t{layer.boolean(key, false) ? 1 : 0});
    return layer.append_function("activation", append_matrix_product(layer, layer.inputs(), attributes));
}

class MatrixProduct final : public Operator {
public:
    std::string_view name() const override { return "matrix_product"; }
    std::string_view summary() const override {
        return "The product of the matrices of the last two axes, [M][K] and [K][N]; axes before them are "
               "broadcast by NumPy's rule. Both inputs may be computed or constants. Sums of float32 add "
               "their "
               "products in the order of K if they have a `sum_tile`.";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{
            transposed_attribute("transposed_a", "1: the first input's matrices are [K][M]"),
            transposed_attribute("transposed_b", "1: the second input's matrices are [N][K]"),
            sum_tile_attribute(), precision_attribute(), rounding_attribute()};
        return declarations;
    }
    std::vector<ir::LayerKind> layer_kinds() const override {
        std::vector<ir::LayerKind> kinds{{.format = ir::Format::GraphJson,
                                          .name = "matrix_product",
                                          .keys = {{"transposed_a", "`transposed_a`, true or false"},
                                                   {"transposed_b", "`transposed_b`, true or false"},
                                                   {"activation", "a function of the result"}},
                                          .build = read_json_product}};
        for (ir::LayerKind& kind : keras_product_layers()) kinds.push_back(std::move(kind));
        kinds.push_back(onnx_einsum());
        for (ir::LayerKind& kind : keras_attention_layers()) kinds.push_back(std::move(kind));
        return kinds;
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
    DataType result_type(const ir::NodeView& node) const override {
        const DataType type = node.input(0).type;
        return type == DataType::Bfloat16 ? DataType::Float32 : type;
    }
    Placement placement() const override {
        return {.where =
                    "host; matrix unit of a tensor core; with weight_memory.writable, that of TPU v1, on "
                    "uint8 and int8",
                .formats = "float32 and bfloat16, with sums and results of float32; uint8 and int8"};
    }
    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        if (node.output().shape.rank() == matrix_axes) return std::nullopt;
        return batch_of_elements(node, has_batch);
    }
    void quantize(const ir::Node& node, Quantizer& quantizer) const override {
        if (!quantizer.quantizes_products() || !multiplies_pairs(quantizer.view(node)) ||
            node.integer("sum_tile") != 0) {
            return Operator::quantize(node, quantizer);
        }
        quantizer.add_like(node, quantizer.encoding(node.output()));
    }
    std::uint64_t macs(const ir::NodeView& node) const override {
        return node.output().shape.elements() * first_matrix(node).columns;
    }

    bool takes_words() const override { return true; }
    void check_types(const ir::NodeView& node) const override {
        if (node.output().quantization) return check_integer_types(node);
        check_product_types(node);
    }
    bool has_words() const override { return true; }
    void to_words(const ir::Node& node, WordsBuilder& builder) const override {
        copy_with_order(node, builder);
    }
    void compute(const TensorCall& call) const override {
        if (call.node.output().quantization) return Operator::compute(call);
        compute_on_words(*this, call);
    }
    void execute(const IntegerCall& call) const override {
        const ir::NodeView& node = call.node;
        const PlacedMatrix a = first_matrix(node);
        const PlacedMatrix b = second_matrix(node);
        const std::vector<std::size_t> a_blocks = leading_blocks(node, 0, matrix_axes);
        const std::vector<std::size_t> b_blocks = leading_blocks(node, 1, matrix_axes);
        const SumScaling scaling(node);
        const auto all_of = [&](std::size_t input, std::uint32_t inference) {
            const ir::Value& value = node.input(input);
            return call.inputs[input] + (value.constant ? 0 : inference * value.shape.elements());
        };
        const std::int32_t a_zero = encoding_of(node.input(0)).zero_point;
        const std::int32_t b_zero = encoding_of(node.input(1)).zero_point;
        std::int32_t* to = call.output;
        for (std::uint32_t inference = 0; inference < call.batch; ++inference) {
            for (std::size_t i = 0; i < a_blocks.size(); ++i) {
                const std::int32_t* const first = all_of(0, inference) + a_blocks[i] * a.elements();
                const std::int32_t* const second = all_of(1, inference) + b_blocks[i] * b.elements();
                for (std::size_t row = 0; row < a.rows; ++row) {
                    for (std::size_t column = 0; column < b.columns; ++column, ++to) {
                        std::int32_t sum = 0;
                        for (std::size_t k = 0; k < a.columns; ++k) {
                            sum = wrapping_add(sum, wrapping_multiply(first[a.place(row, k)] - a_zero,
                                                                      second[b.place(k, column)] - b_zero));
                        }
                        *to = scaling.stored(sum);
                    }
                }
            }
        }
    }
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

ir::ValueId append_matrix_product(ir::LayerReader& layer, const std::vector<ir::ValueId>& inputs,
                                  std::vector<ir::NamedAttribute> attributes,
                                  std::optional<ir::ResultType> type) {
    for (const ir::ValueId input : inputs) {
        const ir::Shape& shape = layer.value(input).shape;
        if (shape.rank() >= matrix_axes) continue;
        layer.fail(fmt::format("it multiplies {}; it must multiply matrices", to_text(shape)));
    }
    if (type) return layer.append_as(*type, "matrix_product", std::move(attributes), inputs);
    return layer.append("matrix_product", std::move(attributes), inputs);
}

bool multiplies_pairs(const ir::NodeView& node) {
    const ir::Value& a = node.input(0);
    const ir::Value& b = node.input(1);
    constexpr std::size_t image_axes = 4;
    const std::size_t rank = a.shape.rank();
    if (a.constant || b.constant || node.node().integer("transposed_a") != 0) return false;
    if (rank <= matrix_axes || rank > image_axes || b.shape.rank() != rank || a.shape[0] != 1) return false;
    for (std::size_t axis = 0; axis + matrix_axes < rank; ++axis) {
        if (a.shape[axis] != b.shape[axis]) return false;
    }
    return true;
}

FixedPoint product_multiplier(const ir::NodeView& node) {
    return fixed_point_of(sum_multiplier(node));
}

std::unique_ptr<ir::Operator> make_matrix_product() {
    return std::make_unique<MatrixProduct>();
}

}  // namespace systole::operators
