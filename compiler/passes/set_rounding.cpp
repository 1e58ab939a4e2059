// Sets the rounding of all nodes on integers to that of a machine.
#include "compiler/passes/set_rounding.h"

#include <cstdint>
#include <utility>

#include "compiler/ir/attribute.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/integer_types.h"

namespace systole::passes {
namespace {

/// Whether a node scales integers. Integers without scales stand for themselves.
bool scales_integers(const ir::NodeView& node) {
    return node.node().op->declares("rounding") && operators::works_on_integers(node) &&
           node.output().quantization.has_value();
}

ir::Node rounded_as(ir::Node node, Rounding rounding) {
    node.set("rounding", operators::rounding_value(rounding));
    if (rounding == Rounding::FloatHalfEven && node.op->declares("real_multiplier")) {
        node.set("real_multiplier", std::int64_t{0});
    }
    return node;
}

bool has_fitting_types(const ir::NodeView& node) {
    try {
        node.node().op->check_types(node);
        return true;
    } catch (const ModelError&) {
        return false;
    }
}

}  // namespace

ir::Graph set_rounding(ir::Graph graph, Rounding rounding) {
    for (ir::Node& node : graph.nodes) {
        if (!scales_integers({graph, node})) continue;
        ir::Node changed = rounded_as(node, rounding);
        if (has_fitting_types({graph, changed})) node = std::move(changed);
    }
    return graph;
}

}  // namespace systole::passes
