#include "compiler/reference/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <utility>

#include "base/message_text.h"
#include "base/stored_integers.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/host_segments.h"
#include "compiler/operators/operator.h"

namespace systole::reference {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::ValueId;

/// The last node that reads each value; outputs of the network are kept to the end.
std::vector<NodeId> last_uses(const Graph& graph) {
    std::vector<NodeId> last(graph.values.size(), 0);
    for (NodeId id = 0; id < graph.nodes.size(); ++id) {
        for (const ValueId input : graph.nodes[id].inputs) last[input] = id;
    }
    for (const ValueId output : graph.outputs) last[output] = static_cast<NodeId>(graph.nodes.size());
    return last;
}

std::span<const std::uint8_t> bytes_of_floats(std::span<const float> floats) {
    return {reinterpret_cast<const std::uint8_t*>(floats.data()), floats.size_bytes()};
}
std::span<const float> floats_of_bytes(std::span<const std::uint8_t> bytes) {
    return {reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float)};
}

/// Integers that are given as floats, in their type. The largest int32, as a float, is one more.
TensorBytes integers_of(std::span<const float> floats, DataType type) {
    std::vector<std::int32_t> integers(floats.size());
    std::ranges::transform(floats, integers.begin(), [&](double number) {
        return static_cast<std::int32_t>(std::clamp<double>(number, lowest_of(type), highest_of(type)));
    });
    TensorBytes bytes(integers.size() * bytes_of(type));
    narrow(integers, type, bytes.data());
    return bytes;
}

std::vector<float> numbers_of(std::span<const std::uint8_t> bytes, DataType type) {
    if (!is_integer(type)) {
        const std::span<const float> floats = floats_of_bytes(bytes);
        return {floats.begin(), floats.end()};
    }
    std::vector<std::int32_t> integers(bytes.size() / bytes_of(type));
    widen(bytes.data(), type, integers);
    return {integers.begin(), integers.end()};
}

std::size_t bytes_of_value(const ir::Value& value, std::uint32_t batch) {
    return value.shape.elements() * bytes_of(value.type) * (value.has_batch() ? batch : 1);
}

/// One execution of a graph.
class Execution {
public:
    Execution(const Graph& graph, std::uint32_t batch)
        : graph_(graph), batch_(batch), last_use_(last_uses(graph)), tensors_(graph.values.size()) {}

