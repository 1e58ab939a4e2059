#include "compiler/frontend/tflite/signatures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "base/message_text.h"
#include "compiler/frontend/tflite/options.h"
#include "compiler/ir/model_error.h"

namespace systole::frontend::tflite {
namespace {

/// Whether an operator of the file has subgraphs as its parts.
bool has_calls(const Model& model) {
    if (model.operator_codes() == nullptr) return false;
    return std::any_of(model.operator_codes()->begin(), model.operator_codes()->end(), [](const auto* code) {
        const std::string_view name =
            name_in("BuiltinOperator", static_cast<std::int64_t>(code->builtin_code()));
        constexpr std::array callers{"CALL", "CALL_ONCE", "IF", "WHILE"};
        return std::ranges::find(callers, name) != callers.end() || name.starts_with("STABLEHLO_");
    });
}

std::vector<Network> networks_of(const File& file) {
    const Model& model = file.model();
    const std::uint32_t subgraphs = model.subgraphs() == nullptr ? 0 : model.subgraphs()->size();
    std::vector<Network> networks;
    std::set<std::uint32_t> named;
    if (model.signature_defs() != nullptr) {
        for (const SignatureDef* const signature : *model.signature_defs()) {
            const auto* const key = signature->signature_key();
            std::string name = key == nullptr ? "" : key->str();
            if (signature->subgraph_index() >= subgraphs) {
                throw ModelError(fmt::format("signature {}: its subgraph is number {}; the file has {}",
                                             in_quotes(name), signature->subgraph_index(), subgraphs));
            }
            named.insert(signature->subgraph_index());
            networks.push_back({std::move(name), signature->subgraph_index(), signature});
        }
    }
    // Other subgraphs may be the bodies of a loop.
    const std::uint32_t own = has_calls(model) ? std::min<std::uint32_t>(subgraphs, 1) : subgraphs;
    for (std::uint32_t i = 0; i < own; ++i) {
        if (named.contains(i)) continue;
        const auto* const given = model.subgraphs()->Get(i)->name();
        std::string name = given == nullptr ? "" : given->str();
        if (name.empty() || std::ranges::find(networks, name, &Network::name) != networks.end()) {
            name = fmt::format("subgraph {}", i);
        }
        networks.push_back({.name = std::move(name), .subgraph = i});
    }
    return networks;
}

std::string list_of(const std::vector<Network>& networks) {
    std::vector<std::string> names;
    names.reserve(networks.size());
    for (const Network& network : networks) names.push_back(in_quotes(network.name));
    return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

Network network_of(const File& file, std::string_view name) {
    const std::vector<Network> networks = networks_of(file);
    if (name.empty()) {
        if (networks.size() > 1) {
            throw ModelError(fmt::format("it has {} networks; --signature must name one of them: {}",
                                         networks.size(), list_of(networks)));
        }
        return networks.empty() ? Network{} : networks.front();
    }
    const auto found = std::ranges::find(networks, name, &Network::name);
    if (found != networks.end()) return *found;
    throw ModelError(fmt::format("signature is {}; the file has {}", in_quotes(name),
                                 networks.empty() ? "none" : list_of(networks)));
}

const flatbuffers::String* name_in_signature(const flatbuffers::Vector<flatbuffers::Offset<TensorMap>>* names,
                                             std::int32_t tensor) {
    if (names == nullptr || tensor < 0) return nullptr;
    for (const TensorMap* const entry : *names) {
        if (entry->tensor_index() == static_cast<std::uint32_t>(tensor)) return entry->name();
    }
    return nullptr;
}

}  // namespace systole::frontend::tflite
