#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "base/conversion.h"
#include "base/message_text.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/model_error.h"

namespace systole::ir {
namespace {

class Verifier {
public:
    explicit Verifier(const Graph& graph) : graph_(graph), defined_(graph.values.size(), false) {}

    std::optional<std::string> find() {
        check_ends(graph_.inputs, "input");
        check_ends(graph_.outputs, "output");
        if (fault_) return fault_;
        if (graph_.replicas == 0) fail("it has 0 replicas; there must be at least 1");
        check_repeated();
        for (ValueId id = 0; id < graph_.values.size() && !fault_; ++id) check_value(id);
        if (!fault_) check_state();
        if (!fault_) check_caches();
        for (const ValueId id : graph_.inputs) define(id, "the network's inputs");
        for (std::size_t id = 0; id < graph_.nodes.size() && !fault_; ++id) check_node(id);
        for (ValueId id = 0; id < graph_.values.size() && !fault_; ++id) {
            if (!defined_[id]) fail(fmt::format("value %{}: nothing makes it", id));
        }
        return fault_;
    }

private:
    void fail(std::string fault) {
        if (!fault_) fault_ = std::move(fault);
    }

    void check_ends(const std::vector<ValueId>& ends, const char* what) {
        if (ends.empty()) fail(fmt::format("the network has no {}", what));
        for (const ValueId id : ends) {
            if (id >= graph_.values.size()) fail(fmt::format("{} %{} is no value", what, id));
        }
    }

    void check_repeated() {
        std::set<std::string_view> names;
        for (const std::string& name : graph_.repeated) {
            if (!names.insert(name).second)
                fail(fmt::format("repeated {}: it is stated more than once", in_quotes(name)));
        }
    }

    void check_state() {
        std::vector<bool> has_input(graph_.inputs.size(), false);
        std::vector<bool> has_output(graph_.outputs.size(), false);
        for (const Graph::State& state : graph_.state) {
            if (state.input >= has_input.size() || state.output >= has_output.size()) {
                return fail("a state is of inputs or outputs that the network does not have");
            }
            const Value& before = graph_.values[graph_.inputs[state.input]];
            const Value& after = graph_.values[graph_.outputs[state.output]];
            const auto wrong = [&](std::string_view rule) {
                fail(fmt::format("state %{} {} -> %{} {}: {}", graph_.inputs[state.input],
                                 in_quotes(before.name), graph_.outputs[state.output], in_quotes(after.name),
                                 rule));
            };
            if (has_input[state.input] || has_output[state.output]) {
                return wrong("an input and an output may be of one state only");
            }
            has_input[state.input] = true;
            has_output[state.output] = true;
            if (before.shape != after.shape || before.type != after.type ||
                before.quantization != after.quantization || before.file_axes != after.file_axes ||
                before.file_type != after.file_type || before.split_axis != after.split_axis) {
                return wrong(
                    "both must have the same shape, type and scales, the same axes and number format in "
                    "files, "
                    "and be split along the same axis");
            }
            if (before.is_shared != after.is_shared) {
                return wrong("all inferences must share both, or none");
            }
        }
    }

    void check_caches() {
        std::vector<bool> has_input(graph_.inputs.size(), false);
        std::vector<bool> has_output(graph_.outputs.size(), false);
        for (const Graph::State& state : graph_.state) {
            has_input.at(state.input) = true;
            has_output.at(state.output) = true;
        }
        for (const Graph::Cache& cache : graph_.caches) {
            if ((cache.input && *cache.input >= has_input.size()) || cache.output >= has_output.size())
                return fail("a cache is of inputs or outputs that the network does not have");
            const Value& after = graph_.values[graph_.outputs[cache.output]];
            const auto wrong = [&](std::string_view rule) {
                fail(fmt::format("cache of output %{} {}: {}", graph_.outputs[cache.output],
                                 in_quotes(after.name), rule));
            };
            if (has_output[cache.output] || (cache.input && has_input[*cache.input]))
                return wrong("an input and an output may be of one cache or state only");
            has_output[cache.output] = true;
            if (!after.file_axes.empty() || !after.has_batch()) {
                return wrong(
                    "it must have the order of axes that it has in the file, and no inferences may share it");
            }
            if (!cache.input) continue;
            has_input[*cache.input] = true;
            const Value& before = graph_.values[graph_.inputs[*cache.input]];
            if (!longer_axis(before.shape, after.shape))
                return wrong("it must have the input's shape, but be longer along one axis");
            if (before.file_type != after.file_type || !before.file_axes.empty() || !before.has_batch()) {
                return wrong(
                    "its input must have the same number format and the order of axes that it has in the "
                    "file, and no inferences may share it");
            }
        }
    }

    void define(ValueId id, const std::string& by) {
        if (defined_[id]) fail(fmt::format("value %{}: {} and something before define it", id, by));
        defined_[id] = true;
    }

