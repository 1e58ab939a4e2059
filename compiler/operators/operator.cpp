#include "compiler/operators/operator.h"

#include <fmt/format.h>

#include <stdexcept>

#include "compiler/ir/model_error.h"
#include "compiler/operators/lowering.h"

namespace systole::operators {

std::uint64_t Operator::macs(const ir::NodeView& /*node*/) const {
    return 0;
}

void Operator::check_types(const ir::NodeView& node) const {
    const auto check = [&](const ir::Value& value) {
        if (value.type == DataType::Float32) return;
        throw ModelError(fmt::format("{} works on float32, not on {}", name(), name_of(value.type)));
    };
    for (std::size_t i = 0; i < node.node().inputs.size(); ++i) check(node.input(i));
    check(node.output());
}

void Operator::quantize(const ir::Node& node, Quantizer& /*quantizer*/) const {
    throw std::logic_error(
        fmt::format("quantize: no rule for {}; is the graph simplified?", node.op->name()));
}

void Operator::execute(const IntegerCall& /*call*/) const {
    throw std::logic_error(fmt::format("{} is not computed on integers", name()));
}

void Operator::lower(const ir::NodeView& node, Lowering& lowering) const {
    lowering.fail(node.node(), fmt::format("it is a {} on float32, which the chip does not compute", name()));
}

bool Operator::is_identity(const ir::NodeView& /*node*/) const {
    return false;
}

std::optional<ElementFunction> Operator::function(const ir::Node& /*node*/) const {
    return std::nullopt;
}

std::optional<float> Operator::clamp_limit(const ir::Node& /*node*/) const {
    return std::nullopt;
}

const Operator& operator_of(const ir::Node& node) {
    // All operators of the registry derive from this class.
    return static_cast<const Operator&>(*node.op);
}

std::uint64_t macs(const ir::Graph& graph) {
    std::uint64_t sum = 0;
    for (const ir::Node& node : graph.nodes) sum += operator_of(node).macs(ir::NodeView(graph, node));
    return sum;
}

std::uint64_t weight_count(const ir::NodeView& node) {
    if (!operator_of(node.node()).has_weights()) return 0;
    return node.constant(0)->shape.elements();
}

std::span<const float> known_floats(const ir::Value& constant) {
    if (!constant.constant->is_known()) {
        throw std::logic_error("weights without values cannot be computed with");
    }
    return constant.constant->values<float>();
}

ir::ValueId moved_source(const ir::Graph& graph, ir::ValueId value) {
    const auto producers = ir::producers(graph);
    while (producers[value]) {
        const ir::Node& node = graph.nodes[*producers[value]];
        if (!operator_of(node).moves_elements()) break;
        value = node.inputs.front();
    }
    return value;
}

void check_bias(const ir::NodeView& node, std::uint64_t channels) {
    const ir::Value* const bias = node.constant(1);
    if (bias != nullptr && bias->shape.elements() != channels) {
        throw ModelError(
            fmt::format("its bias has {} numbers; it must have {}", bias->shape.elements(), channels));
    }
}

}  // namespace systole::operators
