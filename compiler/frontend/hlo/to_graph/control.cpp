// Calls, tuples, loops and choices.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/hlo/to_graph/graph_maker.h"
#include "compiler/frontend/hlo/to_graph/words.h"
#include "compiler/ir/model_error.h"

namespace systole::hlo {
namespace {

/// Loops are unrolled up to this many turns.
constexpr std::uint64_t most_turns = 4096;

}  // namespace

Arrays Operation::all_arrays() const {
    Arrays all;
    for (const SharedArrays& operand : operands) all.insert(all.end(), operand->begin(), operand->end());
    return all;
}

Arrays map_same(GraphMaker& /*maker*/, const Operation& operation) {
    return operation.all_arrays();
}

Arrays map_get_tuple_element(GraphMaker& maker, const Operation& operation) {
    const std::uint32_t index = operation.attributes<TupleElement>().index;
    const InstructionId tuple = operation.instruction.operands.front();
    const std::vector<std::size_t>& places =
        maker.part_places(operation.computation.instructions[tuple].shape);
    const Arrays& arrays = *operation.operands[0];
    return {arrays.begin() + static_cast<std::ptrdiff_t>(places[index]),
            arrays.begin() + static_cast<std::ptrdiff_t>(places[index + 1])};
}

Arrays map_call(GraphMaker& maker, const Operation& operation) {
    return *maker.evaluate(operation.instruction.called.front(),
                           {operation.operands.begin(), operation.operands.end()}, operation.lifted);
}

Arrays map_map(GraphMaker& maker, const Operation& operation) {
    const Numbers& dimensions =
        operation.lifted != nullptr ? *operation.lifted : maker.result_of(operation).dimensions;
    return *maker.evaluate(operation.instruction.called.front(),
                           {operation.operands.begin(), operation.operands.end()}, &dimensions);
}

Arrays map_while(GraphMaker& maker, const Operation& operation) {
    const ComputationId body = operation.instruction.called.at(0);
    const ComputationId condition = operation.instruction.called.at(1);
    SharedArrays state = operation.operands.front();
    for (std::uint64_t turn = 0;; ++turn) {
        const SharedArrays goes_on = maker.evaluate(condition, {state}, operation.lifted);
        const auto truth = maker.word_of(goes_on->front());
        if (!truth) {
            throw ModelError(
                "how often its body runs depends on data; loops are compiled whose condition "
                "depends on constants alone");
        }
        if (*truth == 0) return *state;
        if (turn == most_turns) {
            throw ModelError(
                fmt::format("its body runs more than {} times; loops are compiled with at most as many turns",
                            most_turns));
        }
        state = maker.evaluate(body, {std::move(state)}, operation.lifted);
    }
}

/// A known choice is made here; of others, all branches are computed, and their results are chosen from.
Arrays map_conditional(GraphMaker& maker, const Operation& operation) {
    const std::vector<ComputationId>& branches = operation.instruction.called;
    const Array& choice = operation.operand(0);
    const bool by_truth = choice.type == ElementType::Pred;
    std::vector<NodeRange> computed;
    const auto branch_of = [&](std::size_t i) {
        const std::size_t first = maker.nodes();
        Arrays results = *maker.evaluate(branches.at(i), {operation.operands[i + 1]}, operation.lifted);
        computed.push_back({first, maker.nodes()});
        return results;
    };
    if (const auto known = maker.word_of(choice)) {
        // Numbers without a branch take the last one; of a truth value, the first branch is that of true.
        const std::size_t index =
            by_truth ? (*known != 0 ? 0 : 1) : std::min<std::size_t>(*known, branches.size() - 1);
        return branch_of(index);
    }
    Arrays results = branch_of(branches.size() - 1);
    for (std::size_t i = branches.size() - 1; i-- > 0;) {
        const Arrays other = branch_of(i);
        for (std::size_t leaf = 0; leaf < results.size(); ++leaf) {
            const Array otherwise = results[leaf];
            results[leaf] = maker.chain(otherwise.type, otherwise.dimensions,
                                        {choice, other[leaf], otherwise}, [&](std::span<const ir::Word> in) {
                                            const ir::Word is_chosen =
                                                by_truth ? in[0]
                                                         : apply(WordOperation::EqualInt, in[0],
                                                                 word(in[0], static_cast<std::uint32_t>(i)));
                                            return apply(WordOperation::Select, is_chosen, in[1], in[2]);
                                        });
            if (has_64_bits(otherwise.type)) results[leaf].range.reset();
        }
    }
    maker.note_choice(std::move(computed));
    return results;
}

}  // namespace systole::hlo