    void check_value(ValueId id) {
        const Value& value = graph_.values[id];
        const auto wrong = [&](std::string_view rule) {
            fail(fmt::format("value %{} {}: {}", id, in_quotes(value.name), rule));
        };
        const auto elements = value.shape.checked_elements();
        // The front ends limit the number of weights.
        const bool has_room = value.constant.has_value();
        if (!elements || (!has_room && *elements > maximum_elements)) {
            return wrong(fmt::format("its shape is {}; it has at most {} elements", to_text(value.shape),
                                     maximum_elements));
        }
        if (*elements == 0) return wrong("its shape has an extent of 0; each must be at least 1");
        if (value.constant) {
            define(id, "a constant");
            if (value.is_shared) wrong("it is stated to be shared; constants are so without it");
            if (value.constant->is_known() &&
                value.constant->bytes().size() != *elements * bytes_of(value.type)) {
                wrong(fmt::format("it has {} bytes; {} of {} has {}", value.constant->bytes().size(),
                                  to_text(value.shape), name_of(value.type),
                                  *elements * bytes_of(value.type)));
            }
        }
        if (!value.file_axes.empty()) check_file_axes(value, wrong);
        if (!may_have(value.type, value.type))
            wrong(fmt::format("its type is {}, which only files have", name_of(value.type)));
        if (value.file_type && !may_have(value.type, *value.file_type)) {
            wrong(fmt::format("it is {}, which cannot be {} in files", name_of(value.type),
                              name_of(*value.file_type)));
        }
        if (value.split_axis && (graph_.replicas < 2 || *value.split_axis + 1 >= value.shape.rank()))
            wrong("it is split along an axis that it has not, or there is one replica");
        if (!value.file_axes.empty() && graph_.replicas > 1)
            wrong("it has an order of axes in the file; arrays of several replicas have none");
        if (value.range) check_range(value, wrong);
        if (value.quantization) check_quantization(value, wrong);
        const bool is_stored = is_integer(value.type) && !value.constant && value.quantization;
        if (value.conversion != Conversion::Nearest && (!is_stored || value.quantization->axis)) {
            wrong("it has a conversion; only activations of integers with one scale have one");
        }
    }

    /// Whether the elements of a value of this type can be of another format in files (Value::file_type).
    static bool may_have(DataType type, DataType in_files) {
        switch (in_files) {
            case DataType::Uint32:
            case DataType::Bool:
                return type == DataType::Int32;
            case DataType::Float16:
                return type == DataType::Float32;
            case DataType::Bfloat16:
                return type == DataType::Float32 || type == in_files;
            case DataType::Uint8:
            case DataType::Int8:
            case DataType::Int16:
            case DataType::Uint16:
                return type == DataType::Int32 || type == in_files;
            case DataType::Int32:
            case DataType::Float32:
                return type == in_files;
        }
        throw std::logic_error("a number format that does not exist");
    }

    template <typename Wrong>
    void check_file_axes(const Value& value, const Wrong& wrong) {
        std::vector<std::uint32_t> axes = value.file_axes;
        std::ranges::sort(axes);
        bool is_permutation = axes.size() == value.shape.rank();
        for (std::size_t i = 0; i < axes.size(); ++i) is_permutation &= axes[i] == i;
        if (!is_permutation) wrong("its axes in the file must be each of its axes once");
    }

    template <typename Wrong>
    void check_range(const Value& value, const Wrong& wrong) {
        const Range& range = *value.range;
        if (value.type != DataType::Float32 || value.constant) {
            return wrong("it has a range; only float activations have one");
        }
        // The range of what the host alone computes may be infinite, or not a number.
        if (range.minimum > 0.0F || range.maximum < 0.0F) {
            wrong(fmt::format("its range is {} to {}; it must hold 0", range.minimum, range.maximum));
        }
    }

    template <typename Wrong>
    void check_quantization(const Value& value, const Wrong& wrong) {
        const Quantization& quantization = *value.quantization;
        // Constants behind a `dequantize` keep the scale of the integers that they were, for fold_qdq.
        const bool were_integers = value.type == DataType::Float32 && value.constant;
        if (!is_integer(value.type) && !were_integers) {
            return wrong(
                "it is of a floating type; only integers, and constants that were integers, have a scale");
        }
        std::size_t scales = 1;
        if (quantization.axis) {
            if (*quantization.axis >= value.shape.rank())
                return wrong("its quantized axis must be one it has");
            scales = value.shape[*quantization.axis];
        }
        if (quantization.scales.size() != scales || quantization.zero_points.size() != scales) {
            return wrong(fmt::format("it has {} scales and {} zero points; it must have {} of each",
                                     quantization.scales.size(), quantization.zero_points.size(), scales));
        }
        for (const double scale : quantization.scales) {
            if (!(scale > 0.0) || !std::isfinite(scale)) {
                return wrong(fmt::format("a scale is {}; it must be above 0 and finite", scale));
            }
        }
        if (were_integers) return;
        for (const std::int32_t zero_point : quantization.zero_points) {
            if (zero_point < lowest_of(value.type) || zero_point > highest_of(value.type)) {
                return wrong(fmt::format("a zero point is {}; it must be a number of its type, {} to {}",
                                         zero_point, lowest_of(value.type), highest_of(value.type)));
            }
        }
    }

