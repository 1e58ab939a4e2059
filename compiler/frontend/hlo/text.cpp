// Modules as texts.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string_view>

#include "base/message_text.h"
#include "compiler/frontend/hlo.h"

namespace systole::hlo {
namespace {

/// One attribute behind an instruction, nothing for an empty list: " name=1,2".
std::string list_text(std::string_view name, const Numbers& numbers) {
    return numbers.empty() ? "" : fmt::format(" {}={}", name, listed(numbers));
}

/// The same for elements with a text of their own.
template <typename List, typename TextOf>
std::string list_text(std::string_view name, const List& list, const TextOf& text_of,
                      std::string_view separator = ",") {
    std::string text;
    for (const auto& element : list) {
        text += text.empty() ? fmt::format(" {}=", name) : std::string(separator);
        text += text_of(element);
    }
    return text;
}

std::string flag_text(std::string_view name, bool is_set) {
    return is_set ? fmt::format(" {}", name) : "";
}

template <typename Number>
Number element_at(const std::vector<std::uint8_t>& bytes, std::size_t i) {
    Number number{};
    std::memcpy(&number, &bytes[i * sizeof number], sizeof number);
    return number;
}

std::string element_text(const std::vector<std::uint8_t>& bytes, ElementType type, std::size_t i) {
    switch (type) {
        case ElementType::Pred:
            return bytes[i] != 0 ? "true" : "false";
        case ElementType::S8:
            return fmt::format("{}", element_at<std::int8_t>(bytes, i));
        case ElementType::S16:
            return fmt::format("{}", element_at<std::int16_t>(bytes, i));
        case ElementType::S32:
            return fmt::format("{}", element_at<std::int32_t>(bytes, i));
        case ElementType::S64:
            return fmt::format("{}", element_at<std::int64_t>(bytes, i));
        case ElementType::U8:
            return fmt::format("{}", element_at<std::uint8_t>(bytes, i));
        case ElementType::U16:
            return fmt::format("{}", element_at<std::uint16_t>(bytes, i));
        case ElementType::U32:
            return fmt::format("{}", element_at<std::uint32_t>(bytes, i));
        case ElementType::U64:
            return fmt::format("{}", element_at<std::uint64_t>(bytes, i));
        case ElementType::F16:
            return fmt::format("0x{:04x}", element_at<std::uint16_t>(bytes, i));
        case ElementType::Bf16: {
            constexpr unsigned lower_bits = 16;
            const std::uint32_t bits = std::uint32_t{element_at<std::uint16_t>(bytes, i)} << lower_bits;
            float number = 0;
            std::memcpy(&number, &bits, sizeof number);
            return fmt::format("{}", number);
        }
        case ElementType::F32:
            return fmt::format("{}", element_at<float>(bytes, i));
    }
    throw std::logic_error("a constant has an unknown type");
}

/// FNV-1a: shows that two constants differ.
std::uint64_t checksum(const std::vector<std::uint8_t>& bytes) {
    constexpr std::uint64_t prime = 0x100000001b3;
    std::uint64_t sum = 0xcbf29ce484222325;
    for (const std::uint8_t byte : bytes) sum = (sum ^ byte) * prime;
    return sum;
}

constexpr std::array<std::string_view, 3> precision_names{"default", "high", "highest"};
constexpr std::array<std::string_view, 6> direction_names{"eq", "ne", "ge", "gt", "le", "lt"};
constexpr std::array<std::string_view, 5> comparison_names{"", " float", " total_order", " signed",
                                                           " unsigned"};
constexpr std::array<std::string_view, 3> algorithm_names{"default", "threefry", "philox"};
constexpr std::array<std::string_view, 5> target_names{"global_to_local_shape", "local_to_global_shape",
                                                       "full_to_shard_shape", "shard_to_full_shape",
                                                       "sharding"};

template <std::size_t count, typename Enum>
std::string_view name_in(const std::array<std::string_view, count>& names, Enum value) {
    return names.at(static_cast<std::size_t>(value));
}

std::string precision_text(const std::vector<Precision>& precision, bool has_algorithm = false) {
    const bool is_default =
        std::ranges::all_of(precision, [](Precision p) { return p == Precision::Default; });
    if (is_default && !has_algorithm) return "";
    return list_text("precision", precision, [](Precision p) { return name_in(precision_names, p); });
}

/// What is not the default of each dimension: "3s2p1:1d1:2r" is size, stride, edges, dilation of window and
/// base, reversal.
std::string window_text(const std::vector<WindowDimension>& window) {
    return list_text("window", window, [](const WindowDimension& dimension) {
        std::string text = fmt::format("{}", dimension.size);
        if (dimension.stride != 1) text += fmt::format("s{}", dimension.stride);
        if (dimension.padding_low != 0 || dimension.padding_high != 0) {
            text += fmt::format("p{}:{}", dimension.padding_low, dimension.padding_high);
        }
        if (dimension.window_dilation != 1 || dimension.base_dilation != 1) {
            text += fmt::format("d{}:{}", dimension.window_dilation, dimension.base_dilation);
        }
        if (dimension.is_reversed) text += "r";
        return text;
    });
}

std::string axes_text(std::string_view name, const ConvolutionAxes& axes) {
    return fmt::format(" {}={},{},{}", name, axes.batch, axes.feature, listed(axes.spatial));
}

std::string groups_text(const std::vector<std::vector<std::uint32_t>>& groups) {
    return list_text("groups", groups, listed<std::vector<std::uint32_t>>, ";");
}

std::string sharding_text(const Sharding& sharding) {
    std::string text(name_in(sharding_kind_names, sharding.kind));
    if (!sharding.tiles.empty()) text += fmt::format(" [{}]", listed(sharding.tiles));
    if (!sharding.devices.empty()) text += fmt::format(" on {}", listed(sharding.devices));
    for (const Sharding::Kind kind : sharding.last_tiles)
        text += fmt::format(" last {}", name_in(sharding_kind_names, kind));
    for (const Sharding& part : sharding.parts) text += fmt::format(" ({})", sharding_text(part));
    return text;
}

/// The text of each kind of attributes, with a space before it.
struct AttributeText {
    const Shape& shape;  ///< of the result
    Opcode opcode;

