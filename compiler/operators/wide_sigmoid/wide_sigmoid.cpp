// The sigmoid or the hyperbolic tangent of 16-bit numbers, by the runtime's table of 256 steps.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "compiler/ir/encoding.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/operator.h"

namespace systole::operators {
namespace {

constexpr std::size_t table_steps = 256;
/// The table covers 2^17 units; beyond, all results are the same. An input of larger scale than the table
/// needs would leave 32 bits, where the runtime's result is undefined.
constexpr std::int32_t table_end = 1 << 30;

/// 2^16 * sigmoid(i / 24), up to 10.7 in 256 steps. Each entry is raised by half of what a chord of the curve
/// misses in its middle, so that the error of the interpolation is as large above as below. The last entry is
/// what all larger numbers have.
const std::array<std::int32_t, table_steps>& sigmoid_table() {
    static const std::array<std::int32_t, table_steps> table = [] {
        std::array<std::int32_t, table_steps> entries{};
        for (std::size_t i = 0; i + 1 < table_steps; ++i) {
            constexpr double step = 1.0 / 24.0;
            const double sigmoid = 1.0 / (1.0 + std::exp(-static_cast<double>(i) * step));
            const double second_derivative = sigmoid * (1.0 - sigmoid) * (1.0 - 2.0 * sigmoid);
            const double raised = sigmoid - second_derivative * step * step / 16.0;
            entries[i] = static_cast<std::int32_t>(std::round(std::ldexp(raised, 16)));
        }
        entries.back() = 0xffff;
        return entries;
    }();
    return table;
}

/// The factor that brings an input to units of 10.7 / 2^17, divided by 2^shift.
struct InputScale {
    std::int32_t multiplier = 0;
    int shift = 0;
};

InputScale input_scale(double scale, bool is_tanh) {
    constexpr double units = 3.0 * 4096.0;
    const auto single = static_cast<float>(scale);
    const float exponent = std::log(single) * (1.0F / std::log(2.0F));
    const float rounded = std::round(exponent);
    constexpr float tolerance = 1e-3F;
    const int left = 12 + static_cast<int>(rounded);
    const bool fits = left == 0 || (is_tanh && left == 1);
    if (std::abs(exponent - rounded) < tolerance && fits) return {3 << left, 0};
    double multiplier = double{single} * units;
    int shift = 0;
    constexpr double half_range = 32767.0 / 2.0;
    constexpr int most = 30;
    while (multiplier <= half_range && shift <= most) {
        ++shift;
        multiplier *= 2.0;
    }
    return {static_cast<std::int32_t>(std::min(multiplier, double{table_end})), shift};
}

std::int32_t in_table_units(std::int32_t number, const InputScale& scale) {
    const std::int64_t half = scale.shift > 0 ? std::int64_t{1} << (scale.shift - 1) : 0;
    const std::int64_t units = (std::int64_t{number} * scale.multiplier + half) >> scale.shift;
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(units, -table_end, table_end));
}

/// The table at a position from 0 to 2^17 - 1, with `bits` bits between the entries; the result has as many
/// more bits.
std::int32_t table_at(std::int32_t position, int bits) {
    const auto entry = static_cast<std::size_t>(position >> bits);
    const std::int32_t between = position & ((1 << bits) - 1);
    const std::int32_t first = sigmoid_table()[entry];
    return (first << bits) + between * (sigmoid_table()[entry + 1] - first);
}

std::int32_t wide_sigmoid_of(std::int32_t number) {
    constexpr int bits = 9;
    constexpr std::int32_t last = 255;
    const std::int32_t magnitude = std::abs(number);
    std::int32_t result = magnitude >> bits >= last ? 0x7fff << 10 : table_at(magnitude, bits);
    result = number >= 0 ? result + (1 << 9) : (1 << 25) - result + (1 << 9) - 1;
    return result >> 10;
}

std::int32_t wide_tanh_of(std::int32_t number) {
    constexpr int bits = 8;
    constexpr std::int32_t last = 255;
    const std::int32_t magnitude = std::abs(number);
    const std::int32_t result = magnitude >> bits >= last ? 0xffff << 8 : table_at(magnitude, bits);
    const std::int32_t rounded =
        number >= 0 ? result - (1 << 23) + (1 << 7) : -result + (1 << 23) + (1 << 7) - 1;
    return rounded >> 8;
}

class WideSigmoid final : public Operator {
public:
    std::string_view name() const override { return "wide_sigmoid"; }
    std::string_view summary() const override {
        return "1 / (1 + exp(-x)) or tanh(x) of 16-bit numbers, as TFLite computes them: from a table of 256 "
               "steps up to 10.7.";
    }
    const std::vector<ir::AttributeDeclaration>& attributes() const override {
        static const std::vector<ir::AttributeDeclaration> declarations{
            {.name = "function", .meaning = "\"sigmoid\" or \"tanh\"", .absent = std::string("sigmoid")}};
        return declarations;
    }
    LeadingOnes leading_ones(const ir::NodeView& /*node*/) const override { return LeadingOnes::Passed; }
    std::optional<std::vector<ir::Attribute>> on_one_image(
        const ir::NodeView& node, const std::vector<bool>& has_batch) const override {
        return kept_batch(node, has_batch);
    }
    std::vector<ir::Shape> output_shapes(const ir::NodeView& node) const override {
        if (node.node().inputs.size() != 1) throw ModelError("it must have exactly 1 input");
        const std::string& function = node.node().text("function");
        if (function != "sigmoid" && function != "tanh") {
            throw ModelError("its function must be \"sigmoid\" or \"tanh\"");
        }
        return {node.input().shape};
    }
    Placement placement() const override { return {.where = "host", .formats = "int16"}; }
    void check_types(const ir::NodeView& node) const override {
        constexpr std::array types{DataType::Int16};
        require_integers(node, types);
        constexpr double only = 1.0 / 32768.0;
        if (encoding_of(node.output()).scale != only) {
            throw ModelError(fmt::format("the scale of its result is {}; it must be 1/32768",
                                         encoding_of(node.output()).scale));
        }
    }
    void execute(const IntegerCall& call) const override {
        const bool is_tanh = call.node.node().text("function") == "tanh";
        const InputScale scale = input_scale(encoding_of(call.node.input()).scale, is_tanh);
        const std::size_t count = call.node.output().shape.elements() * call.batch;
        for (std::size_t i = 0; i < count; ++i) {
            const std::int32_t number = in_table_units(call.inputs[0][i], scale);
            call.output[i] = is_tanh ? wide_tanh_of(number) : wide_sigmoid_of(number);
        }
    }
};

}  // namespace

std::unique_ptr<ir::Operator> make_wide_sigmoid() {
    return std::make_unique<WideSigmoid>();
}

}  // namespace systole::operators
