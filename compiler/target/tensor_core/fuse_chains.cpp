#include "compiler/target/tensor_core/fuse_chains.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/word_expression.h"
#include "compiler/ir/word_step.h"
#include "compiler/operators/words.h"
#include "compiler/target/tensor_core/chains.h"
#include "hw/isa/instructions/run_chain.h"

namespace systole::tensor_core {
namespace {

/// Short work on one tensor is done again for each of its readers instead of writing its result.
constexpr std::size_t most_repeated_steps = 8;

/// The element-wise work of a node.
struct Work {
    std::vector<ir::ValueId> inputs;
    std::vector<ir::WordStep> steps;

    std::size_t values() const { return inputs.size() + steps.size(); }
};

class Fusion {
public:
    explicit Fusion(ir::Graph graph)
        : graph_(std::move(graph)),
          readers_(ir::readers(graph_)),
          producers_(ir::producers(graph_)),
          works_(graph_.nodes.size()) {}

    ir::Graph fuse() {
        for (ir::NodeId id = 0; id < graph_.nodes.size(); ++id) {
            ir::Node& node = graph_.nodes[id];
            if (!node.is("word_chain")) continue;
            works_[id] = Work{.inputs = node.inputs, .steps = operators::rounded_word_steps({graph_, node})};
            bool changed = false;
            while (const auto fused = with_one_more(id)) {
                works_[id] = *fused;
                changed = true;
            }
            if (!changed) continue;
            std::vector<std::string> texts;
            for (const ir::WordStep& step : works_[id]->steps) texts.push_back(to_text(step));
            node.inputs = works_[id]->inputs;
            node.set("steps", std::move(texts));
        }
        ir::remove_unread(graph_);
        repeat_small_work();
        return std::move(graph_);
    }

private:
    /// Each reader has its own copy of short work that reads no large tensor, before it in the same step,
    /// where an instruction has no room for both: its result goes through no memory.
    void repeat_small_work() {
        readers_ = ir::readers(graph_);
        producers_ = ir::producers(graph_);
        works_.assign(graph_.nodes.size(), {});
        for (ir::NodeId id = 0; id < graph_.nodes.size(); ++id) {
            const ir::Node& node = graph_.nodes[id];
            if (!node.is("word_chain")) continue;
            works_[id] = Work{.inputs = node.inputs, .steps = operators::rounded_word_steps({graph_, node})};
        }
        std::vector<std::vector<ir::NodeId>> copied(graph_.nodes.size());  // by reader
        for (ir::NodeId id = 0; id < graph_.nodes.size(); ++id) {
            if (!works_[id] || !may_be_repeated(id)) continue;
            for (const ir::NodeId reader : readers_[graph_.nodes[id].output()]) copied[reader].push_back(id);
        }
        std::vector<ir::Node> nodes;
        for (ir::NodeId id = 0; id < graph_.nodes.size(); ++id) {
            for (const ir::NodeId small : copied[id]) {
                ir::Node copy = graph_.nodes[small];
                const ir::ValueId old = copy.output();
                const auto made = static_cast<ir::ValueId>(graph_.values.size());
                graph_.values.push_back(graph_.values[old]);
                copy.outputs = {made};
                std::ranges::replace(graph_.nodes[id].inputs, old, made);
                nodes.push_back(std::move(copy));
            }
            nodes.push_back(graph_.nodes[id]);
        }
        graph_.nodes = std::move(nodes);
        ir::remove_unread(graph_);
    }

    bool may_be_repeated(ir::NodeId id) const {
        const ir::ValueId result = graph_.nodes[id].output();
        const ir::Value& value = graph_.values[result];
        const Work& work = *works_[id];
        const std::vector<ir::NodeId>& all = readers_[result];
        if (all.size() < 2 || ir::is_output(graph_, result)) return false;
        if (work.steps.size() > most_repeated_steps || tensors_read(work, value.shape) > 0) return false;
        // A reader behind a product or a reduction would no longer be a part of its step.
        return std::ranges::all_of(all, [&](ir::NodeId reader) {
            if (!works_[reader] || follows_step(reader)) return false;
            const ir::Value& of_reader = graph_.values[graph_.nodes[reader].output()];
            return of_reader.shape == value.shape && of_reader.is_shared == value.is_shared;
        });
    }

    /// The node's work with that of one of the nodes that it reads; nullopt if there is none to add.
    std::optional<Work> with_one_more(ir::NodeId id) const {
        const Work& work = *works_[id];
        for (const ir::ValueId input : work.inputs) {
            const std::optional<ir::NodeId> producer = producers_[input];
            if (!producer || !works_[*producer] || !may_be_part(input, id)) continue;
            const Work& first = *works_[*producer];
            if (first.values() + work.values() > ir::most_word_values) continue;
            Work both = joined(first, work, input);
            if (fits(both)) return both;
        }
        return std::nullopt;
    }

