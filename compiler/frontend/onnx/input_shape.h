#pragma once

#include <string_view>

#include "compiler/frontend/input_shapes.h"
#include "compiler/frontend/onnx/model_proto.h"
#include "compiler/ir/shape.h"

namespace systole::frontend::onnx_file {

/// Whether the file leaves a dimension open: it has no number, or one below 1.
bool has_no_size(const ::onnx::TensorShapeProto::Dimension& dimension);

/// The shape of an input. Dimensions that the file leaves open are those that are known, or 1 if it is the
/// first, the batch. Throws ModelError, without the input's name, if a size is absent or given otherwise than
/// in the file.
ir::Shape shape_of_input(const ::onnx::TypeProto::Tensor& type, const InputShapes& shapes,
                         std::string_view input);

}  // namespace systole::frontend::onnx_file
