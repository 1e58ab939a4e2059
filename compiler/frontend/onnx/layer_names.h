#pragma once

#include <map>
#include <string>
#include <string_view>

#include "compiler/frontend/onnx/model_proto.h"

/// The names of layers, as reports have them: those of the nodes, unless the names of weights tell more.
namespace systole::frontend::onnx_file {

/// The layers of a graph by node. A node keeps its own name if that has a scope ("/layer.0/query/MatMul"). A
/// node with a name as "MatMul_12", or with none, gets the scope of its weights ("layer.0.query" of
/// "layer.0.query.weight", also where these go through other nodes first); a product whose weights have no
/// such name, that of the addition behind it, as its bias. If another layer has that name, the node's own
/// name follows the scope ("layer.0.query/MatMul_12"). All other nodes keep their names.
class LayerNames {
public:
    LayerNames() = default;
    explicit LayerNames(const ::onnx::GraphProto& graph);

    /// The name of the node's layer.
    std::string of(const ::onnx::NodeProto& node) const;

private:
    std::map<const ::onnx::NodeProto*, std::string> names_;  ///< of nodes with a name not their own
};

/// What stands before the last "." or "/" of a name, if a letter is in it; else empty.
std::string_view scope_of_name(std::string_view name);

}  // namespace systole::frontend::onnx_file
