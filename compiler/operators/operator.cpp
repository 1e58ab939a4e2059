#include "compiler/operators/operator.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "base/stored_integers.h"
#include "compiler/ir/encoding.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/quantizer.h"
#include "compiler/operators/words_builder.h"

namespace systole::operators {
namespace {

/// The real numbers of an input: its own elements, or those that its integers stand for.
std::vector<float> reals_of_input(const TensorCall& call, std::size_t input) {
    const ir::Value& value = call.node.input(input);
    if (!value.quantization || value.quantization->axis) {
        throw std::logic_error(fmt::format("{} has no scale to be computed in float with", value.name));
    }
    std::vector<std::int32_t> stored(call.input_elements(input));
    widen(call.inputs[input], value.type, stored);
    return real_numbers(stored, value);
}

void compute_in_float(const Operator& op, const TensorCall& call) {
    std::vector<std::vector<float>> converted;
    converted.reserve(call.inputs.size());  // the pointers below must stay valid
    std::vector<const float*> inputs;
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
        const bool is_float = call.node.input(i).type == DataType::Float32;
        inputs.push_back(is_float ? call.input<float>(i)
                                  : converted.emplace_back(reals_of_input(call, i)).data());
    }
    op.evaluate({.node = call.node, .inputs = inputs, .batch = call.batch, .output = call.output<float>()});
}

void compute_on_integers(const Operator& op, const TensorCall& call) {
    std::vector<std::vector<std::int32_t>> converted(call.inputs.size());
    std::vector<const std::int32_t*> inputs;
    for (std::size_t i = 0; i < converted.size(); ++i) {
        const ir::Value& value = call.node.input(i);
        // Weights, and other constants of float32, are read where they are.
        if (value.constant && (op.has_weights() || !is_integer(value.type))) {
            inputs.push_back(nullptr);
            continue;
        }
        converted[i].resize(call.input_elements(i));
        widen(call.inputs[i], value.type, converted[i]);
        inputs.push_back(converted[i].data());
    }
    std::vector<std::int32_t> result(call.output_elements());
    op.execute({.node = call.node, .inputs = inputs, .batch = call.batch, .output = result.data()});
    narrow(result, call.node.output().type, call.outputs.front());
}

}  // namespace

void Operator::check_types(const ir::NodeView& node) const {
    const auto check = [&](const ir::Value& value) {
        if (value.type == DataType::Float32) return;
        throw ModelError(
            fmt::format("{} works on float32; {} is not supported", name(), name_of(value.type)));
    };
    for (std::size_t i = 0; i < node.node().inputs.size(); ++i) check(node.input(i));
    check(node.output());
}

void Operator::quantize(const ir::Node& node, Quantizer& quantizer) const {
    quantizer.add_real(node);
}

void Operator::to_words(const ir::Node& /*node*/, WordsBuilder& /*builder*/) const {
    throw std::logic_error(fmt::format("{} has no rule for words", name()));
}

void Operator::fail_without_words(const ir::Node& node) const {
    WordsBuilder::fail(node, fmt::format("machines with a tensor core do not compute {} yet", name()));
}

void Operator::evaluate(const FloatCall& /*call*/) const {
    throw std::logic_error(fmt::format("{} is not computed in float", name()));
}

void Operator::compute(const TensorCall& call) const {
    if (call.outputs.size() != 1) {
        throw std::logic_error(
            fmt::format("{} has {} results, and no rule for them", name(), call.outputs.size()));
    }
    if (call.node.output().type == DataType::Float32) {
        compute_in_float(*this, call);
    } else {
        compute_on_integers(*this, call);
    }
}

