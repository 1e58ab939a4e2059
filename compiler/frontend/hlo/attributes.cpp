#include "compiler/frontend/hlo/attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "base/message_text.h"
#include "compiler/frontend/hlo/axes.h"
#include "compiler/frontend/hlo/devices.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/model_error.h"

namespace systole::hlo {
namespace {

using InstructionProto = hlo_proto::HloInstructionProto;

/// Sizes, strides and counts: no array has more elements, and products of two of them fit in 64 bits.
constexpr auto most_size = static_cast<std::int64_t>(ir::maximum_elements);

std::int64_t checked(std::string_view what, std::int64_t value, std::int64_t least, std::int64_t most) {
    if (value < least || value > most) {
        throw ModelError(fmt::format("{} is {}; it must be from {} to {}", what, value, least, most));
    }
    return value;
}

std::uint32_t checked_number(std::string_view what, std::int64_t value) {
    return static_cast<std::uint32_t>(checked(what, value, 0, std::numeric_limits<std::int32_t>::max()));
}

template <typename List>
Numbers numbers_of(const List& list) {
    return {list.begin(), list.end()};
}

std::vector<Precision> operand_precision(const hlo_proto::PrecisionConfig& config) {
    constexpr int operands = 2;
    if (config.operand_precision_size() != 0 && config.operand_precision_size() != operands) {
        throw ModelError(
            fmt::format("it states {} of operands; it must state 2",
                        counted(static_cast<std::size_t>(config.operand_precision_size()), "precision")));
    }
    std::vector<Precision> precision;
    for (const std::int32_t number : config.operand_precision()) {
        precision.push_back(static_cast<Precision>(checked("a precision", number, 0, 2)));
    }
    return precision;
}

std::vector<Precision> convolution_precision(const hlo_proto::PrecisionConfig& config) {
    if (config.algorithm() != 0) {
        throw ModelError(
            fmt::format("its dot algorithm is number {}; a convolution must have none", config.algorithm()));
    }
    return operand_precision(config);
}

/// The precision of a dot's operands. Of the algorithms, those are read that a TPU takes a precision for:
/// 1, 3 or 6 products of bfloat16 parts, summed in float32 (BF16_BF16_F32, _X3, _X6).
std::vector<Precision> dot_precision(const hlo_proto::PrecisionConfig& config, ShapeId result,
                                     const ShapeTable& shapes) {
    constexpr std::int32_t bf16_bf16_f32 = 6;
    constexpr std::int32_t bf16_bf16_f32_x6 = 8;
    const std::int32_t algorithm = config.algorithm();
    std::vector<Precision> stated = operand_precision(config);
    if (algorithm == 0) return stated;
    if (algorithm < bf16_bf16_f32 || algorithm > bf16_bf16_f32_x6) {
        throw ModelError(
            fmt::format("its dot algorithm is number {}; those of numbers 6 to 8 are supported", algorithm));
    }
    if (std::ranges::any_of(stated, [](Precision precision) { return precision != Precision::Default; })) {
        throw ModelError(fmt::format(
            "its dot algorithm is number {}, and it states precisions {}; with an algorithm they must be 0",
            algorithm, joined(config.operand_precision())));
    }
    if (shapes[result].is_tuple || shapes[result].type != ElementType::F32) {
        throw ModelError(fmt::format(
            "its dot algorithm is number {}, its result {}; it must be of f32, the type of its sums",
            algorithm, shapes.text_of(result)));
    }
    const auto precision = static_cast<Precision>(algorithm - bf16_bf16_f32);
    return {precision, precision};
}

std::vector<WindowDimension> window_of(const hlo_proto::Window& window) {
    std::vector<WindowDimension> dimensions;
    for (const hlo_proto::WindowDimension& dimension : window.dimensions()) {
        dimensions.push_back(
            {.size = checked("the size of its window", dimension.size(), 1, most_size),
             .stride = checked("the stride of its window", dimension.stride(), 1, most_size),
             .padding_low =
                 checked("the padding of its window", dimension.padding_low(), -most_size, most_size),
             .padding_high =
                 checked("the padding of its window", dimension.padding_high(), -most_size, most_size),
             .window_dilation =
                 checked("the dilation of its window", dimension.window_dilation(), 1, most_size),
             .base_dilation =
                 checked("the dilation of its window's base", dimension.base_dilation(), 1, most_size),
             .is_reversed = dimension.window_reversal()});
    }
    return dimensions;
}

Convolution convolution_of(const InstructionProto& instruction) {
    const auto& numbers = instruction.convolution_dimension_numbers();
    // Older files leave out a count of 1.
    const auto groups = [](std::string_view what, std::int64_t count) {
        return count == 0 ? 1 : checked(what, count, 1, most_size);
    };
    return {.window = window_of(instruction.window()),
            .input = {numbers.input_batch_dimension(), numbers.input_feature_dimension(),
                      numbers_of(numbers.input_spatial_dimensions())},
            .kernel = {numbers.kernel_output_feature_dimension(), numbers.kernel_input_feature_dimension(),
                       numbers_of(numbers.kernel_spatial_dimensions())},
            .output = {numbers.output_batch_dimension(), numbers.output_feature_dimension(),
                       numbers_of(numbers.output_spatial_dimensions())},
            .feature_groups = groups("feature_group_count", instruction.feature_group_count()),
            .batch_groups = groups("batch_group_count", instruction.batch_group_count()),
            .precision = convolution_precision(instruction.precision_config())};
}

/// The place of a word among those that are known.
std::size_t place_of(std::string_view what, std::string_view word, std::span<const std::string_view> known) {
    const auto found = std::ranges::find(known, word);
    if (found == known.end()) {
        throw ModelError(fmt::format("{} is {}; there are {}", what, in_quotes(word), joined(known)));
    }
    return static_cast<std::size_t>(found - known.begin());
}

Compare compare_of(const InstructionProto& instruction) {
    static constexpr std::array<std::string_view, 6> directions{"EQ", "NE", "GE", "GT", "LE", "LT"};
    const std::size_t direction =
        place_of("its comparison_direction", instruction.comparison_direction(), directions);
    const std::size_t type =
        place_of("its comparison_type", instruction.comparison_type(), comparison_type_names);
    return {.direction = static_cast<Direction>(direction), .type = static_cast<ComparisonType>(type)};
}

Gather gather_of(const InstructionProto& instruction) {
    const auto& numbers = instruction.gather_dimension_numbers();
    return {.offset_axes = numbers_of(numbers.offset_dims()),
            .collapsed_axes = numbers_of(numbers.collapsed_slice_dims()),
            .start_index_map = numbers_of(numbers.start_index_map()),
            .operand_batch_axes = numbers_of(numbers.operand_batching_dims()),
            .index_batch_axes = numbers_of(numbers.start_indices_batching_dims()),
            .index_vector_axis = numbers.index_vector_dim(),
            .slice_sizes = numbers_of(instruction.gather_slice_sizes()),
            .indices_are_sorted = instruction.indices_are_sorted()};
}

Scatter scatter_of(const InstructionProto& instruction) {
    const auto& numbers = instruction.scatter_dimension_numbers();
    return {.update_window_axes = numbers_of(numbers.update_window_dims()),
            .inserted_window_axes = numbers_of(numbers.inserted_window_dims()),
            .scatter_axes_to_operand_axes = numbers_of(numbers.scatter_dims_to_operand_dims()),
            .operand_batch_axes = numbers_of(numbers.input_batching_dims()),
            .index_batch_axes = numbers_of(numbers.scatter_indices_batching_dims()),
            .index_vector_axis = numbers.index_vector_dim(),
            .indices_are_sorted = instruction.indices_are_sorted(),
            .indices_are_unique = instruction.unique_indices()};
}

Collective collective_of(const InstructionProto& instruction, Opcode opcode) {
    const bool has_axis = opcode != Opcode::AllReduce;
    if (!has_axis && instruction.dimensions_size() != 0) {
        throw ModelError("it names dimensions; all-reduce has no use for them");
    }
    return {.groups = read_groups(instruction),
            .channel = instruction.channel_id(),
            .has_global_devices = instruction.use_global_device_ids(),
            .axis = has_axis ? only_axis(numbers_of(instruction.dimensions())) : 0};
}

TriangularSolve triangular_solve_of(const hlo_proto::TriangularSolveOptions& options) {
    // Numbers are real, so that the adjoint is the transpose.
    constexpr std::int32_t not_transposed = 1;
    constexpr std::int32_t adjoint = 3;
    const auto transpose = checked("transpose_a", options.transpose_a(), not_transposed, adjoint);
    return {.is_left_side = options.left_side(),
            .is_lower = options.lower(),
            .has_unit_diagonal = options.unit_diagonal(),
            .is_transposed = transpose != not_transposed};
}

/// In the order of CustomTarget.
constexpr std::array<std::string_view, 5> custom_targets{"xla.sdy.GlobalToLocalShape",
                                                         "xla.sdy.LocalToGlobalShape", "SPMDFullToShardShape",
                                                         "SPMDShardToFullShape", "Sharding"};

CustomCall custom_call_of(const InstructionProto& instruction) {
    check_custom_target(instruction);
    const auto found = std::ranges::find(custom_targets, instruction.custom_call_target());
    return {static_cast<CustomTarget>(found - custom_targets.begin())};
}

Slice slice_of(const InstructionProto& instruction) {
    Slice slice;
    for (const auto& dimension : instruction.slice_dimensions()) {
        slice.dimensions.push_back({dimension.start(), dimension.limit(),
                                    checked("the stride of its slice", dimension.stride(), 1, most_size)});
    }
    return slice;
}

Padding padding_of(const InstructionProto& instruction) {
    Padding padding;
    for (const auto& dimension : instruction.padding_config().dimensions()) {
        padding.dimensions.push_back(
            {checked("its padding", dimension.edge_padding_low(), -most_size, most_size),
             checked("its padding", dimension.edge_padding_high(), -most_size, most_size),
             checked("its interior padding", dimension.interior_padding(), 0, most_size)});
    }
    return padding;
}

}  // namespace

std::unique_ptr<const Attributes> read_attributes(const InstructionProto& instruction, Opcode opcode,
                                                  ShapeId shape, ShapeTable& shapes) {
    const auto made = [](auto attributes) {
        return std::make_unique<const Attributes>(std::move(attributes));
    };
    switch (traits_of(opcode).attributes) {
        case AttributeKind::None:
        case AttributeKind::Call:
            return nullptr;
        case AttributeKind::Parameter:
            return made(Parameter{checked_number("its parameter_number", instruction.parameter_number())});
        case AttributeKind::Constant:
            return made(Constant{literal_bytes(instruction.literal(), shape, shapes)});
        case AttributeKind::TupleElement:
            return made(TupleElement{checked_number("its tuple_index", instruction.tuple_index())});
        case AttributeKind::Dimensions:
            return made(Dimensions{numbers_of(instruction.dimensions())});
        case AttributeKind::Slice:
            return made(slice_of(instruction));
        case AttributeKind::DynamicSlice:
            return made(DynamicSlice{numbers_of(instruction.dynamic_slice_sizes())});
        case AttributeKind::Padding:
            return made(padding_of(instruction));
        case AttributeKind::Dot: {
            const auto& numbers = instruction.dot_dimension_numbers();
            return made(Dot{.left_contracting = numbers_of(numbers.lhs_contracting_dimensions()),
                            .right_contracting = numbers_of(numbers.rhs_contracting_dimensions()),
                            .left_batch = numbers_of(numbers.lhs_batch_dimensions()),
                            .right_batch = numbers_of(numbers.rhs_batch_dimensions()),
                            .precision = dot_precision(instruction.precision_config(), shape, shapes),
                            .has_algorithm = instruction.precision_config().algorithm() != 0});
        }
        case AttributeKind::Convolution:
            return made(convolution_of(instruction));
        case AttributeKind::Window:
            return made(Window{window_of(instruction.window())});
        case AttributeKind::Compare:
            return made(compare_of(instruction));
        case AttributeKind::Gather:
            return made(gather_of(instruction));
        case AttributeKind::Scatter:
            return made(scatter_of(instruction));
        case AttributeKind::Sort:
            return made(Sort{only_axis(numbers_of(instruction.dimensions())), instruction.is_stable()});
        case AttributeKind::Topk:
            return made(Topk{instruction.k(), instruction.largest()});
        case AttributeKind::Collective:
            return made(collective_of(instruction, opcode));
        case AttributeKind::Permutation:
            return made(Permutation{read_pairs(instruction), instruction.channel_id()});
        case AttributeKind::RandomBits:
            return made(RandomBits{static_cast<RandomAlgorithm>(
                checked("its rng_algorithm", instruction.rng_algorithm(), 0, 2))});
        case AttributeKind::ReducedPrecision: {
            constexpr std::int64_t most_exponent_bits = 8;
            constexpr std::int64_t most_mantissa_bits = 23;
            return made(ReducedPrecision{
                static_cast<std::int32_t>(
                    checked("exponent_bits", instruction.exponent_bits(), 1, most_exponent_bits)),
                static_cast<std::int32_t>(
                    checked("mantissa_bits", instruction.mantissa_bits(), 0, most_mantissa_bits))});
        }
        case AttributeKind::Cholesky:
            return made(Cholesky{instruction.cholesky_options().lower()});
        case AttributeKind::TriangularSolve:
            return made(triangular_solve_of(instruction.triangular_solve_options()));
        case AttributeKind::BatchNorm:
            return made(BatchNorm{instruction.epsilon(), instruction.feature_index()});
        case AttributeKind::CustomCall:
            return made(custom_call_of(instruction));
    }
    throw std::logic_error("an instruction has unknown attributes");
}

void check_custom_target(const InstructionProto& instruction) {
    if (std::ranges::find(custom_targets, instruction.custom_call_target()) != custom_targets.end()) return;
    throw ModelError(fmt::format("it calls {}; custom calls are not supported",
                                 in_quotes(instruction.custom_call_target())));
}

std::optional<std::string_view> find_attribute(const FrontendAttributes& attributes, std::string_view key) {
    for (const auto& [name, text] : attributes) {
        if (name == key) return text;
    }
    return std::nullopt;
}

FrontendAttributes read_frontend_attributes(const hlo_proto::FrontendAttributes& attributes) {
    FrontendAttributes pairs;
    for (const auto& [key, text] : attributes.map()) pairs.emplace_back(key, text);
    std::ranges::sort(pairs);
    return pairs;
}

}  // namespace systole::hlo
