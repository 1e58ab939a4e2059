#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/data_type.h"
#include "compiler/frontend/onnx/model_proto.h"
#include "compiler/ir/constant.h"
#include "compiler/ir/shape.h"

/// Tensors in ONNX files.
namespace systole::frontend::onnx_file {

/// A constant as the graph holds it: int64 becomes int32, bool uint8, integers of 4 bits those of 8, and all
/// real numbers float32.
struct Tensor {
    ir::Shape shape;
    DataType type = DataType::Float32;
    ir::Constant contents;
    bool has_nibbles = false;  ///< the file has integers of 4 bits
};

/// The type in which the graph holds a type of ONNX. Throws ModelError if it holds none.
DataType graph_type(std::int32_t onnx_type);

/// The file of external data, which must lie in the model's own folder or below it. Throws ModelError,
/// without the tensor's name.
std::filesystem::path external_path(const std::string& location, const std::filesystem::path& folder);

/// The contents of a tensor; nullopt if it has no elements. External data lie in files in `folder`. The
/// tensor loses its contents. Throws ModelError, without the tensor's name.
std::optional<Tensor> take_tensor(::onnx::TensorProto& tensor, const std::filesystem::path& folder);

}  // namespace systole::frontend::onnx_file
