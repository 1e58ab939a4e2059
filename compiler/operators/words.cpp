#include "compiler/operators/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <utility>

#include "base/message_text.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/weighted.h"
#include "compiler/operators/words_builder.h"
#include "hw/math/floats/float_values.h"
#include "hw/math/floats/word_values.h"

namespace systole::operators {
namespace {

[[noreturn]] void fail_at(std::string_view text, const std::string& rule) {
    throw ModelError(fmt::format("its step is {}; {}", in_quotes(std::string(text)), rule));
}

const ir::Value& checked_for_words(const ir::Value& value) {
    if (is_word_type(value.type) && (!value.quantization || value.constant)) return value;
    throw ModelError(fmt::format("{} is {}{}; it must be float32, bfloat16 or int32, without a scale",
                                 in_quotes(value.name), name_of(value.type),
                                 value.quantization ? " with a scale" : ""));
}

bool is_settled_bfloat16(std::uint32_t word) {
    return std::bit_cast<std::uint32_t>(math::rounded_to_bfloat16(std::bit_cast<float>(word))) == word;
}

}  // namespace

bool is_word_type(DataType type) {
    return type == DataType::Float32 || type == DataType::Bfloat16 || type == DataType::Int32;
}

void check_word_types(const ir::NodeView& node) {
    for (std::size_t i = 0; i < node.node().inputs.size(); ++i) checked_for_words(node.input(i));
    for (std::size_t i = 0; i < node.node().outputs.size(); ++i) checked_for_words(node.output(i));
}

void check_float_words(const ir::NodeView& node) {
    check_word_types(node);
    const auto check = [](const ir::Value& value) {
        if (value.type != DataType::Int32) return;
        throw ModelError(fmt::format("{} is int32; it must be float32 or bfloat16", in_quotes(value.name)));
    };
    for (std::size_t i = 0; i < node.node().inputs.size(); ++i) check(node.input(i));
    for (std::size_t i = 0; i < node.node().outputs.size(); ++i) check(node.output(i));
}

void compute_on_words(const Operator& op, const TensorCall& call) {
    std::vector<std::vector<std::uint32_t>> widened;
    widened.reserve(call.inputs.size());  // the pointers below must stay valid
    std::vector<const float*> inputs;
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
        const DataType type = call.node.input(i).type;
        if (bytes_of(type) == sizeof(std::uint32_t)) {
            inputs.push_back(call.input<float>(i));
            continue;
        }
        std::vector<std::uint32_t>& words = widened.emplace_back(call.input_elements(i));
        math::to_words(call.inputs[i], type, words);
        inputs.push_back(reinterpret_cast<const float*>(words.data()));
    }
    const DataType type = call.node.output().type;
    if (bytes_of(type) == sizeof(std::uint32_t)) {
        op.evaluate(
            {.node = call.node, .inputs = inputs, .batch = call.batch, .output = call.output<float>()});
        return;
    }
    std::vector<std::uint32_t> words(call.output_elements());
    op.evaluate({.node = call.node,
                 .inputs = inputs,
                 .batch = call.batch,
                 .output = reinterpret_cast<float*>(words.data())});
    math::from_words(words, type, call.output<std::uint8_t>());
}

void require_known_constants(const ir::NodeView& node) {
    for (std::size_t i = 0; i < node.node().inputs.size(); ++i) {
        const ir::Value& value = node.input(i);
        if (value.constant && !value.constant->is_known())
            throw std::logic_error(fmt::format("the elements of {} are unknown", value.name));
    }
}

std::vector<WordStep> word_steps(const ir::Node& node) {
    std::vector<WordStep> steps;
    for (const std::string& text : std::get<std::vector<std::string>>(node.attributes.front())) {
        steps.push_back(word_step_of(text));
        const std::size_t before = node.inputs.size() + steps.size() - 1;
        for (const std::uint8_t operand : steps.back().operands) {
            if (operand < before) continue;
            fail_at(text, fmt::format("it has {} before it", counted(before, "value")));
        }
    }
    return steps;
}

