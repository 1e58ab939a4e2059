#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "compiler/frontend/onnx/model_proto.h"

/// The attributes of a node in an ONNX file, as JSON.
namespace systole::frontend::onnx_file {

/// Numbers, texts and lists of them by their names. A tensor becomes the list of its elements; it may have
/// few, and its data may lie in `folder`. Throws ModelError with the attribute's name if it is of another
/// kind.
nlohmann::json attributes_of(::onnx::NodeProto& node, const std::filesystem::path& folder);

/// The tensor of a Constant's attribute of this name, which loses its contents. Throws ModelError if it is
/// neither a tensor nor numbers.
::onnx::TensorProto take_constant(::onnx::AttributeProto& attribute, const std::string& name);

}  // namespace systole::frontend::onnx_file
