#include "compiler/frontend/onnx/scope.h"

#include <fmt/format.h>

#include "base/message_text.h"
#include "compiler/frontend/onnx/node_order.h"
#include "compiler/ir/model_error.h"

namespace systole::frontend::onnx_file {

const ir::ValueId* Scope::find(const std::string& name) const {
    for (const Scope* scope = this; scope != nullptr; scope = scope->outer) {
        const auto found = scope->values.find(name);
        if (found != scope->values.end()) return &found->second;
    }
    return nullptr;
}

bool Scope::is_unsupported(const std::string& name) const {
    return unsupported.contains(name) || (outer != nullptr && outer->is_unsupported(name));
}

void Scope::define(const std::string& name, ir::ValueId value) {
    if (!values.emplace(name, value).second) {
        throw ModelError(
            fmt::format("two tensors are called {}; each must have a name of its own", in_quotes(name)));
    }
}

void Scope::define_from(const Scope& inner, const std::string& inner_name, const std::string& name) {
    if (name.empty()) return;
    if (inner.is_unsupported(inner_name)) {
        unsupported.insert(name);
        return;
    }
    const ir::ValueId* const id = inner.find(inner_name);
    if (id == nullptr) {
        throw ModelError(
            fmt::format("its result {} is {}, which nothing makes", in_quotes(name), in_quotes(inner_name)));
    }
    define(name, *id);
}

void Scope::define_results(const ::onnx::NodeProto& node, const ir::Results& results) {
    for (int i = 0; i < node.output_size(); ++i) {
        const std::string& name = node.output(i);
        if (name.empty()) continue;
        const auto index = static_cast<std::size_t>(i);
        if (index < results.size() && results[index] != ir::no_value) {
            define(name, results[index]);
        } else {
            unsupported.insert(name);
        }
    }
}

std::vector<ir::ValueId> Scope::inputs_of(const ::onnx::NodeProto& node) const {
    std::vector<ir::ValueId> inputs;
    for (const std::string& name : node.input()) {
        if (name.empty()) {
            inputs.push_back(ir::no_value);
            continue;
        }
        const ir::ValueId* const found = find(name);
        if (found == nullptr && is_unsupported(name)) {
            throw ModelError(fmt::format("it reads {}, a result that is not supported", in_quotes(name)));
        }
        if (found == nullptr) {
            throw ModelError(fmt::format("it reads {}, which nothing makes", in_quotes(name)));
        }
        inputs.push_back(*found);
    }
    return inputs;
}

::onnx::AttributeProto* Scope::resolved(::onnx::AttributeProto& attribute) const {
    if (attribute.ref_attr_name().empty() || call == nullptr) return &attribute;
    const auto found = call->attributes.find(attribute.ref_attr_name());
    return found == call->attributes.end() ? nullptr : found->second;
}

::onnx::NodeProto Scope::with_values(::onnx::NodeProto& node) const {
    ::onnx::NodeProto copy;
    copy.set_name(node.name());
    copy.set_op_type(node.op_type());
    copy.set_domain(node.domain());
    *copy.mutable_input() = node.input();
    *copy.mutable_output() = node.output();
    for (::onnx::AttributeProto& attribute : *node.mutable_attribute()) {
        const ::onnx::AttributeProto* const value = resolved(attribute);
        if (value == nullptr) continue;
        ::onnx::AttributeProto& added = *copy.add_attribute();
        added = *value;
        added.set_name(attribute.name());
    }
    return copy;
}

std::string Scope::layer_name(const ::onnx::NodeProto& node) const {
    return prefix + (names == nullptr ? name_of_node(node) : names->of(node));
}

std::string Scope::inner_prefix(const ::onnx::NodeProto& node) const {
    constexpr std::size_t most_characters = 200;
    std::string inner = layer_name(node) + "/";
    return inner.size() <= most_characters ? inner : prefix;
}

}  // namespace systole::frontend::onnx_file