    std::vector<TensorBytes> run(std::span<const std::span<const std::uint8_t>> inputs,
                                 const TensorObserver& observer) {
        set_inputs(inputs, observer);
        for (NodeId id = 0; id < graph_.nodes.size(); ++id) {
            const Node& node = graph_.nodes[id];
            compute(node);
            for (const ValueId output : node.outputs) {
                if (observer) observer(output, tensors_[output]);
            }
            for (const ValueId input : node.inputs) {
                if (last_use_[input] == id) TensorBytes().swap(tensors_[input]);
            }
        }
        std::vector<TensorBytes> outputs;
        for (const ValueId output : graph_.outputs) {
            const auto& constant = graph_.values[output].constant;
            outputs.push_back(constant ? repeated(constant->bytes()) : tensors_[output]);
        }
        return outputs;
    }

private:
    void set_inputs(std::span<const std::span<const std::uint8_t>> inputs, const TensorObserver& observer) {
        if (inputs.size() != graph_.inputs.size()) {
            throw std::logic_error(fmt::format("{} inputs were given for the {} of {}", inputs.size(),
                                               graph_.inputs.size(), graph_.name));
        }
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const ir::Value& value = graph_.values[graph_.inputs[i]];
            const std::size_t bytes = bytes_of_value(value, batch_);
            if (inputs[i].size() != bytes) {
                throw std::logic_error(fmt::format("the input {} has {} bytes; {} inferences need {}",
                                                   value.name, inputs[i].size(), batch_, bytes));
            }
            tensors_[graph_.inputs[i]].assign(inputs[i].begin(), inputs[i].end());
            if (observer) observer(graph_.inputs[i], inputs[i]);
        }
    }

    void compute(const Node& node) {
        // A node of which all share the result is computed once, unless it combines a batch.
        const bool is_once = graph_.values[node.output()].is_shared && !node.op->reduces_batch(node);
        std::vector<TensorBytes> copies;
        copies.reserve(node.inputs.size());  // the pointers below must stay valid
        std::vector<const void*> inputs;
        for (const ValueId input : node.inputs) {
            const ir::Value& value = graph_.values[input];
            if (value.constant) {
                inputs.push_back(value.constant->bytes().data());
            } else if (value.is_shared && !is_once) {
                inputs.push_back(copies.emplace_back(repeated(tensors_[input])).data());
            } else {
                inputs.push_back(tensors_[input].data());
            }
        }
        std::vector<void*> outputs;
        for (const ValueId output : node.outputs) {
            tensors_[output].resize(bytes_of_value(graph_.values[output], batch_));
            outputs.push_back(tensors_[output].data());
        }
        try {
            operators::operator_of(node).compute({.node = ir::NodeView(graph_, node),
                                                  .inputs = inputs,
                                                  .batch = is_once ? 1 : batch_,
                                                  .outputs = outputs});
        } catch (const ModelError& error) {
            throw ModelError(fmt::format("layer {}: {}", in_quotes(node.name), error.what()));
        }
    }

    TensorBytes repeated(std::span<const std::uint8_t> bytes) const {
        TensorBytes copies;
        for (std::uint32_t i = 0; i < batch_; ++i) copies.insert(copies.end(), bytes.begin(), bytes.end());
        return copies;
    }

    const Graph& graph_;
    std::uint32_t batch_;
    std::vector<NodeId> last_use_;
    std::vector<TensorBytes> tensors_;  ///< by value
};

/// The elements of an input for a batch.
std::size_t elements_of(const ir::Value& value, std::uint32_t batch) {
    return value.shape.elements() * (value.has_batch() ? batch : 1);
}

/// The number of images whose largest tensor fits in a second-level cache.
std::uint32_t chunk_images(const Graph& graph) {
    constexpr std::uint64_t cached_elements = std::uint64_t{1} << 18;
    constexpr std::uint64_t most_images = 64;
    std::uint64_t largest = 1;
    for (const ir::Value& value : graph.values) {
        if (!value.constant) largest = std::max(largest, value.shape.elements());
    }
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(cached_elements / largest, 1, most_images));
}

}  // namespace

std::vector<TensorBytes> run(const Graph& graph, std::span<const std::span<const std::uint8_t>> inputs,
                             std::uint32_t batch, const TensorObserver& observer) {
    return Execution(graph, batch).run(inputs, observer);
}

std::vector<std::vector<TensorBytes>> run_steps(const Graph& graph, std::vector<TensorBytes> state,
                                                std::span<const std::vector<TensorBytes>> steps,
                                                std::uint32_t batch) {
    if (state.size() != graph.state.size()) {
        throw std::logic_error(fmt::format("{} has {}; {} {} given", graph.name,
                                           counted(graph.state.size(), "state"), state.size(),
                                           state.size() == 1 ? "was" : "were"));
    }
    const std::size_t own_inputs = graph.inputs.size() - graph.state.size();
    std::vector<std::optional<std::size_t>> replaced(graph.inputs.size());  // by input
    for (std::size_t i = 0; i < state.size(); ++i) replaced[graph.state[i].input] = i;
    std::vector<std::vector<TensorBytes>> results;
    for (const std::vector<TensorBytes>& step : steps) {
        if (step.size() != own_inputs) {
            throw std::logic_error(fmt::format("a step has {}; {} has {} without state",
                                               counted(step.size(), "input"), graph.name, own_inputs));
        }
        std::vector<std::span<const std::uint8_t>> inputs;
        inputs.reserve(replaced.size());
        auto own = step.begin();
        for (const std::optional<std::size_t>& by : replaced) inputs.emplace_back(by ? state[*by] : *own++);
        results.push_back(run(graph, inputs, batch));
        for (std::size_t i = 0; i < state.size(); ++i) state[i] = results.back()[graph.state[i].output];
    }
    return results;
}