    void check_node(std::size_t position) {
        const Node& node = graph_.nodes[position];
        const auto wrong = [&](std::string_view rule) {
            fail(fmt::format("node {} {}: {}", position, in_quotes(node.name), rule));
        };
        if (node.op == nullptr) return wrong("it has no operator");
        for (const ValueId id : node.inputs) {
            if (id >= graph_.values.size()) return wrong(fmt::format("input %{} is no value", id));
            if (!defined_[id]) return wrong(fmt::format("input %{} is made behind it or never", id));
        }
        for (const ValueId id : node.outputs) {
            if (id >= graph_.values.size()) return wrong(fmt::format("result %{} is no value", id));
            define(id, fmt::format("node {}", position));
        }
        if (fault_) return;
        check_attributes(node, wrong);
        check_roles(node, wrong);
        if (fault_) return;
        const NodeView view(graph_, node);
        try {
            const std::vector<Shape> shapes = node.op->output_shapes(view);
            if (shapes.size() != node.outputs.size())
                return wrong(fmt::format("it must have {} results", shapes.size()));
            for (std::size_t i = 0; i < shapes.size(); ++i) {
                if (view.output(i).shape == shapes[i]) continue;
                return wrong(fmt::format("its result is {}; it must be {}", to_text(view.output(i).shape),
                                         to_text(shapes[i])));
            }
            check_shared(view, wrong);
            if (fault_) return;
            node.op->check_types(view);
        } catch (const ModelError& error) {
            wrong(error.what());
        }
    }

    /// Checks which inferences have the results.
    template <typename Wrong>
    void check_shared(const NodeView& view, const Wrong& wrong) {
        const auto has_batch = [&](ValueId id) { return graph_.values[id].has_batch(); };
        if (view.node().op->reduces_batch(view.node()) &&
            std::ranges::none_of(view.node().inputs, has_batch)) {
            return wrong("it combines a batch, and all inferences share its input");
        }
        const bool is_shared = makes_shared(view);
        for (std::size_t i = 0; i < view.node().outputs.size(); ++i) {
            if (view.output(i).is_shared == is_shared) continue;
            return wrong(is_shared ? "all inferences must share its result"
                                   : "its result must not be shared: inferences have inputs of their own");
        }
    }

    /// Checks the division of the inputs into data and parameters.
    template <typename Wrong>
    void check_roles(const Node& node, const Wrong& wrong) {
        const std::vector<std::string_view> roles = node.op->parameter_roles();
        if (!node.stated_data) {
            if (roles.empty()) return;
            const auto is_constant = [&](ValueId id) { return graph_.values[id].constant.has_value(); };
            if (std::ranges::is_partitioned(node.inputs, std::not_fn(is_constant))) return;
            return wrong("a constant precedes a computed input; ';' must divide data and parameters");
        }
        if (roles.empty())
            return wrong(fmt::format("{} has no parameters to divide from data", node.op->name()));
        const std::size_t inputs = node.inputs.size();
        if (*node.stated_data == 0 || *node.stated_data >= inputs ||
            inputs - *node.stated_data > roles.size()) {
            wrong(fmt::format(
                "it has {} inputs, {} of them data; it must have data, then parameters, at most {}: {}",
                inputs, *node.stated_data, roles.size(), joined(roles)));
        }
    }

    template <typename Wrong>
    void check_attributes(const Node& node, const Wrong& wrong) {
        const std::vector<AttributeDeclaration>& declarations = node.op->attributes();
        if (node.attributes.size() != declarations.size()) {
            return wrong(fmt::format("it has {} attributes; {} has {}", node.attributes.size(),
                                     node.op->name(), declarations.size()));
        }
        for (std::size_t i = 0; i < declarations.size(); ++i) {
            if (const auto rule = broken_rule(declarations[i], node.attributes[i])) {
                return wrong(fmt::format("attribute {} is {}; {}", declarations[i].name,
                                         to_text(node.attributes[i]), *rule));
            }
        }
    }

    const Graph& graph_;
    std::vector<bool> defined_;
    std::optional<std::string> fault_;
};

}  // namespace

std::optional<std::string> find_fault(const Graph& graph) {
    return Verifier(graph).find();
}

void verify(const Graph& graph, std::string_view pass) {
    if (const auto fault = find_fault(graph)) {
        throw std::logic_error(
            fmt::format("{}: the graph of {} is broken: {}", pass, in_quotes(graph.name), *fault));
    }
}

}  // namespace systole::ir
