#include "compiler/target/edge_tpu/instructions.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>
#include <stdexcept>

#include "base/fixed_point.h"
#include "base/rounding.h"
#include "compiler/ir/encoding.h"
#include "compiler/operators/add/add.h"
#include "compiler/operators/integer_softmax/integer_softmax.h"
#include "compiler/operators/integer_types.h"
#include "compiler/operators/multiply/multiply.h"
#include "compiler/operators/pairwise.h"
#include "compiler/operators/prelu/prelu.h"
#include "compiler/operators/scaled_sum.h"
#include "compiler/operators/squared_difference/squared_difference.h"
#include "compiler/operators/strided.h"
#include "compiler/operators/subtract/subtract.h"
#include "compiler/operators/weighted.h"
#include "hw/isa/tile_layout.h"
#include "hw/math/elementwise.h"

namespace systole::edge_tpu {
namespace {

using isa::Register;

std::uint32_t bits(std::int32_t value) {
    return static_cast<std::uint32_t>(value);
}

void add_margins(const isa::TileLayout& layout, const isa::LayoutRegisters& names, RegisterValues& values) {
    values.push_back({names.top, static_cast<std::uint32_t>(layout.top)});
    values.push_back({names.bottom, static_cast<std::uint32_t>(layout.bottom)});
    values.push_back({names.left, static_cast<std::uint32_t>(layout.left)});
    values.push_back({names.right, static_cast<std::uint32_t>(layout.right)});
}

void add_layout(const Network& network, const Part& part, const isa::LayoutRegisters& names,
                RegisterValues& values) {
    const Tensor& tensor = network.tensors[part.tensor];
    const bool is_image = tensor.form == Form::Image;
    values.push_back({names.lines, is_image ? part.shape.height : 1});
    values.push_back({names.columns, is_image ? part.shape.width : 1});
    values.push_back(
        {names.channels, is_image ? part.shape.channels : static_cast<std::uint32_t>(part.shape.elements())});
    values.push_back({names.pixel_bytes, is_image ? tensor.shape.channels : 0});
    add_margins(layout_of(network, part), names, values);
}

void add_window(const ir::Window& window, RegisterValues& values) {
    values.push_back({Register::WindowKernelHeight, window.kernel_height});
    values.push_back({Register::WindowKernelWidth, window.kernel_width});
    values.push_back({Register::WindowStrideY, window.stride_y});
    values.push_back({Register::WindowStrideX, window.stride_x});
    values.push_back({Register::WindowDilationY, window.dilation_y});
    values.push_back({Register::WindowDilationX, window.dilation_x});
    values.push_back({Register::WindowPadTop, window.pad_top});
    values.push_back({Register::WindowPadLeft, window.pad_left});
}

void add_results(const ir::NodeView& node, const operators::Clamp& clamp, RegisterValues& values) {
    values.push_back({Register::OutputZeroPoint, bits(ir::encoding_of(node.output()).zero_point), true});
    values.push_back({Register::OutputMinimum, bits(clamp.minimum), true});
    values.push_back({Register::OutputMaximum, bits(clamp.maximum), true});
}

isa::Scaling scaling_of(const ir::Node& node) {
    switch (operators::rounding_of(node)) {
        case Rounding::Tflite:
            return isa::Scaling::FixedPoint;
        case Rounding::HalfToEven:
            return isa::Scaling::ToEven;
        case Rounding::FloatHalfEven:
            return isa::Scaling::Float;
    }
    throw std::logic_error("a rounding that does not exist");
}

using Words = std::array<std::uint32_t, 2>;

Words words_of(const FixedPoint& multiplier) {
    return {bits(multiplier.multiplier), bits(multiplier.shift)};
}
Words words_of(float multiplier) {
    return {std::bit_cast<std::uint32_t>(multiplier), 0};
}
Words words_of(double multiplier) {
    const auto both = std::bit_cast<std::uint64_t>(multiplier);
    return {static_cast<std::uint32_t>(both), static_cast<std::uint32_t>(both >> 32U)};
}

template <class Multipliers>
std::vector<Words> all_words(const Multipliers& multipliers) {
    std::vector<Words> words;
    words.reserve(multipliers.size());
    for (const auto& each : multipliers) words.push_back(words_of(each));
    return words;
}

/// By output channel. Zeros in a graph without weights, whose scales are not known.
std::vector<Words> multipliers_of(const ir::NodeView& node, isa::Scaling scaling) {
    if (!node.graph().has_weights) return std::vector<Words>(node.output_map().channels);
    switch (scaling) {
        case isa::Scaling::Real:
            return all_words(operators::real_multipliers_of(node));
        case isa::Scaling::Float:
            return all_words(operators::float_multipliers_of(node));
        case isa::Scaling::FixedPoint:
        case isa::Scaling::ToEven:
            return all_words(operators::multipliers_of(node));
    }
    throw std::logic_error("a scaling that does not exist");
}

/// Whether each output channel has a multiplier of its own. It must not depend on whether weights are known:
/// of a network in float whose weights are not, each will have.
bool is_by_channel(const ir::NodeView& node) {
    const ir::Quantization& scales = *node.constant(0)->quantization;
    if (scales.axis) return true;
    return !node.graph().has_weights && scales.scales.size() == 1 && scales.scales.front() == 1.0;
}

void push(std::vector<std::uint8_t>& bytes, std::uint32_t word) {
    for (unsigned i = 0; i < isa::tile_word; ++i) bytes.push_back(static_cast<std::uint8_t>(word >> (8 * i)));
}

/// Whether some values of a graph are int8 and some uint8.
bool has_both_signs(const ir::Graph& graph) {
    bool has_signed = false;
    bool has_unsigned = false;
    for (const ir::Value& value : graph.values) {
        if (value.constant) continue;
        has_signed = has_signed || value.type == DataType::Int8;
        has_unsigned = has_unsigned || value.type == DataType::Uint8;
    }
    return has_signed && has_unsigned;
}

/// 2^exponent as a multiplier, from 2^-31 to 2^30.
Words power_of_two(std::int32_t exponent) {
    constexpr std::int32_t half = 1 << 30;
    return words_of(FixedPoint{.multiplier = half, .shift = exponent + 1});
}

void add_multiplier(Register first, Register second, const Words& words, RegisterValues& values) {
    values.push_back({first, words[0], true});
    values.push_back({second, words[1], true});
}

/// The product that leaves a constant operand at each pixel: sums of nothing but biases, which are the stored
/// numbers.
void add_constant(const ir::NodeView& node, const Step& step, ProductInstruction& made) {
    const DataType type = node.input(step.operand).type;
    made.multiply.scaling = isa::Scaling::FixedPoint;
    made.multiply.is_signed = is_signed(type);
    RegisterValues& values = made.registers;
    values.push_back({Register::SourceZeroPoint, 0, true});
    values.push_back({Register::MultiplyWeightZeroPoint, 0, true});
    values.push_back({Register::OutputZeroPoint, 0, true});
    values.push_back({Register::OutputMinimum, bits(lowest_of(type)), true});
    values.push_back({Register::OutputMaximum, bits(highest_of(type)), true});
    add_multiplier(Register::VectorMultiplier, Register::VectorShift, power_of_two(0), values);
}

/// The biases of that product: a number for each channel.
std::vector<std::int32_t> constant_by_channel(const ir::NodeView& node, const Step& step) {
    const ir::Value& constant = node.input(step.operand);
    const std::span<const std::uint8_t> bytes = constant.constant->bytes();
    std::vector<std::int32_t> numbers;
    for (std::uint32_t channel = 0; channel < step.result.shape.channels; ++channel) {
        const std::uint8_t byte = bytes[bytes.size() == 1 ? 0 : channel];
        numbers.push_back(is_signed(constant.type) ? static_cast<std::int8_t>(byte) : byte);
    }
    return numbers;
}

/// The registers of a step of prelu. One of the two numbers that are added at the end is always 0.
void add_prelu(const ir::NodeView& node, const Step& step, VectorInstruction& made) {
    const ir::Encoding x = ir::encoding_of(node.input(0));
    const ir::Encoding slope = ir::encoding_of(node.input(1));
    const ir::Encoding result = ir::encoding_of(node.output());
    const bool of_x = step.piece == Piece::AtMostZero;
    const bool is_sum = step.piece == Piece::Together;
    const std::int32_t zero = of_x ? x.zero_point : result.zero_point;
    RegisterValues& values = made.registers;
    made.vector.scaling = isa::Scaling::FixedPoint;
    values.push_back({Register::VectorZeroPointA, bits(is_sum ? zero : x.zero_point), true});
    values.push_back({Register::VectorZeroPointB, bits(is_sum ? zero : slope.zero_point), true});
    values.push_back({Register::OutputZeroPoint, bits(zero), true});
    values.push_back(
        {Register::OutputMinimum, bits(step.piece == Piece::Above ? zero : lowest_of(result.type)), true});
    values.push_back({Register::OutputMaximum, bits(of_x ? zero : highest_of(result.type)), true});
    const Words one = power_of_two(0);
    if (is_sum) {
        add_multiplier(Register::VectorMultiplierA, Register::VectorShiftA, one, values);
        add_multiplier(Register::VectorMultiplierB, Register::VectorShiftB, one, values);
        add_multiplier(Register::VectorMultiplier, Register::VectorShift,
                       power_of_two(-math::addition_left_shift_8_bit), values);
        return;
    }
    const operators::PreluScaling scaling = operators::prelu_scaling(node);
    const Words multiplier = of_x                         ? one
                             : step.piece == Piece::Below ? words_of(scaling.below)
                                                          : words_of(scaling.above);
    add_multiplier(Register::VectorMultiplier, Register::VectorShift, multiplier, values);
}

isa::WeightBlocks blocks_of(const ProductInstruction& made, const isa::TileGrid& grid) {
    isa::Registers registers;
    for (const RegisterValue& each : made.registers) registers.set(each.reg, each.value);
    return isa::weight_blocks(made.multiply, registers, grid);
}

}  // namespace

void add_source(const Network& network, const Part& part, RegisterValues& values) {
    add_layout(network, part, isa::source_registers, values);
}

void add_result(const Network& network, const Part& part, RegisterValues& values) {
    add_layout(network, part, isa::result_registers, values);
}

std::uint32_t address_of(const Network& network, const Part& part) {
    return static_cast<std::uint32_t>(layout_of(network, part).address);
}

ProductInstruction product_of(const Network& network, const Step& step) {
    const ir::NodeView node(*network.graph, network.graph->nodes[step.node]);
    ProductInstruction made;
    made.multiply.product = step.product;
    made.multiply.has_signed_weights = true;
    made.multiply.with_margins = step.with_margins;
    made.multiply.result = address_of(network, step.result);
    made.multiply.source = address_of(network, step.source);
    RegisterValues& values = made.registers;
    add_source(network, step.source, values);
    add_result(network, step.result, values);
    if (step.product != isa::TileProduct::Dense) add_window(step.window.value_or(ir::Window{}), values);
    if (step.piece == Piece::Constant) {
        add_constant(node, step, made);
        made.blocks = blocks_of(made, network.grid);
        return made;
    }
    made.multiply.scaling =
        operators::has_real_multiplier(node.node()) ? isa::Scaling::Real : scaling_of(node.node());
    made.multiply.is_signed = is_signed(node.output().type);
    made.multiply.by_channel = made.multiply.scaling == isa::Scaling::Real || is_by_channel(node);
    values.push_back({Register::SourceZeroPoint, bits(ir::encoding_of(node.input()).zero_point), true});
    values.push_back({Register::MultiplyWeightZeroPoint, bits(operators::weight_zero_point(node)), true});
    add_results(node, operators::clamp_of(node), values);
    if (!made.multiply.by_channel) {
        add_multiplier(Register::VectorMultiplier, Register::VectorShift,
                       multipliers_of(node, made.multiply.scaling).front(), values);
    }
    made.blocks = blocks_of(made, network.grid);
    return made;
}

isa::Interpolation interpolation_of(const ir::Graph& graph, const Step& step) {
    const ir::Node& node = graph.nodes[step.node];
    const std::string& coordinates = node.text("coordinates");
    return {.in_float = graph.values[node.output()].type == DataType::Uint8,
            .half_pixel = coordinates == "half_pixel",
            .align_corners = coordinates == "align_corners"};
}

VectorInstruction vector_of(const Network& network, const Step& step) {
    const ir::NodeView node(*network.graph, network.graph->nodes[step.node]);
    VectorInstruction made;
    isa::TileVector& vector = made.vector;
    RegisterValues& values = made.registers;
    vector.operation = step.operation;
    vector.is_signed = is_signed(node.output().type);
    vector.with_margins = step.with_margins;
    vector.result = address_of(network, step.result);
    vector.source = address_of(network, step.source);
    add_source(network, step.source, values);
    add_result(network, step.result, values);
    if (step.other) {
        vector.other = address_of(network, *step.other);
        const Tensor& other = network.tensors[step.other->tensor];
        values.push_back({Register::OtherPixelBytes, other.form == Form::Image ? other.shape.channels : 0});
        add_margins(layout_of(network, *step.other), isa::other_registers, values);
    }
    if (step.window) add_window(*step.window, values);
    if (step.piece != Piece::Whole && step.piece != Piece::Reversed) {
        add_prelu(node, step, made);
        return made;
    }
    const DataType type = node.output().type;
    const operators::Clamp whole_type{lowest_of(type), highest_of(type)};
    if (vector.operation == isa::TileOperation::Interpolate) {
        const isa::Interpolation rule = interpolation_of(*network.graph, step);
        vector.scaling = rule.in_float ? isa::Scaling::Float : isa::Scaling::FixedPoint;
        vector.half_pixel = rule.half_pixel;
        vector.align_corners = rule.align_corners;
    }
    if (!vector.scales()) {
        if (vector.operation == isa::TileOperation::Normalize) {
            values.push_back(
                {Register::VectorZeroPointA, bits(ir::encoding_of(node.input(0)).zero_point), true});
        } else if (has_both_signs(*network.graph)) {
            // The zero point of an operand is not used, but may be left from a layer of the other signedness.
            values.push_back({Register::VectorZeroPointA, 0, true});
        }
        add_results(node, whole_type, values);
        // Shares of a softmax are above the lowest number of the type.
        if (vector.operation == isa::TileOperation::Softmax) {
            values.push_back({Register::OutputZeroPoint, bits(whole_type.minimum), true});
        }
        return made;
    }
    values.push_back({Register::VectorZeroPointA, bits(ir::encoding_of(node.input(0)).zero_point), true});
    if (vector.operation == isa::TileOperation::BiasedSumPool) {
        vector.scaling = isa::Scaling::Float;
        add_results(node, whole_type, values);
        const operators::BiasedSum sum = operators::biased_sum(node);
        add_multiplier(Register::VectorMultiplier, Register::VectorShift, words_of(sum.factor), values);
        add_multiplier(Register::VectorMultiplierB, Register::VectorShiftB, words_of(sum.bias), values);
        return made;
    }
    if (vector.operation == isa::TileOperation::SumPool) {
        vector.scaling = isa::Scaling::FixedPoint;
        add_results(node, whole_type, values);
        add_multiplier(Register::VectorMultiplier, Register::VectorShift,
                       words_of(operators::sum_factor(node, node.node().is("reduce_mean"))), values);
        return made;
    }
    const bool is_difference = vector.operation == isa::TileOperation::Subtract;
    const bool is_square = vector.operation == isa::TileOperation::SquaredDifference;
    vector.scaling = is_difference || is_square ? isa::Scaling::FixedPoint : scaling_of(node.node());
    values.push_back({Register::VectorZeroPointB, bits(ir::encoding_of(node.input(1)).zero_point), true});
    add_results(node, is_square ? whole_type : operators::clamp_of(node), values);
    const bool is_sum = step.operation == isa::TileOperation::Add;
    if (vector.scaling == isa::Scaling::Float && is_sum) {
        const auto [a, b] = operators::float_sum_multipliers(node);
        add_multiplier(Register::VectorMultiplierA, Register::VectorShiftA, words_of(a), values);
        add_multiplier(Register::VectorMultiplierB, Register::VectorShiftB, words_of(b), values);
    } else if (vector.scaling == isa::Scaling::Float) {
        add_multiplier(Register::VectorMultiplier, Register::VectorShift,
                       words_of(operators::float_product_multiplier(node)), values);
    } else {
        const operators::PairScaling scaling = is_square       ? operators::squared_difference_scaling(node)
                                               : is_difference ? operators::difference_scaling(node)
                                               : is_sum        ? operators::sum_scaling(node)
                                                               : operators::product_scaling(node);
        add_multiplier(Register::VectorMultiplierA, Register::VectorShiftA, words_of(scaling.a), values);
        add_multiplier(Register::VectorMultiplierB, Register::VectorShiftB, words_of(scaling.b), values);
        add_multiplier(Register::VectorMultiplier, Register::VectorShift, words_of(scaling.result), values);
    }
    return made;
}

MoveInstruction move_of(const Network& network, const Step& step) {
    MoveInstruction made;
    made.move = {.keeps = step.keeps,
                 .repeats = step.moved.lines.repeats,
                 .result = address_of(network, step.result),
                 .source = address_of(network, step.source)};
    add_source(network, step.source, made.registers);
    add_result(network, step.result, made.registers);
    const auto add = [&](Register reg, std::int64_t value) {
        made.registers.push_back({reg, static_cast<std::uint32_t>(value)});
    };
    add(Register::WindowStrideY, step.moved.lines.stride);
    add(Register::WindowStrideX, step.moved.columns.stride);
    add(Register::WindowDilationY, step.moved.lines.dilation);
    add(Register::WindowDilationX, step.moved.columns.dilation);
    add(Register::WindowPadTop, step.moved.lines.pad);
    add(Register::WindowPadLeft, step.moved.columns.pad);
    const auto outside = static_cast<std::uint8_t>(step.outside);
    if (!step.keeps) made.registers.push_back({Register::WindowPadValue, outside, true});
    return made;
}

PermuteInstruction permute_of(const Network& network, const Step& step) {
    PermuteInstruction made{.permute = {.order = step.order,
                                        .result = address_of(network, step.result),
                                        .source = address_of(network, step.source)},
                            .registers = {}};
    add_source(network, step.source, made.registers);
    add_result(network, step.result, made.registers);
    return made;
}

std::vector<std::uint8_t> table_of(const Network& network, const Step& step) {
    const std::uint32_t units =
        step.kind == StepKind::Vector ? isa::TileVector{.operation = step.operation}.table_units() : 0;
    std::vector<std::uint8_t> bytes(std::size_t{units} * isa::tile_unit_bytes);
    if (units == 0 || !network.graph->has_weights) return bytes;
    if (step.piece == Piece::Reversed) {
        // -1 - x, or 255 - x: the complement of the byte.
        for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(~i);
        return bytes;
    }
    const ir::NodeView node(*network.graph, network.graph->nodes[step.node]);
    if (step.operation == isa::TileOperation::Lookup) {
        const std::span<const std::uint8_t> table = node.constant(0)->constant->bytes();
        std::ranges::copy(table, bytes.begin());
        return bytes;
    }
    bytes.clear();
    for (const std::int32_t each : operators::softmax_exponentials(node)) push(bytes, bits(each));
    return bytes;
}

std::vector<std::uint8_t> constant_image(const Network& network, const Step& step) {
    const ir::NodeView node(*network.graph, network.graph->nodes[step.node]);
    const ir::Value& constant = node.input(step.operand);
    std::vector<std::uint8_t> bytes(step.result.shape.elements());
    operators::copy_view(operators::broadcast_view(constant.shape, node.output().shape), 1,
                         constant.constant->bytes().data(), bytes.data());
    return bytes;
}

std::vector<std::uint8_t> block_of(const Network& network, const Step& step,
                                   const ProductInstruction& product, std::uint64_t group) {
    const isa::WeightBlocks& blocks = product.blocks;
    const ir::NodeView node(*network.graph, network.graph->nodes[step.node]);
    if (!node.graph().has_weights) return std::vector<std::uint8_t>(blocks.block_bytes());
    const bool is_constant = step.piece == Piece::Constant;
    const std::vector<std::int32_t> bias =
        is_constant ? constant_by_channel(node, step) : operators::bias_of(node);
    // A transposed convolution meets the kernel from its end.
    const bool is_transposed = node.node().is("transposed_convolution");
    const std::uint64_t channels = blocks.weights / step.window.value_or(ir::Window{}).kernel_elements();
    const std::uint64_t first = step.first_output + group * network.grid.lanes;
    const std::uint64_t count = blocks.outputs_of(group, network.grid);
    std::vector<std::uint8_t> bytes;
    bytes.reserve(blocks.block_bytes());
    for (std::uint64_t lane = 0; lane < blocks.lanes; ++lane) {
        push(bytes, lane < count ? bits(bias[first + lane]) : 0);
    }
    if (product.multiply.by_channel) {
        const std::vector<Words> multipliers = multipliers_of(node, product.multiply.scaling);
        const std::size_t rows = blocks.parameter_rows - 1;
        for (std::size_t row = 0; row < rows; ++row) {
            for (std::uint64_t lane = 0; lane < blocks.lanes; ++lane) {
                push(bytes, lane < count ? multipliers[first + lane].at(row) : 0);
            }
        }
    }
    if (is_constant) {
        bytes.resize(blocks.block_bytes());
        return bytes;
    }
    const std::span<const std::int8_t> weights = operators::known_weights(node);
    const std::uint64_t outputs = node.output_map().channels;
    // Weights behind the last one are the zero point, as those of the chip's own files.
    const auto zero_point = static_cast<std::uint8_t>(operators::weight_zero_point(node));
    const std::size_t begin = bytes.size();
    bytes.resize(blocks.block_bytes(), zero_point);
    for (std::uint64_t k = 0; k < blocks.weights; ++k) {
        std::uint8_t* const row =
            bytes.data() + begin + k / isa::tile_word * blocks.row_bytes() + k % isa::tile_word;
        const std::uint64_t known =
            is_transposed ? blocks.weights - channels * (k / channels + 1) + k % channels : k;
        const std::int8_t* const from = weights.data() + known * outputs + first;
        for (std::uint64_t lane = 0; lane < count; ++lane) {
            row[lane * isa::tile_word] = static_cast<std::uint8_t>(from[lane]);
        }
    }
    return bytes;
}

}  // namespace systole::edge_tpu