    /// Whether a reader computes the value itself: it must be as large as the reader's result, and nobody
    /// else may need it, unless it is little work.
    bool may_be_part(ir::ValueId id, ir::NodeId reader) const {
        const ir::Value& value = graph_.values[id];
        const ir::Value& result = graph_.values[graph_.nodes[reader].output()];
        if (value.shape != result.shape || value.is_shared != result.is_shared) return false;
        const Work& work = *works_[*producers_[id]];
        // Behind a product or a reduction, the chain costs no transfer of its own; at its reader it would.
        if (follows_step(*producers_[id]) && tensors_read(*works_[reader], value.shape) > 1) return false;
        const auto is_chain = [&](ir::NodeId each) { return graph_.nodes[each].is("word_chain"); };
        const std::vector<ir::NodeId>& all = readers_[id];
        const bool is_only_reader = std::ranges::all_of(all, [&](ir::NodeId each) { return each == reader; });
        if (is_only_reader) return !ir::is_output(graph_, id);
        // A reduction computes it itself, too, if it alone still reads it (chains_before_reductions.h).
        const auto repeats = [&](ir::NodeId each) {
            return is_chain(each) || (graph_.nodes[each].is("word_reduce") && !follows_step(*producers_[id]));
        };
        return std::ranges::all_of(all, repeats) && !ir::is_output(graph_, id) &&
               work.steps.size() <= most_repeated_steps && tensors_read(work, value.shape) <= 1;
    }

    /// Whether the chain alone reads what a node other than a chain computes.
    bool follows_step(ir::NodeId chain) const {
        return std::ranges::any_of(works_[chain]->inputs, [&](ir::ValueId input) {
            const std::optional<ir::NodeId> producer = producers_[input];
            if (!producer || works_[*producer] || ir::is_output(graph_, input)) return false;
            return std::ranges::all_of(readers_[input], [&](ir::NodeId each) { return each == chain; });
        });
    }

    /// Those that have at least as many elements as a result: others cost little.
    std::size_t tensors_read(const Work& work, const ir::Shape& result) const {
        return static_cast<std::size_t>(std::ranges::count_if(work.inputs, [&](ir::ValueId input) {
            const ir::Value& value = graph_.values[input];
            if (value.constant && value.shape.elements() == 1) return false;
            return value.shape.elements() >= result.elements();
        }));
    }

    /// Both have no more values together than a node may have.
    static Work joined(const Work& first, const Work& second, ir::ValueId between) {
        Work both{.inputs = first.inputs, .steps = {}};
        for (const ir::ValueId input : second.inputs) {
            if (input != between && std::ranges::find(both.inputs, input) == both.inputs.end())
                both.inputs.push_back(input);
        }
        ir::WordSteps steps(both.inputs.size());
        const auto place_of = [&](ir::ValueId input) {
            return static_cast<std::uint8_t>(std::ranges::find(both.inputs, input) - both.inputs.begin());
        };
        const auto add = [&](const Work& work, const std::optional<std::uint8_t>& result) {
            std::vector<std::uint8_t> numbers;  // of the work's values
            for (const ir::ValueId input : work.inputs)
                numbers.push_back(result && input == between ? *result : place_of(input));
            for (ir::WordStep step : work.steps) {
                for (std::uint8_t& operand : step.operands) operand = numbers[operand];
                numbers.push_back(steps.add(std::move(step)));
            }
            return numbers.back();
        };
        const std::uint8_t of_first = add(first, {});
        both.steps = steps.up_to(add(second, of_first));
        return both;
    }

    /// Whether an instruction has room for it, with as many constants as it may read.
    bool fits(const Work& work) const {
        std::vector<ChainInput> inputs(work.inputs.size());
        std::size_t sources = 0;
        for (std::size_t i = 0; i < work.inputs.size(); ++i) {
            const ir::Value& value = graph_.values[work.inputs[i]];
            if (!value.constant || value.shape.elements() > 1) inputs[i].source = sources++;
        }
        return sources <= isa::RunChain::most_sources && work.values() <= most_joined_values &&
               !broken_rule_of(sources, chain_steps(inputs, sources, work.steps));
    }

    ir::Graph graph_;
    std::vector<std::vector<ir::NodeId>> readers_;
    std::vector<std::optional<ir::NodeId>> producers_;
    std::vector<std::optional<Work>> works_;  ///< by node: of those that are chains
};

}  // namespace

ir::Graph fuse_chains(ir::Graph graph) {
    return Fusion(std::move(graph)).fuse();
}

}  // namespace systole::tensor_core
