#include "compiler/ir/split_batch.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "base/message_text.h"
#include "compiler/ir/model_error.h"
#include "compiler/ir/operator.h"

namespace systole::ir {
namespace {

Shape with_batch(const Shape& shape, std::uint32_t batch) {
    std::vector<std::uint32_t> extents(shape.extents().begin(), shape.extents().end());
    extents.front() = batch;
    return Shape(extents);
}

/// Whether the batch can be the first axis of a value.
bool may_have_batch(const Value& value, std::uint32_t batch) {
    const bool is_scaled_by_image = value.quantization && value.quantization->axis == 0U;
    return value.shape.rank() > 0 && value.shape[0] == batch && !is_scaled_by_image;
}

}  // namespace

std::uint32_t common_batch(const Graph& graph) {
    std::optional<std::uint32_t> batch;
    for (const ValueId input : graph.inputs) {
        const Shape& shape = graph.values[input].shape;
        if (shape.rank() < 2 || (batch && shape[0] != *batch)) return 1;
        batch = shape[0];
    }
    return batch.value_or(1);
}

void split_batch(Graph& graph) {
    const std::uint32_t batch = graph.batch;
    const auto refuse = [&](const std::string& what) {
        throw ModelError(
            fmt::format("its batch is fixed at {}, and {}; such networks are not supported", batch, what));
    };
    std::vector<bool> has_batch(graph.values.size(), false);
    for (const ValueId input : graph.inputs) has_batch[input] = true;
    for (Node& node : graph.nodes) {
        const NodeView view(graph, node);
        std::vector<bool> inputs;
        bool reads_images = false;
        for (const ValueId input : node.inputs) {
            inputs.push_back(has_batch[input]);
            reads_images |= has_batch[input];
        }
        if (!reads_images) continue;
        std::optional<std::vector<Attribute>> attributes = node.op->on_one_image(view, inputs);
        for (std::size_t i = 0; attributes && i < node.outputs.size(); ++i) {
            if (!may_have_batch(view.output(i), batch)) attributes.reset();
            has_batch[node.outputs[i]] = true;
        }
        if (!attributes) {
            refuse(fmt::format("node {} ({}) may not compute each image alone", in_quotes(node.name),
                               node.op->name()));
        }
        node.attributes = *std::move(attributes);
    }
    for (const ValueId output : graph.outputs) {
        if (has_batch[output]) continue;
        refuse(fmt::format("output {} does not depend on the images", in_quotes(graph.values[output].name)));
    }
    std::vector<Shape> expected;
    for (ValueId id = 0; id < graph.values.size(); ++id) {
        const Shape& shape = graph.values[id].shape;
        expected.push_back(has_batch[id] ? with_batch(shape, 1) : shape);
    }
    for (const ValueId input : graph.inputs) graph.values[input].shape = expected[input];
    graph.batch = 1;
    infer_shapes(graph);
    for (ValueId id = 0; id < graph.values.size(); ++id) {
        if (graph.values[id].shape == expected[id]) continue;
        refuse(fmt::format("of one image, {} is {}, where {} is expected", in_quotes(graph.values[id].name),
                           to_text(graph.values[id].shape), to_text(expected[id])));
    }
}

}  // namespace systole::ir
