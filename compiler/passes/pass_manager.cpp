#include "compiler/passes/pass_manager.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>

#include "base/message_text.h"
#include "compiler/ir/graph.h"

namespace systole::passes {
namespace {

/// The shape of a value in the order of the file's axes; that of a value inside of the network is its own.
ir::Shape file_shape(const ir::Value& value) {
    if (value.file_axes.empty()) return value.shape;
    std::vector<std::uint32_t> extents;
    for (const std::uint32_t axis : value.file_axes) extents.push_back(value.shape[axis]);
    return ir::Shape(extents);
}

/// The shapes of a graph before a pass, to which those after it are compared.
class ShapesBefore {
public:
    /// Marks the graph's values, so that they are known behind the pass, which enlarges images by a factor.
    ShapesBefore(ir::Graph& graph, std::uint32_t factor) : factor_(factor) {
        for (ir::ValueId id = 0; id < graph.values.size(); ++id) {
            ir::Value& value = graph.values[id];
            shapes_.push_back(file_shape(value));
            // The shape of a constant is part of the node that reads it.
            if (!value.constant) value.before = id;
        }
        for (const ir::ValueId input : graph.inputs) input_elements_.push_back(shapes_[input].elements());
        for (const ir::ValueId output : graph.outputs) outputs_.push_back(shapes_[output]);
    }

    /// The first value whose shape is wrong, with the reason. Takes the marks away.
    std::optional<std::string> find_changed(ir::Graph& graph) const {
        std::optional<std::string> fault = changed_end(graph);
        for (ir::ValueId id = 0; id < graph.values.size(); ++id) {
            ir::Value& value = graph.values[id];
            if (!fault && value.before && !fits(value, shapes_.at(*value.before))) {
                fault = fmt::format("value %{} {} was {} and is {}", id, in_quotes(value.name),
                                    to_text(shapes_[*value.before]), to_text(file_shape(value)));
            }
            value.before.reset();
        }
        return fault;
    }

private:
    std::optional<std::string> changed_end(const ir::Graph& graph) const {
        if (graph.inputs.size() != input_elements_.size() || graph.outputs.size() != outputs_.size()) {
            return fmt::format("it had {} inputs and {} outputs; it has {} and {}", input_elements_.size(),
                               outputs_.size(), graph.inputs.size(), graph.outputs.size());
        }
        for (std::size_t i = 0; i < outputs_.size(); ++i) {
            const ir::Value& value = graph.values[graph.outputs[i]];
            if (fits(value, outputs_[i])) continue;
            return fmt::format("output {} was {} and is {}", in_quotes(value.name), to_text(outputs_[i]),
                               to_text(file_shape(value)));
        }
        for (std::size_t i = 0; i < input_elements_.size(); ++i) {
            const ir::Value& value = graph.values[graph.inputs[i]];
            if (value.shape.elements() == input_elements_[i] * factor_ * factor_) continue;
            return fmt::format("input {} had {} elements and is {}", in_quotes(value.name),
                               input_elements_[i], to_text(value.shape));
        }
        return std::nullopt;
    }

    bool fits(const ir::Value& value, const ir::Shape& before) const {
        if (factor_ != 1) return value.shape.rank() == before.rank();
        return file_shape(value) == before;
    }

    const std::uint64_t factor_;
    std::vector<ir::Shape> shapes_;  ///< by value before the pass
    std::vector<std::uint64_t> input_elements_;
    std::vector<ir::Shape> outputs_;
};

}  // namespace

void PassManager::add(Pass pass) {
    if (std::ranges::find(passes_, pass.name, &Pass::name) != passes_.end()) {
        throw std::logic_error(fmt::format("two passes are called {}", pass.name));
    }
    passes_.push_back(std::move(pass));
}

void PassManager::add(std::string name, Transformation pass) {
    add({.name = std::move(name), .transform = std::move(pass)});
}

void PassManager::add_enlarging(std::string name, std::uint32_t factor, Transformation pass) {
    add({.name = std::move(name), .transform = std::move(pass), .factor = factor});
}

std::vector<std::string> PassManager::names() const {
    std::vector<std::string> names;
    for (const Pass& pass : passes_) names.push_back(pass.name);
    return names;
}

ir::Graph PassManager::run(ir::Graph graph, const PassObserver& observer) const {
    ir::verify(graph, "the graph that was read");
    for (const Pass& pass : passes_) {
        const ShapesBefore shapes(graph, pass.factor);
        graph = pass.transform(std::move(graph));
        ir::verify(graph, pass.name);
        if (const auto fault = shapes.find_changed(graph)) {
            throw std::logic_error(
                fmt::format("{}: a shape of {} has changed: {}", pass.name, in_quotes(graph.name), *fault));
        }
        if (observer) observer(pass.name, graph);
    }
    return graph;
}

}  // namespace systole::passes
