// Rules of tuples, calls, loops and choices.
#include <fmt/format.h>

#include "base/message_text.h"
#include "compiler/frontend/hlo/checked_instruction.h"

namespace systole::hlo {
namespace {

/// Fails unless a called computation has one parameter, of this shape.
void check_only_parameter(const CheckedInstruction& at, std::size_t called, ShapeId operand) {
    if (at.parameters(called) != 1) {
        CheckedInstruction::fail(fmt::format("computation {} that it calls has {}; it must have 1", called,
                                             counted(at.parameters(called), "parameter")));
    }
    if (at.parameter_id(called, 0) == operand) return;
    CheckedInstruction::fail(fmt::format("the parameter of computation {} that it calls is {}; it must be {}",
                                         called, at.text_of(at.parameter_id(called, 0)),
                                         at.text_of(operand)));
}

void check_called_root(const CheckedInstruction& at, std::size_t called, ShapeId shape) {
    if (at.root_id(called) == shape) return;
    CheckedInstruction::fail(fmt::format("computation {} that it calls gives {}; it must give {}", called,
                                         at.text_of(at.root_id(called)), at.text_of(shape)));
}

}  // namespace

void check_tuple(const CheckedInstruction& at) {
    const Shape& result = at.result();
    bool fits = result.is_tuple && result.parts.size() == at.operands();
    std::size_t i = 0;
    while (fits && i < at.operands() && result.parts[i] == at.operand_id(i)) ++i;
    if (fits && i == at.operands()) return;
    CheckedInstruction::fail(fits ? fmt::format("part {} of its result is {}; it must be {}, as its operand",
                                                i, at.text_of(result.parts[i]), at.text_of(at.operand_id(i)))
                                  : fmt::format("its result is {}; it must be a tuple of its {}",
                                                at.text_of(at.result_id()),
                                                counted(at.operands(), "operand")));
}

void check_get_tuple_element(const CheckedInstruction& at) {
    const Shape& tuple = at.operand(0);
    const std::uint32_t index = at.attributes<TupleElement>().index;
    if (!tuple.is_tuple || index >= tuple.parts.size()) {
        CheckedInstruction::fail(fmt::format("it takes part {} of {}; it must be a part of a tuple", index,
                                             at.text_of(at.operand_id(0))));
    }
    at.expect(tuple.parts[index]);
}

void check_map(const CheckedInstruction& at) {
    const Shape& first = at.array(0);
    const Numbers& axes = at.attributes<Dimensions>().dimensions;
    bool names_all = axes.size() == first.rank();
    for (std::size_t i = 0; names_all && i < axes.size(); ++i)
        names_all = axes[i] == static_cast<std::int64_t>(i);
    if (!names_all) {
        CheckedInstruction::fail(fmt::format("its dimensions are {}; they must be all of {} in order",
                                             listed(axes), at.text_of(at.operand_id(0))));
    }
    check_parameter_count(at, 0, at.operands());
    for (std::size_t i = 0; i < at.operands(); ++i) {
        at.expect_same_dimensions(0, i);
        check_parameter(at, 0, i, at.array(i).type);
    }
    const Shape& root = at.shape(at.root_id(0));
    if (!root.is_scalar()) {
        CheckedInstruction::fail(fmt::format("the computation that it calls gives {}; it must give a scalar",
                                             at.text_of(at.root_id(0))));
    }
    at.expect(root.type, first.dimensions);
}

void check_call(const CheckedInstruction& at) {
    if (at.parameters(0) != at.operands()) {
        CheckedInstruction::fail(
            fmt::format("it has {}; it must have {}, one for each parameter of the computation that it calls",
                        counted(at.operands(), "operand"), at.parameters(0)));
    }
    for (std::size_t i = 0; i < at.operands(); ++i) {
        if (at.parameter_id(0, i) == at.operand_id(i)) continue;
        CheckedInstruction::fail(fmt::format(
            "its operand {} is {}; it must be {}, as the parameter of the computation that it calls", i,
            at.text_of(at.operand_id(i)), at.text_of(at.parameter_id(0, i))));
    }
    at.expect(at.root_id(0));
}

void check_while(const CheckedInstruction& at) {
    const ShapeId state = at.operand_id(0);
    check_only_parameter(at, 0, state);
    check_only_parameter(at, 1, state);
    check_called_root(at, 0, state);
    if (!at.shape(at.root_id(1)).is_scalar(ElementType::Pred)) {
        CheckedInstruction::fail(
            fmt::format("its condition gives {}; it must give pred[]", at.text_of(at.root_id(1))));
    }
    at.expect(state);
}

void check_conditional(const CheckedInstruction& at) {
    const Shape& choice = at.array(0);
    const std::size_t branches = at.called();
    const bool is_pred = choice.is_scalar(ElementType::Pred);
    if (!is_pred && !choice.is_scalar(ElementType::S32)) {
        CheckedInstruction::fail(
            fmt::format("it chooses by {}; it must be pred[] or s32[]", at.text_of(at.operand_id(0))));
    }
    if (at.operands() != branches + 1 || (is_pred && branches != 2)) {
        CheckedInstruction::fail(
            fmt::format("it chooses among {} with {}; each must have one, and pred chooses among two",
                        counted(branches, "computation"), counted(at.operands() - 1, "operand")));
    }
    for (std::size_t branch = 0; branch < branches; ++branch) {
        check_only_parameter(at, branch, at.operand_id(branch + 1));
        check_called_root(at, branch, at.result_id());
    }
}

void check_custom_call(const CheckedInstruction& at) {
    const CustomTarget target = at.attributes<CustomCall>().target;
    const bool is_of_several =
        target == CustomTarget::GlobalToLocalShape || target == CustomTarget::LocalToGlobalShape;
    if (!is_of_several && at.operands() != 1) {
        CheckedInstruction::fail(fmt::format("it has {}; it must have 1", counted(at.operands(), "operand")));
    }
    if (target == CustomTarget::Sharding) return at.expect(at.operand_id(0));
    // Whole arrays and parts of them: one for one, of the same types and numbers of dimensions.
    if (at.operands() == 0) CheckedInstruction::fail("it has 0 operands; it must have at least 1");
    const std::vector<ShapeId> results = at.results(at.operands());
    for (std::size_t i = 0; i < results.size(); ++i) {
        const Shape& operand = at.array(i);
        const Shape& result = at.shape(results[i]);
        if (operand.type == result.type && operand.rank() == result.rank()) continue;
        CheckedInstruction::fail(fmt::format(
            "its result {} is {}; its operand is {}, and type and number of dimensions must be the same", i,
            at.text_of(results[i]), at.text_of(at.operand_id(i))));
    }
}

}  // namespace systole::hlo
