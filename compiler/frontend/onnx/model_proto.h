#pragma once

// The generated code of ONNX's protobuf messages, with the definitions that it was generated with.
#include <onnx/onnx_pb.h>
