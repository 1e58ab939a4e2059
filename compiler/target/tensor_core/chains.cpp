#include "compiler/target/tensor_core/chains.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/model_error.h"
#include "compiler/operators/words.h"
#include "compiler/target/tensor_core/constant_words.h"
#include "compiler/target/tensor_core/network_builder.h"
#include "hw/isa/instructions/run_chain.h"

namespace systole::tensor_core {
namespace {

using ir::NodeView;
using ir::Value;
using ir::ValueId;

/// Extents with ones before them, so that there are `rank`.
std::vector<std::uint64_t> extents_of(const ir::Shape& shape, std::size_t rank) {
    std::vector<std::uint64_t> extents(rank - shape.rank(), 1);
    for (const std::uint32_t extent : shape.extents()) extents.push_back(extent);
    return extents;
}

/// The elements of `shape` that NumPy's broadcasting repeats for those of `result`.
std::vector<std::uint64_t> repeated(const ir::Shape& shape, const ir::Shape& result) {
    const std::vector<std::uint64_t> from = extents_of(shape, result.rank());
    std::vector<std::uint64_t> strides(result.rank());
    std::uint64_t stride = 1;
    for (std::size_t axis = result.rank(); axis-- > 0;) {
        strides[axis] = from[axis] == 1 ? 0 : stride;
        stride *= from[axis];
    }
    std::vector<std::uint64_t> elements(result.elements());
    std::vector<std::uint32_t> index(result.rank());
    std::uint64_t place = 0;
    for (std::uint64_t& element : elements) {
        element = place;
        for (std::size_t axis = result.rank(); axis-- > 0;) {
            place += strides[axis];
            if (++index[axis] < result[axis]) break;
            place -= strides[axis] * result[axis];
            index[axis] = 0;
        }
    }
    return elements;
}

/// The two chains as one: what the second takes from before it is the first one's result. nullopt if an
/// instruction has no room for it.
std::optional<ChainUse> joined(const ChainUse& first, const ChainUse& second) {
    ChainUse both{.operands = first.operands, .steps = {}, .fills_lanes = second.fills_lanes};
    std::vector<std::size_t> places;  // of the second's operands; the first one's result is found below
    for (const Operand& operand : second.operands) {
        auto found = std::ranges::find(both.operands, operand);
        if (operand.kind == OperandKind::Before) {
            places.push_back(0);
            continue;
        }
        places.push_back(static_cast<std::size_t>(found - both.operands.begin()));
        if (found == both.operands.end()) both.operands.push_back(operand);
    }
    const std::size_t operands = both.operands.size();
    const std::size_t values = operands + first.steps.size() + second.steps.size();
    if (operands > isa::RunChain::most_sources || values > most_joined_values) return std::nullopt;
    const auto add = [&](const ChainUse& chain, const auto& place_of) {
        for (isa::ChainStep step : chain.steps) {
            for (std::uint8_t& operand : step.operands)
                operand = static_cast<std::uint8_t>(place_of(operand));
            both.steps.push_back(std::move(step));
        }
    };
    const std::size_t in_first = first.operands.size();
    add(first, [&](std::size_t value) { return value < in_first ? value : value - in_first + operands; });
    const std::size_t result = operands + first.steps.size() - 1;
    add(second, [&](std::size_t value) {
        if (value >= second.operands.size()) return value - second.operands.size() + result + 1;
        return second.operands[value].kind == OperandKind::Before ? result : places[value];
    });
    if (broken_rule_of(operands, both.steps)) return std::nullopt;  // the chip may lack a register for both
    return both;
}

}  // namespace

std::vector<isa::ChainStep> chain_steps(const std::vector<ChainInput>& inputs, std::size_t sources,
                                        const std::vector<ir::WordStep>& steps) {
    std::vector<isa::ChainStep> made;
    std::vector<std::uint8_t> places;  // by value of the work
    const auto next_place = [&] { return static_cast<std::uint8_t>(sources + made.size()); };
    for (const ChainInput& input : inputs) {
        places.push_back(input.source ? static_cast<std::uint8_t>(*input.source) : next_place());
        if (!input.source) made.push_back({.operation = WordOperation::Constant, .constant = input.number});
    }
    for (const ir::WordStep& step : steps) {
        isa::ChainStep placed{.operation = step.operation, .operands = {}, .constant = step.constant};
        for (const std::uint8_t operand : step.operands) placed.operands.push_back(places[operand]);
        places.push_back(next_place());
        made.push_back(std::move(placed));
    }
    return made;
}

std::optional<std::string> broken_rule_of(std::size_t sources, const std::vector<isa::ChainStep>& steps) {
    const std::size_t values = sources + steps.size();
    return isa::broken_rule({.name = "c",
                             .sources = std::vector<isa::ChainSource>(sources),
                             .steps = steps,
                             .results = {{.value = static_cast<std::uint8_t>(values - 1)}}});
}

ChainUse round_to_bfloat16(bool fills_lanes) {
    return {.operands = {Operand{}},
            .steps = {{.operation = WordOperation::RoundToBfloat16, .operands = {0}}},
            .fills_lanes = fills_lanes};
}

std::optional<Operand> NetworkBuilder::operand_of(ValueId id, const ir::Shape& result,
                                                  bool result_is_shared) {
    const Value& value = graph_.values[id];
    require_words(value);
    const std::uint64_t elements = value.shape.elements();
    const bool is_shared = !value.has_batch();
    if (value.constant && elements == 1) return std::nullopt;
    const MatrixShape shape = matrix_of(result);
    const std::vector<std::uint64_t> extents =
        extents_of(value.shape, std::max<std::size_t>(1, result.rank()));
    const std::vector<std::uint64_t> all = extents_of(result, std::max<std::size_t>(1, result.rank()));
    const bool has_columns = extents.back() == shape.columns;
    const bool one_row = elements == extents.back();
    if (is_shared && one_row && has_columns) return Operand{OperandKind::Row, tensor_of(id)};
    if (elements == result.elements()) return Operand{OperandKind::Rows, tensor_of(id)};
    if (one_row && has_columns && !result_is_shared) return Operand{OperandKind::ImageRow, tensor_of(id)};
    const bool has_rows = std::equal(extents.begin(), extents.end() - 1, all.begin());
    if (has_rows && extents.back() == 1) return Operand{OperandKind::Column, tensor_of(id)};
    if (elements == 1) return Operand{OperandKind::Number, tensor_of(id)};
    if (value.constant && result.elements() <= most_moved_one_by_one) {
        const std::vector<std::uint64_t> places = repeated(value.shape, result);
        std::vector<std::uint32_t> words;
        if (const std::vector<std::uint32_t> own = words_of(value); !own.empty()) {
            words.reserve(places.size());
            for (const std::uint64_t place : places) words.push_back(own[place]);
        }
        return Operand{OperandKind::Rows, new_constant(value.name, shape, std::move(words))};
    }
    const TensorId source = tensor_of(id);
    const TensorId made = new_tensor(value.name, shape, is_shared);
    add_movement({source}, repeated_axes(value.shape, result), made);
    return Operand{OperandKind::Rows, made};
}

bool NetworkBuilder::can_follow(ValueId id, const MatrixShape& shape, bool is_shared,
                                ir::NodeId reader) const {
    const auto found = producers_.find(id);
    if (found == producers_.end() || ir::is_output(graph_, id)) return false;
    const Value& value = graph_.values[id];
    return shape_of(id) == shape && is_shared == !value.has_batch() &&
           std::ranges::all_of(readers_[id], [&](ir::NodeId each) { return each == reader; });
}

void NetworkBuilder::add_chain(const NodeView& view) {
    const ir::Node& node = view.node();
    const Value& result = view.output();
    const MatrixShape shape = shape_of(node.output());
    const bool is_shared = !result.has_batch();
    const auto id = static_cast<ir::NodeId>(&node - graph_.nodes.data());
    // The last of the values that a step has just computed: what it needs is there, too.
    std::optional<ValueId> before;
    for (const ValueId input : node.inputs) {
        if (!can_follow(input, shape, is_shared, id)) continue;
        if (!before || producers_.at(input) > producers_.at(*before)) before = input;
    }
    const std::vector<operators::WordStep> steps = operators::rounded_word_steps(view);
    ChainUse chain;
    std::vector<ChainInput> inputs(node.inputs.size());
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        const std::optional<Operand> operand =
            before == node.inputs[i] ? Operand{} : operand_of(node.inputs[i], result.shape, is_shared);
        if (!operand) {
            const Value& value = view.input(i);
            if (value.constant->is_known()) inputs[i].number = words_of(value).front();
            continue;
        }
        const auto found = std::ranges::find(chain.operands, *operand);
        inputs[i].source = static_cast<std::size_t>(found - chain.operands.begin());
        if (found == chain.operands.end()) chain.operands.push_back(*operand);
    }
    const std::size_t operands = chain.operands.size();
    if (operands > isa::RunChain::most_sources) {
        throw ModelError(fmt::format("its element-wise work reads {} tensors; a chain reads at most {}",
                                     operands, isa::RunChain::most_sources));
    }
    const auto numbers = std::ranges::count_if(inputs, [](const ChainInput& input) { return !input.source; });
    const std::size_t values = operands + static_cast<std::size_t>(numbers) + steps.size();
    if (values > isa::most_chain_values) {
        throw ModelError(fmt::format("its element-wise work has {} values; a chain has at most {}", values,
                                     isa::most_chain_values));
    }
    chain.steps = chain_steps(inputs, operands, steps);
    if (const auto rule = broken_rule_of(operands, chain.steps))
        throw ModelError(fmt::format("its element-wise work cannot be a chain: {}", *rule));
    const TensorId made = new_tensor(node.output());
    // Rounded numbers of float32 are bfloat16, too.
    if (!steps.empty() && steps.back().operation == WordOperation::RoundToBfloat16)
        tensor(made).is_bfloat16 = true;
    tensors_.emplace(node.output(), made);
    std::optional<Step> moved;
    if (before) moved = std::exchange(steps_[producers_.at(*before)], std::nullopt);
    const auto fills = [&](const Operand& operand) {
        if (operand.kind == OperandKind::Before) return tensor(moved->result).fills_lanes;
        return operand.kind == OperandKind::Number ||
               (operand.kind == OperandKind::Rows && tensor(operand.tensor).fills_lanes);
    };
    chain.fills_lanes = shape.columns == 1 && std::ranges::all_of(chain.operands, fills);
    tensor(made).fills_lanes = chain.fills_lanes;
    Step step = moved ? std::move(*moved) : Step{.kind = StepKind::Chain};
    step.result = made;
    std::optional<ChainUse> both;
    if (!step.chains.empty()) both = joined(step.chains.back(), chain);
    if (both) {
        step.chains.back() = std::move(*both);
    } else {
        step.chains.push_back(std::move(chain));
    }
    // Element-wise work counts for the layer that it follows.
    const std::optional<std::uint32_t> followed = before ? std::optional(step.layer) : std::nullopt;
    finish_value(node.output(), std::move(step), followed);
}

}  // namespace systole::tensor_core
