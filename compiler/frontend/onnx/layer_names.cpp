#include "compiler/frontend/onnx/layer_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "compiler/frontend/onnx/node_order.h"

namespace systole::frontend::onnx_file {
namespace {

/// Operators whose constants are weights, and no shapes or scales.
bool has_weights(const ::onnx::NodeProto& node) {
    static const std::set<std::string_view> names{
        "Add",
        "BatchNormalization",
        "Conv",
        "ConvInteger",
        "ConvTranspose",
        "Div",
        "EmbedLayerNormalization",
        "GRU",
        "Gather",
        "Gemm",
        "GroupNormalization",
        "InstanceNormalization",
        "LSTM",
        "LayerNormalization",
        "MatMul",
        "MatMulInteger",
        "Mul",
        "PRelu",
        "QGemm",
        "QLinearConv",
        "QLinearMatMul",
        "RMSNormalization",
        "RNN",
        "SimplifiedLayerNormalization",
        "SkipLayerNormalization",
        "SkipSimplifiedLayerNormalization",
        "Sub",
    };
    return names.contains(node.op_type());
}

bool is_product(const ::onnx::NodeProto& node) {
    return node.op_type() == "MatMul" || node.op_type() == "MatMulInteger" || node.op_type() == "Conv" ||
           node.op_type() == "ConvInteger" || node.op_type() == "Gemm";
}

/// Whether a node's name says where it is.
bool has_scope(const ::onnx::NodeProto& node) {
    return !node.name().empty() && !scope_of_name(node.name()).empty();
}

/// The common part of two scopes, up to a "." or "/" of both.
std::string common_part(std::string_view a, std::string_view b) {
    const auto ends = std::ranges::mismatch(a, b);
    const bool a_ends = ends.in1 == a.end() || *ends.in1 == '.' || *ends.in1 == '/';
    const bool b_ends = ends.in2 == b.end() || *ends.in2 == '.' || *ends.in2 == '/';
    const std::string_view common = a.substr(0, static_cast<std::size_t>(ends.in1 - a.begin()));
    if (a_ends && b_ends) return std::string(common);
    return std::string(scope_of_name(common));
}

/// Which tensors of a graph are constants, and the scopes of their names.
class Constants {
public:
    explicit Constants(const ::onnx::GraphProto& graph) {
        for (const ::onnx::TensorProto& tensor : graph.initializer()) {
            scopes_.emplace(tensor.name(), scope_of_name(tensor.name()));
        }
    }

    bool contains(const std::string& tensor) const { return scopes_.contains(tensor); }

    /// What the names of the node's constants say; empty if they say nothing.
    std::string scope_of(const ::onnx::NodeProto& node) const {
        std::optional<std::string> common;
        for (const std::string& input : node.input()) {
            const auto found = scopes_.find(input);
            if (found == scopes_.end() || found->second.empty()) continue;
            common = common ? common_part(*common, found->second) : found->second;
        }
        return common.value_or("");
    }

    bool are_all_inputs_of(const ::onnx::NodeProto& node) const {
        return std::ranges::all_of(
            node.input(), [&](const std::string& input) { return input.empty() || contains(input); });
    }

    /// The results of a node that reads constants alone.
    void add_results(const ::onnx::NodeProto& node) {
        const std::string scope = scope_of(node);
        for (const std::string& output : node.output()) scopes_.emplace(output, scope);
    }

private:
    std::map<std::string, std::string, std::less<>> scopes_;
};

}  // namespace

std::string_view scope_of_name(std::string_view name) {
    const std::size_t end = name.find_last_of("./");
    const std::string_view scope = name.substr(0, end == std::string_view::npos ? 0 : end);
    const auto is_letter = [](char each) { return std::isalpha(static_cast<unsigned char>(each)) != 0; };
    return std::ranges::any_of(scope, is_letter) ? scope : std::string_view();
}

LayerNames::LayerNames(const ::onnx::GraphProto& graph) {
    Constants constants(graph);
    std::map<std::string_view, std::vector<const ::onnx::NodeProto*>> readers;
    std::set<std::string> taken;
    std::vector<const ::onnx::NodeProto*> layers;
    for (const int id : sorted_nodes(graph.node())) {
        const ::onnx::NodeProto& node = graph.node(id);
        if (constants.are_all_inputs_of(node)) {
            constants.add_results(node);
            continue;
        }
        for (const std::string& input : node.input()) readers[input].push_back(&node);
        taken.insert(name_of_node(node));
        layers.push_back(&node);
    }
    const auto only_reader = [&](const ::onnx::NodeProto& node) -> const ::onnx::NodeProto* {
        if (node.output_size() != 1) return nullptr;
        const auto found = readers.find(node.output(0));
        return found != readers.end() && found->second.size() == 1 ? found->second.front() : nullptr;
    };
    const auto scope_of = [&](const ::onnx::NodeProto& node) {
        std::string scope = has_weights(node) ? constants.scope_of(node) : std::string();
        if (!scope.empty() || !is_product(node)) return scope;
        const ::onnx::NodeProto* const behind = only_reader(node);
        return behind != nullptr && behind->op_type() == "Add" ? constants.scope_of(*behind) : scope;
    };
    for (const ::onnx::NodeProto* const node : layers) {
        if (has_scope(*node)) continue;
        const std::string scope = scope_of(*node);
        if (scope.empty()) continue;
        // A normalization written as nodes is named by its last one, which adds the bias.
        const ::onnx::NodeProto* const behind = node->op_type() == "Mul" ? only_reader(*node) : nullptr;
        const bool is_left_to_next = behind != nullptr && behind->op_type() == "Add" && !has_scope(*behind) &&
                                     constants.scope_of(*behind) == scope;
        std::string name = scope;
        if (is_left_to_next || taken.contains(name)) name = fmt::format("{}/{}", scope, name_of_node(*node));
        if (!taken.insert(name).second) continue;
        names_.emplace(node, std::move(name));
    }
}

std::string LayerNames::of(const ::onnx::NodeProto& node) const {
    const auto found = names_.find(&node);
    return found == names_.end() ? name_of_node(node) : found->second;
}

}  // namespace systole::frontend::onnx_file
