#pragma once

#include <optional>

#include "compiler/ir/layer_kind.h"

/// Reading of ONNX nodes that have scales and zero points as inputs.
namespace systole::operators {

/// The quantization that two inputs hold, one scale or one for each index of `axis`, and the type of the zero
/// point. Fails unless both are constants that fit each other.
struct OnnxQuantization {
    ir::Quantization quantization;
    std::optional<DataType> type = {};  ///< absent without a zero point
};
OnnxQuantization onnx_quantization(const ir::LayerReader& layer, std::size_t scale_input,
                                   std::size_t zero_point_input, std::optional<std::uint32_t> axis);

/// The zero point of an operand of ConvInteger or MatMulInteger: an input of one number, or a constant 0 of
/// the operand's type if it is absent.
ir::ValueId zero_point_input(ir::LayerReader& layer, std::size_t index, DataType type);

/// Quantized weights as int8: with zero points of 0 if their numbers allow it; else, if they are uint8 of one
/// scale, 128 less, as is their zero point; else as they are.
ir::ValueId centered_weights(ir::LayerReader& layer, ir::ValueId weights);

/// The attribute `axis` of a node as an axis of a tensor; negative ones count from the end.
std::uint32_t onnx_axis(const ir::LayerReader& layer, const char* key, std::int64_t absent, std::size_t rank);

}  // namespace systole::operators
