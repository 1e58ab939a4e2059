// Rules of element-wise instructions.
#include <fmt/format.h>

#include <stdexcept>

#include "compiler/frontend/hlo/checked_instruction.h"

namespace systole::hlo {
namespace {

bool takes(OperandTypes types, ElementType type) {
    const ElementTypeTraits& traits = traits_of(type);
    switch (types) {
        case OperandTypes::Any:
            return true;
        case OperandTypes::Numbers:
            return traits.is_integer || traits.is_float;
        case OperandTypes::SignedNumbers:
            return traits.is_signed;
        case OperandTypes::Floats:
            return traits.is_float;
        case OperandTypes::Integers:
            return traits.is_integer;
        case OperandTypes::IntegersAndPred:
            return !traits.is_float;
    }
    throw std::logic_error("an opcode takes unknown types");
}

/// The types, for messages.
std::string_view words_for(OperandTypes types) {
    switch (types) {
        case OperandTypes::Any:
            return "pred or numbers";
        case OperandTypes::Numbers:
            return "numbers";
        case OperandTypes::SignedNumbers:
            return "signed integers or floats";
        case OperandTypes::Floats:
            return "floats";
        case OperandTypes::Integers:
            return "integers";
        case OperandTypes::IntegersAndPred:
            return "integers or pred";
    }
    throw std::logic_error("an opcode takes unknown types");
}

/// The ways in which numbers of a type may be compared: the only one, and for floats a second one.
std::pair<ComparisonType, ComparisonType> comparisons_of(ElementType type) {
    const ElementTypeTraits& traits = traits_of(type);
    if (traits.is_float) return {ComparisonType::Float, ComparisonType::TotalOrder};
    const ComparisonType only = traits.is_signed ? ComparisonType::Signed : ComparisonType::Unsigned;
    return {only, only};
}

void check_same_operands(const CheckedInstruction& at, std::size_t first, std::size_t second) {
    if (at.operand_id(first) == at.operand_id(second)) return;
    CheckedInstruction::fail(fmt::format("its operands are {} and {}; they must be the same",
                                         at.text_of(at.operand_id(first)),
                                         at.text_of(at.operand_id(second))));
}

}  // namespace

void check_same_as_operands(const CheckedInstruction& at) {
    const OpcodeTraits& traits = traits_of(at.opcode());
    const Shape& first = at.array(0);
    if (!takes(traits.types, first.type)) {
        CheckedInstruction::fail(fmt::format("its operand is {}; it must be of {}",
                                             at.text_of(at.operand_id(0)), words_for(traits.types)));
    }
    for (std::size_t i = 1; i < at.operands(); ++i) check_same_operands(at, 0, i);
    at.expect(at.operand_id(0));
}

void check_is_finite(const CheckedInstruction& at) {
    const Shape& operand = at.array(0);
    if (!traits_of(operand.type).is_float)
        CheckedInstruction::fail(
            fmt::format("its operand is {}; it must be of floats", at.text_of(at.operand_id(0))));
    at.expect(ElementType::Pred, operand.dimensions);
}

void check_compare(const CheckedInstruction& at) {
    const Shape& operand = at.array(0);
    check_same_operands(at, 0, 1);
    const ComparisonType type = at.attributes<Compare>().type;
    const auto [first, second] = comparisons_of(operand.type);
    if (type != ComparisonType::Default && type != first && type != second) {
        const auto name = [](ComparisonType of) {
            return comparison_type_names.at(static_cast<std::size_t>(of));
        };
        CheckedInstruction::fail(fmt::format(
            "its comparison_type is {}; for {} it must be {}", name(type), at.text_of(at.operand_id(0)),
            first == second ? std::string(name(first)) : fmt::format("{} or {}", name(first), name(second))));
    }
    at.expect(ElementType::Pred, operand.dimensions);
}

void check_select(const CheckedInstruction& at) {
    const Shape& condition = at.array(0);
    if (condition.type != ElementType::Pred) {
        CheckedInstruction::fail(
            fmt::format("its first operand is {}; it must be of type pred", at.text_of(at.operand_id(0))));
    }
    at.expect_same_dimensions(0, 1);
    check_same_operands(at, 1, 2);
    at.expect(at.operand_id(1));
}

void check_clamp(const CheckedInstruction& at) {
    const Shape& operand = at.array(1);
    for (const std::size_t limit : {std::size_t{0}, std::size_t{2}}) {
        if (!at.array(limit).is_scalar(operand.type)) check_same_operands(at, 1, limit);
    }
    at.expect(at.operand_id(1));
}

void check_convert(const CheckedInstruction& at) {
    at.expect(at.result_array().type, at.array(0).dimensions);
}

void check_bitcast_convert(const CheckedInstruction& at) {
    const Shape& operand = at.array(0);
    const Shape& result = at.result_array();
    if ((operand.type == ElementType::Pred) != (result.type == ElementType::Pred)) {
        CheckedInstruction::fail(fmt::format("its operand is {}, its result {}; both or none must be of pred",
                                             at.text_of(at.operand_id(0)), at.text_of(at.result_id())));
    }
    const std::int64_t from = traits_of(operand.type).bytes;
    const std::int64_t to = traits_of(result.type).bytes;
    // Parts of a number, or a number made of parts, are one more axis of the smaller type.
    Numbers dimensions = operand.dimensions;
    if (from > to) dimensions.push_back(from / to);
    if (from < to) {
        if (dimensions.empty() || dimensions.back() != to / from) {
            CheckedInstruction::fail(fmt::format("its operand is {}; its last dimension must be {}",
                                                 at.text_of(at.operand_id(0)), to / from));
        }
        dimensions.pop_back();
    }
    at.expect(result.type, dimensions);
}

}  // namespace systole::hlo
