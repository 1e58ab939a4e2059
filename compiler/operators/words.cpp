#include "compiler/operators/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <stdexcept>

#include "base/message_text.h"
#include "compiler/ir/model_error.h"
#include "hw/math/floats/word_values.h"

namespace systole::operators {
namespace {

/// The words of a text between blanks.
std::vector<std::string_view> split_at_blanks(std::string_view text) {
    std::vector<std::string_view> words;
    while (true) {
        const std::size_t first = text.find_first_not_of(' ');
        if (first == std::string_view::npos) return words;
        text.remove_prefix(first);
        const std::size_t end = std::min(text.find(' '), text.size());
        words.push_back(text.substr(0, end));
        text.remove_prefix(end);
    }
}

template <typename Number>
std::optional<Number> number_of(std::string_view text, int base) {
    Number number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

[[noreturn]] void fail_at(std::string_view text, const std::string& rule) {
    throw ModelError(fmt::format("its step is {}; {}", in_quotes(std::string(text)), rule));
}

const ir::Value& checked_for_words(const ir::Value& value) {
    if (is_word_type(value.type) && (!value.quantization || value.constant)) return value;
    throw ModelError(fmt::format("{} is {}{}; it must be float32, bfloat16 or int32, without a scale",
                                 in_quotes(value.name), name_of(value.type),
                                 value.quantization ? " with a scale" : ""));
}

}  // namespace

bool is_word_type(DataType type) {
    return type == DataType::Float32 || type == DataType::Bfloat16 || type == DataType::Int32;
}

void check_word_types(const ir::NodeView& node) {
    for (std::size_t i = 0; i < node.node().inputs.size(); ++i) checked_for_words(node.input(i));
    for (std::size_t i = 0; i < node.node().outputs.size(); ++i) checked_for_words(node.output(i));
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

std::string to_text(const WordStep& step) {
    std::string text(traits_of(step.operation).name);
    if (step.operation == WordOperation::Constant) text += fmt::format(" {:#010x}", step.constant);
    for (const std::uint8_t operand : step.operands) text += fmt::format(" {}", operand);
    return text;
}

WordStep word_step_of(std::string_view text) {
    const std::vector<std::string_view> words = split_at_blanks(text);
    const auto operation = words.empty() ? std::nullopt : find_word_operation(words.front());
    if (!operation) fail_at(text, "it must begin with an operation of a chain");
    if (*operation == WordOperation::Row || *operation == WordOperation::Column) {
        fail_at(text, "a tensor has no rows and columns");
    }
    WordStep step{.operation = *operation};
    if (*operation == WordOperation::Constant) {
        constexpr int hexadecimal = 16;
        const bool has_word = words.size() == 2 && words[1].starts_with("0x");
        const auto word = has_word ? number_of<std::uint32_t>(words[1].substr(2), hexadecimal) : std::nullopt;
        if (!word) fail_at(text, "a constant is a word of 32 bits, such as 0x3f800000");
        step.constant = *word;
        return step;
    }
    constexpr int decimal = 10;
    for (std::size_t i = 1; i < words.size(); ++i) {
        const auto operand = number_of<std::uint8_t>(words[i], decimal);
        if (!operand) fail_at(text, fmt::format("operands are numbers of values, 0 to {}", most_word_values));
        step.operands.push_back(*operand);
    }
    if (step.operands.size() != traits_of(*operation).operands) {
        fail_at(text,
                fmt::format("{} has {}", words.front(), counted(traits_of(*operation).operands, "operand")));
    }
    return step;
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

ir::AttributeDeclaration word_reduction_attribute() {
    return {.name = "reduction",
            .meaning = "what many numbers become: their sum, product, maximum or minimum",
            .absent = std::string(reduction_names.front()),
            .is_required = true,
            .choices = {reduction_names.begin(), reduction_names.end()}};
}

systole::Reduction word_reduction_of(const ir::Node& node) {
    const auto* const found = std::ranges::find(reduction_names, node.text("reduction"));
    return static_cast<systole::Reduction>(found - reduction_names.begin());
}

}  // namespace systole::operators