    std::string operator()(const Parameter& parameter) const { return fmt::format(" {}", parameter.number); }
    std::string operator()(const Constant& constant) const {
        constexpr std::size_t most_shown = 8;
        std::string text;
        const std::size_t shown = std::min<std::size_t>(shape.elements, most_shown);
        for (std::size_t i = 0; i < shown; ++i) {
            text += fmt::format("{}{}", i == 0 ? " " : ",", element_text(constant.bytes, shape.type, i));
        }
        if (shape.elements > most_shown)
            text += fmt::format(",... checksum={:016x}", checksum(constant.bytes));
        return text;
    }
    std::string operator()(const TupleElement& element) const { return fmt::format(" {}", element.index); }
    std::string operator()(const Dimensions& dimensions) const {
        return list_text("dimensions", dimensions.dimensions);
    }
    std::string operator()(const Slice& slice) const {
        return list_text("slice", slice.dimensions, [](const SliceDimension& dimension) {
            const std::string stride = dimension.stride == 1 ? "" : fmt::format(":{}", dimension.stride);
            return fmt::format("{}:{}{}", dimension.start, dimension.limit, stride);
        });
    }
    std::string operator()(const DynamicSlice& slice) const { return list_text("sizes", slice.sizes); }
    std::string operator()(const Padding& padding) const {
        return list_text("padding", padding.dimensions, [](const PaddingDimension& dimension) {
            const std::string interior =
                dimension.interior == 0 ? "" : fmt::format(":{}", dimension.interior);
            return fmt::format("{}:{}{}", dimension.low, dimension.high, interior);
        });
    }
    std::string operator()(const Dot& dot) const {
        return list_text("left_contracting", dot.left_contracting) +
               list_text("right_contracting", dot.right_contracting) +
               list_text("left_batch", dot.left_batch) + list_text("right_batch", dot.right_batch) +
               precision_text(dot.precision, dot.has_algorithm);
    }
    std::string operator()(const Convolution& convolution) const {
        std::string text = window_text(convolution.window) + axes_text("input", convolution.input) +
                           axes_text("kernel", convolution.kernel) + axes_text("output", convolution.output);
        if (convolution.feature_groups != 1)
            text += fmt::format(" feature_groups={}", convolution.feature_groups);
        if (convolution.batch_groups != 1) text += fmt::format(" batch_groups={}", convolution.batch_groups);
        return text + precision_text(convolution.precision);
    }
    std::string operator()(const Window& window) const { return window_text(window.dimensions); }
    std::string operator()(const Compare& compare) const {
        return fmt::format(" {}{}", name_in(direction_names, compare.direction),
                           name_in(comparison_names, compare.type));
    }
    std::string operator()(const Gather& gather) const {
        return list_text("offset", gather.offset_axes) + list_text("collapsed", gather.collapsed_axes) +
               list_text("start_index_map", gather.start_index_map) +
               list_text("operand_batch", gather.operand_batch_axes) +
               list_text("index_batch", gather.index_batch_axes) +
               fmt::format(" index_vector={}", gather.index_vector_axis) +
               list_text("sizes", gather.slice_sizes) + flag_text("sorted", gather.indices_are_sorted);
    }
    std::string operator()(const Scatter& scatter) const {
        return list_text("update_window", scatter.update_window_axes) +
               list_text("inserted_window", scatter.inserted_window_axes) +
               list_text("to_operand", scatter.scatter_axes_to_operand_axes) +
               list_text("operand_batch", scatter.operand_batch_axes) +
               list_text("index_batch", scatter.index_batch_axes) +
               fmt::format(" index_vector={}", scatter.index_vector_axis) +
               flag_text("sorted", scatter.indices_are_sorted) +
               flag_text("unique", scatter.indices_are_unique);
    }
    std::string operator()(const Sort& sort) const {
        return fmt::format(" dimension={}", sort.axis) + flag_text("stable", sort.is_stable);
    }
    std::string operator()(const Topk& topk) const {
        return fmt::format(" k={}", topk.k) + (topk.is_largest ? " largest" : " smallest");
    }
    std::string operator()(const Collective& collective) const {
        const std::string axis =
            opcode == Opcode::AllReduce ? "" : fmt::format(" dimension={}", collective.axis);
        return axis + groups_text(collective.groups) + channel_text(collective.channel) +
               flag_text("global_devices", collective.has_global_devices);
    }
    std::string operator()(const Permutation& permutation) const {
        const auto pair_text = [](const auto& pair) { return fmt::format("{}:{}", pair.first, pair.second); };
        return list_text("pairs", permutation.pairs, pair_text) + channel_text(permutation.channel);
    }
    std::string operator()(const RandomBits& bits) const {
        return fmt::format(" {}", name_in(algorithm_names, bits.algorithm));
    }
    std::string operator()(const ReducedPrecision& precision) const {
        return fmt::format(" exponent_bits={} mantissa_bits={}", precision.exponent_bits,
                           precision.mantissa_bits);
    }
    std::string operator()(const Cholesky& cholesky) const { return cholesky.is_lower ? " lower" : " upper"; }
    std::string operator()(const TriangularSolve& solve) const {
        return flag_text("left_side", solve.is_left_side) + (solve.is_lower ? " lower" : " upper") +
               flag_text("unit_diagonal", solve.has_unit_diagonal) +
               flag_text("transposed", solve.is_transposed);
    }
    std::string operator()(const BatchNorm& norm) const {
        return fmt::format(" epsilon={} feature={}", norm.epsilon, norm.axis);
    }
    std::string operator()(const CustomCall& call) const {
        return fmt::format(" {}", name_in(target_names, call.target));
    }

private:
    static std::string channel_text(std::int64_t channel) {
        return channel == 0 ? "" : fmt::format(" channel={}", channel);
    }
};

std::string frontend_text(const FrontendAttributes& attributes) {
    std::string text;
    for (const auto& [key, value] : attributes)
        text += fmt::format(" {}={}", in_quotes(key), in_quotes(value));
    return text;
}

std::string instruction_text(const Module& module, const Instruction& instruction) {
    std::string text =
        fmt::format("{} {}", traits_of(instruction.opcode).name, module.shapes.text_of(instruction.shape));
    for (const InstructionId operand : instruction.operands) text += fmt::format(" %{}", operand);
    for (const ComputationId called : instruction.called) text += fmt::format(" @{}", called);
    if (instruction.attributes) {
        text += std::visit(AttributeText{module.shape_of(instruction), instruction.opcode},
                           *instruction.attributes);
    }
    if (instruction.sharding) text += fmt::format(" sharding={}", sharding_text(*instruction.sharding));
    text += frontend_text(instruction.frontend);
    const Scope& scope = module.scopes.at(instruction.scope);
    if (scope.is_backward || !scope.path.empty()) {
        text += fmt::format(" ;{}{}{}", scope.is_backward ? " backward" : "", scope.path.empty() ? "" : " ",
                            scope.path.empty() ? "" : in_quotes(scope.path));
    }
    return text;
}

std::string path_text(const std::vector<std::uint32_t>& path) {
    return fmt::format("{{{}}}", listed(path));
}

}  // namespace

std::string to_text(const Module& module) {
    std::string text = fmt::format("module {}", in_quotes(module.name));
    if (module.devices != 1) text += fmt::format(" devices={}", module.devices);
    text += frontend_text(module.frontend) + "\n";
    for (std::size_t i = 0; i < module.arguments.size(); ++i) {
        text += fmt::format("input {} {}\n", i, in_quotes(module.arguments[i]));
    }
    for (const Alias& alias : module.aliases) {
        text += fmt::format("alias output {} parameter {} {}\n", path_text(alias.output), alias.parameter,
                            path_text(alias.input));
    }
    for (std::size_t i = 0; i < module.parameter_shardings.size(); ++i) {
        text += fmt::format("sharding parameter {} {}\n", i, sharding_text(module.parameter_shardings[i]));
    }
    if (module.output_sharding)
        text += fmt::format("sharding output {}\n", sharding_text(*module.output_sharding));
    for (std::size_t i = 0; i < module.computations.size(); ++i) {
        const Computation& computation = module.computations[i];
        text += fmt::format("{} @{} {}\n", i == module.entry ? "entry" : "computation", i,
                            in_quotes(computation.name));
        for (std::size_t k = 0; k < computation.instructions.size(); ++k) {
            text += fmt::format("  {}%{} {}\n", k == computation.root ? "root " : "", k,
                                instruction_text(module, computation.instructions[k]));
        }
    }
    return text;
}

}  // namespace systole::hlo
