#include <cstddef>
#include <cstdint>
#include <string_view>

#include "compiler/frontend/onnx.h"
#include "compiler/frontend/onnx/model_proto.h"
#include "compiler/ir/model_error.h"
#include "compiler/ir/text.h"
#include "compiler/operators/operator.h"
#include "compiler/passes/prepare.h"

namespace {

/// Whether sizes are small. Large ones are right, too, but computing their constants would take all the time.
template <typename Numbers>
bool are_small(const Numbers& numbers) {
    constexpr std::int64_t most = 64;
    for (const auto number : numbers) {
        if (number > most) return false;
    }
    return true;
}

bool is_small(const ::onnx::TensorProto& tensor) {
    // Raw integers that are no small ones have an upper byte other than 0.
    const bool may_be_sizes =
        tensor.data_type() == ::onnx::TensorProto::INT64 || tensor.data_type() == ::onnx::TensorProto::INT32;
    if (may_be_sizes && tensor.has_raw_data()) {
        for (std::size_t i = 0; i < tensor.raw_data().size(); ++i) {
            const auto byte = static_cast<unsigned char>(tensor.raw_data()[i]);
            if (byte != 0xff && byte > (i % 4 == 0 ? 64 : 0)) return false;
        }
    }
    return are_small(tensor.dims()) && are_small(tensor.int64_data()) && are_small(tensor.int32_data());
}

bool is_small(const ::onnx::GraphProto& graph);

template <typename Nodes>
bool nodes_are_small(const Nodes& nodes) {
    for (const auto& node : nodes) {
        for (const auto& attribute : node.attribute()) {
            const bool has_small = attribute.i() <= 64 && are_small(attribute.ints()) &&
                                   (!attribute.has_t() || is_small(attribute.t())) &&
                                   (!attribute.has_g() || is_small(attribute.g()));
            if (!has_small) return false;
        }
    }
    return true;
}

bool is_small(const ::onnx::GraphProto& graph) {
    for (const auto& input : graph.input()) {
        for (const auto& dimension : input.type().tensor_type().shape().dim()) {
            if (dimension.dim_value() > 64) return false;
        }
    }
    for (const auto& tensor : graph.initializer()) {
        if (!is_small(tensor)) return false;
    }
    return nodes_are_small(graph.node());
}

bool is_small(const ::onnx::ModelProto& model) {
    for (const auto& function : model.functions()) {
        if (!nodes_are_small(function.node())) return false;
    }
    return is_small(model.graph());
}

}  // namespace

/// Any bytes, as an ONNX model: read into a graph, simplified, printed.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    static_cast<void>(systole::frontend::is_onnx(bytes.substr(0, 64)));
    constexpr std::size_t most = std::size_t{1} << 20;
    ::onnx::ModelProto model;
    const bool is_model = size < most && model.ParseFromArray(data, static_cast<int>(size));
    if (is_model && !is_small(model)) return 0;
    try {
        const systole::ir::Graph graph =
            systole::frontend::build_onnx_graph(bytes, "nowhere", systole::operators::registry());
        const systole::ir::Graph simple = systole::passes::simplify(graph);
        if (simple.outputs.size() != graph.outputs.size()) __builtin_trap();
        if (to_text(simple).empty()) __builtin_trap();
    } catch (const systole::ModelError& error) {
        if (std::string_view(error.what()).find('\n') != std::string_view::npos) __builtin_trap();
    }
    return 0;
}
