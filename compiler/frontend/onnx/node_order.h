#pragma once

#include <string>
#include <vector>

#include "compiler/frontend/onnx/model_proto.h"

/// The order of the nodes of an ONNX file.
namespace systole::frontend::onnx_file {

using Nodes = google::protobuf::RepeatedPtrField<::onnx::NodeProto>;

/// The name of a node: its own, or that of its first result.
std::string name_of_node(const ::onnx::NodeProto& node);

/// "node "conv1" (Conv)": the place of a node in messages.
std::string node_place(const ::onnx::NodeProto& node);

/// The indices of nodes such that each comes behind those whose results it reads, also inside of its own
/// graphs; otherwise in the order of the file. Throws ModelError for cycles.
std::vector<int> sorted_nodes(const Nodes& nodes);

}  // namespace systole::frontend::onnx_file