std::vector<WordStep> rounded_word_steps(const ir::NodeView& node) {
    std::vector<WordStep> steps = word_steps(node.node());
    if (node.output().type != DataType::Bfloat16) return steps;
    std::vector<bool> is_bfloat16;  // by value
    for (std::size_t i = 0; i < node.node().inputs.size(); ++i)
        is_bfloat16.push_back(node.input(i).type == DataType::Bfloat16);
    for (const WordStep& step : steps) {
        const auto operands_are = [&](std::size_t from) {
            return std::all_of(step.operands.begin() + static_cast<std::ptrdiff_t>(from), step.operands.end(),
                               [&](std::uint8_t operand) { return is_bfloat16[operand]; });
        };
        switch (step.operation) {
            case WordOperation::Constant:
                is_bfloat16.push_back(is_settled_bfloat16(step.constant));
                break;
            case WordOperation::RoundToBfloat16:
                is_bfloat16.push_back(true);
                break;
            case WordOperation::Negate:
            case WordOperation::Absolute:
            case WordOperation::Maximum:
            case WordOperation::Minimum:
                is_bfloat16.push_back(operands_are(0));
                break;
            case WordOperation::Select:
                is_bfloat16.push_back(operands_are(1));
                break;
            default:
                is_bfloat16.push_back(false);
        }
    }
    if (!is_bfloat16.back()) {
        steps.push_back({.operation = WordOperation::RoundToBfloat16,
                         .operands = {static_cast<std::uint8_t>(is_bfloat16.size() - 1)}});
    }
    return steps;
}

ir::AttributeDeclaration word_reduction_attribute() {
    return {.name = "reduction",
            .meaning =
                "what many numbers become: of float32 and bfloat16 their `sum`, `product`, `maximum` or "
                "`minimum`; of int32 `sum_int`, `product_int`, `maximum_int` or `minimum_int` in two's "
                "complement, `maximum_uint` or `minimum_uint` without a sign, or bit by bit `and`, `or` "
                "or `xor`",
            .absent = std::string(reduction_names.front()),
            .is_required = true,
            .choices = {reduction_names.begin(), reduction_names.end()}};
}

systole::Reduction word_reduction_of(const ir::Node& node) {
    const auto* const found = std::ranges::find(reduction_names, node.text("reduction"));
    return static_cast<systole::Reduction>(found - reduction_names.begin());
}

ir::FeatureMap word_window_output(const ir::FeatureMap& input, const ir::Window& window) {
    const ir::FeatureMap result = window_output(input, window, input.channels);
    const auto require_elements = [&](const ir::WindowSpan& span) {
        if (span.first < span.last) return;
        throw ModelError(fmt::format("it has windows of {} outside of {}; each must have an element",
                                     to_text(window), to_text(input)));
    };
    for (std::uint32_t y = 0; y < result.height; ++y) require_elements(vertical_span(input, window, y));
    for (std::uint32_t x = 0; x < result.width; ++x) require_elements(horizontal_span(input, window, x));
    return result;
}

void check_product_types(const ir::NodeView& node) {
    check_float_words(node);
    if (node.output().type == DataType::Float32) return;
    throw ModelError(fmt::format("{} is {}; it must be float32, as the sums are",
                                 in_quotes(node.output().name), name_of(node.output().type)));
}

void copy_with_order(const ir::Node& node, WordsBuilder& builder) {
    if (sum_tile(node) != 0) return builder.copy(node);
    ir::Node ordered = node;
    for (auto& [attribute, value] : order_attributes(builder)) {
        const bool is_stated = attribute == "precision" && node.text("precision") != whole_operands;
        if (!is_stated) ordered.set(attribute, std::move(value));
    }
    builder.copy(ordered);
}

void check_reduction_types(const ir::NodeView& node) {
    check_word_types(node);
    const ReductionTraits& reduction = traits_of(word_reduction_of(node.node()));
    for (const ir::Value* const value : {&node.input(), &node.output()}) {
        if ((value->type == DataType::Int32) == reduction.is_of_integers) continue;
        throw ModelError(fmt::format("{} is {}; for reduction {} it must be {}", in_quotes(value->name),
                                     name_of(value->type), reduction.name,
                                     reduction.is_of_integers ? "int32" : "float32 or bfloat16"));
    }
}

}  // namespace systole::operators
