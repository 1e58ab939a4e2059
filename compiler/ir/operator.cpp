#include "compiler/ir/operator.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "compiler/ir/graph.h"

namespace systole::ir {

const std::vector<AttributeDeclaration>& Operator::attributes() const {
    static const std::vector<AttributeDeclaration> none;
    return none;
}

bool Operator::declares(std::string_view attribute) const {
    return std::ranges::any_of(
        attributes(), [&](const AttributeDeclaration& declaration) { return declaration.name == attribute; });
}

DataType Operator::result_type(const NodeView& node) const {
    return node.node().inputs.empty() ? DataType::Float32 : node.input().type;
}

std::vector<Constant> Operator::fold(const NodeView& /*node*/) const {
    return {};
}

std::optional<std::vector<Attribute>> Operator::on_one_image(const NodeView& /*node*/,
                                                             const std::vector<bool>& /*has_batch*/) const {
    return std::nullopt;
}

void OperatorSet::add(std::unique_ptr<const Operator> op) {
    std::string name(op->name());
    std::vector<LayerKind> layers = op->layer_kinds();
    std::vector<FunctionName> functions = op->function_names();
    const bool is_new =
        operators_.emplace(name, Entry{std::move(op), std::move(layers), std::move(functions)}).second;
    if (!is_new) throw std::logic_error(fmt::format("two operators are called {}", name));
}

const Operator* OperatorSet::find(std::string_view name) const {
    const auto found = operators_.find(name);
    return found == operators_.end() ? nullptr : found->second.op.get();
}

const Operator& OperatorSet::at(std::string_view name) const {
    const Operator* const op = find(name);
    if (op == nullptr) throw std::logic_error(fmt::format("there is no operator {}", name));
    return *op;
}

std::vector<const Operator*> OperatorSet::all() const {
    std::vector<const Operator*> operators;
    for (const auto& [name, entry] : operators_) operators.push_back(entry.op.get());
    return operators;
}

const LayerKind* OperatorSet::find_layer(Format format, std::string_view name) const {
    for (const auto& [op, entry] : operators_) {
        for (const LayerKind& kind : entry.layers) {
            if (kind.format == format && kind.name == name) return &kind;
        }
    }
    return nullptr;
}

OperatorSet::Function OperatorSet::find_function(Format format, std::string_view name) const {
    for (const auto& [op, entry] : operators_) {
        for (const FunctionName& function : entry.functions) {
            if (function.format == format && function.name == name) return {entry.op.get(), &function};
        }
    }
    return {};
}

std::vector<std::string> OperatorSet::layer_names(Format format) const {
    std::vector<std::string> names;
    for (const auto& [op, entry] : operators_) {
        for (const LayerKind& kind : entry.layers) {
            if (kind.format == format) names.push_back(kind.name);
        }
    }
    std::ranges::sort(names);
    return names;
}

std::vector<std::string> OperatorSet::function_names(Format format) const {
    std::vector<std::string> names;
    for (const auto& [op, entry] : operators_) {
        for (const FunctionName& function : entry.functions) {
            if (function.format == format) names.push_back(function.name);
        }
    }
    std::ranges::sort(names);
    return names;
}

}  // namespace systole::ir
