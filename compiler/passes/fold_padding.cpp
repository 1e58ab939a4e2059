// Turns borders of zeros into the padding of the convolutions that read them; borders that nothing else
// reads disappear.
#include "compiler/passes/fold_padding.h"

#include "compiler/graph/operators/convolution.h"
#include "compiler/graph/operators/depthwise_convolution.h"
#include "compiler/graph/operators/zero_padding.h"
#include "compiler/passes/unread_nodes.h"

namespace systole::passes {
namespace {

using graph::Node;
using graph::ZeroPadding;

/// The window of an operator for which elements outside the image are zeros.
graph::Window* zero_padded_window(graph::Operator& op) {
    if (auto* const convolution = dynamic_cast<graph::Convolution*>(&op)) return &convolution->window;
    if (auto* const convolution = dynamic_cast<graph::DepthwiseConvolution*>(&op))
        return &convolution->window;
    return nullptr;
}

const ZeroPadding* as_padding(const Node& node) {
    return dynamic_cast<const ZeroPadding*>(node.op.get());
}

}  // namespace

graph::Graph fold_padding(graph::Graph graph) {
    for (Node& node : graph.nodes) {
        graph::Window* const window = zero_padded_window(*node.op);
        if (window == nullptr) continue;
        while (const ZeroPadding* const padding = as_padding(graph.nodes[node.inputs[0]])) {
            window->pad_top += padding->top;
            window->pad_bottom += padding->bottom;
            window->pad_left += padding->left;
            window->pad_right += padding->right;
            node.inputs[0] = graph.nodes[node.inputs[0]].inputs[0];
        }
    }
    remove_unread_nodes(graph);
    return graph;
}

}  // namespace systole::passes