std::vector<ir::Constant> Operator::fold(const ir::NodeView& node) const {
    std::vector<const void*> inputs;
    for (std::size_t i = 0; i < node.node().inputs.size(); ++i) {
        inputs.push_back(node.input(i).constant->bytes().data());
    }
    std::vector<std::vector<std::uint8_t>> results;
    std::vector<void*> outputs;
    for (std::size_t i = 0; i < node.node().outputs.size(); ++i) {
        const ir::Value& value = node.output(i);
        outputs.push_back(results.emplace_back(value.shape.elements() * bytes_of(value.type)).data());
    }
    compute({.node = node, .inputs = inputs, .batch = 1, .outputs = outputs});
    std::vector<ir::Constant> constants;
    constants.reserve(results.size());
    for (std::vector<std::uint8_t>& result : results) {
        constants.push_back(ir::Constant::of(std::move(result)));
    }
    return constants;
}

void Operator::execute(const IntegerCall& call) const {
    const ir::NodeView& node = call.node;
    std::vector<std::vector<float>> reals;
    std::vector<const float*> inputs;
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
        const ir::Value& value = node.input(i);
        if (call.inputs[i] == nullptr) {
            inputs.push_back(known_floats(value).data());
            continue;
        }
        const std::size_t elements = value.shape.elements() * (value.constant ? 1 : call.batch);
        reals.push_back(real_numbers(std::span(call.inputs[i], elements), value));
        inputs.push_back(reals.back().data());
    }
    std::vector<float> result(call.batch * node.output().shape.elements());
    evaluate({.node = node, .inputs = inputs, .batch = call.batch, .output = result.data()});
    store_numbers(result, node.output(), std::span(call.output, result.size()));
}

std::uint64_t Operator::operations(const ir::NodeView& node) const {
    return 2 * macs(node) + node.output().shape.elements();
}

bool Operator::is_identity(const ir::NodeView& /*node*/) const {
    return false;
}

std::optional<PermutedNode> Operator::permuted(const ir::NodeView& /*node*/,
                                               std::span<const std::uint32_t> /*axes*/) const {
    return std::nullopt;
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

std::span<const float> known_floats(const ir::Value& constant) {
    if (!constant.constant->is_known()) {
        throw std::logic_error("weights without values cannot be computed with");
    }
    return constant.constant->values<float>();
}

std::vector<ir::ValueId> moved_sources(const ir::Graph& graph) {
    std::vector<ir::ValueId> sources(graph.values.size());
    std::iota(sources.begin(), sources.end(), ir::ValueId{0});
    // Nodes come behind those whose results they read.
    for (const ir::Node& node : graph.nodes) {
        if (!operator_of(node).moves_elements()) continue;
        for (const ir::ValueId output : node.outputs) sources[output] = sources[node.inputs.front()];
    }
    return sources;
}

PermutedNode permuted_elements(const ir::NodeView& node, std::span<const std::uint32_t> axes) {
    return {node.node().attributes, {axes.begin(), axes.end()}};
}

std::optional<std::vector<ir::Attribute>> kept_batch(const ir::NodeView& node,
                                                     const std::vector<bool>& has_batch, bool keeps) {
    const bool has_others = std::find(has_batch.begin() + 1, has_batch.end(), true) != has_batch.end();
    if (!keeps || !has_batch.front() || has_others) return std::nullopt;
    return node.node().attributes;
}

std::optional<std::vector<ir::Attribute>> batch_of_elements(const ir::NodeView& node,
                                                            const std::vector<bool>& has_batch) {
    const std::size_t rank = node.output().shape.rank();
    for (std::size_t i = 0; i < has_batch.size(); ++i) {
        const ir::Shape& shape = node.input(i).shape;
        // An input that is the same for all images is so along the first axis of the result.
        const bool fits = has_batch[i] ? shape.rank() == rank : shape.rank() < rank || shape[0] == 1;
        if (!fits) return std::nullopt;
    }
    return node.node().attributes;
}

void check_bias(const ir::NodeView& node, std::uint64_t channels) {
    const ir::Value* const bias = node.parameter(1);
    if (bias != nullptr && bias->shape.elements() != channels) {
        throw ModelError(
            fmt::format("its bias has {} numbers; it must have {}", bias->shape.elements(), channels));
    }
}

}  // namespace systole::operators