std::vector<std::vector<float>> execute(const Graph& graph, std::span<const std::span<const float>> inputs,
                                        std::uint32_t batch, const ValueObserver& observer) {
    if (inputs.size() != graph.inputs.size()) {
        throw std::logic_error(fmt::format("{} inputs were given for the {} of {}", inputs.size(),
                                           graph.inputs.size(), graph.name));
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const ir::Shape& shape = graph.values[graph.inputs[i]].shape;
        if (inputs[i].size() != elements_of(graph.values[graph.inputs[i]], batch)) {
            throw ModelError(fmt::format("{}: {} values were given for {} inputs of {}", graph.name,
                                         inputs[i].size(), batch, ir::map_text(shape)));
        }
    }
    TensorObserver on_tensor;
    if (observer) {
        on_tensor = [&](ValueId id, std::span<const std::uint8_t> bytes) {
            if (graph.values[id].type == DataType::Float32) observer(id, floats_of_bytes(bytes));
        };
    }
    std::vector<std::vector<float>> outputs(graph.outputs.size());
    // Only the whole batch gives what its inferences share, or what depends on all of them.
    const bool is_whole = std::ranges::any_of(graph.values, &ir::Value::is_shared) || ir::mixes_images(graph);
    const std::uint32_t chunk = is_whole ? std::max(batch, 1U) : chunk_images(graph);
    for (std::uint32_t first = 0; first < batch; first += chunk) {
        const std::uint32_t count = std::min(chunk, batch - first);
        std::vector<TensorBytes> integers(inputs.size());
        std::vector<std::span<const std::uint8_t>> some;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const ir::Value& value = graph.values[graph.inputs[i]];
            const auto floats = inputs[i].subspan(first * value.shape.elements(), elements_of(value, count));
            if (is_integer(value.type)) integers[i] = integers_of(floats, value.type);
            some.push_back(is_integer(value.type) ? std::span<const std::uint8_t>(integers[i])
                                                  : bytes_of_floats(floats));
        }
        const std::vector<TensorBytes> results = run(graph, some, count, on_tensor);
        for (std::size_t i = 0; i < results.size(); ++i) {
            const std::vector<float> values = numbers_of(results[i], graph.values[graph.outputs[i]].type);
            outputs[i].insert(outputs[i].end(), values.begin(), values.end());
        }
    }
    return outputs;
}

std::vector<float> execute(const Graph& graph, std::span<const float> inputs, std::uint32_t batch,
                           const ValueObserver& observer) {
    static_cast<void>(graph.input());
    static_cast<void>(graph.output());
    return std::move(execute(graph, std::span(&inputs, 1), batch, observer).front());
}

std::vector<std::uint32_t> argmax(std::span<const float> outputs, std::uint32_t batch) {
    std::vector<std::uint32_t> classes;
    const std::size_t elements = batch == 0 ? 0 : outputs.size() / batch;
    for (std::uint32_t i = 0; i < batch; ++i) {
        const auto output = outputs.subspan(i * elements, elements);
        classes.push_back(static_cast<std::uint32_t>(std::ranges::max_element(output) - output.begin()));
    }
    return classes;
}

std::vector<TensorBytes> execute_all(const Graph& graph, std::span<const std::uint8_t> input,
                                     std::uint32_t batch) {
    std::vector<TensorBytes> values(graph.values.size());
    run(graph, {&input, 1}, batch, [&](ValueId id, std::span<const std::uint8_t> bytes) {
        values[id].assign(bytes.begin(), bytes.end());
    });
    return values;
}

TensorBytes execute(const Graph& graph, std::span<const std::uint8_t> input, std::uint32_t batch) {
    return execute_all(graph, input, batch)[operators::program_output(graph)];
}

}  // namespace systole::reference
