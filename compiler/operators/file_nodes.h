#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/layer_kind.h"

/// Reading of nodes of TFLite and ONNX files that operators share.
namespace systole::operators {

/// The key under which the reader of ONNX files gives each node the version of its operator set.
inline constexpr const char* opset_key = "opset";
/// The version; the newest one that is supported if the key is absent.
std::int64_t opset_of(const ir::LayerReader& layer);
ir::LayerKey opset_entry();

/// Input number `index`. Fails if the file leaves it out.
ir::ValueId input_of(const ir::LayerReader& layer, std::size_t index);
/// The shape of input number `index`.
const ir::Shape& shape_of(const ir::LayerReader& layer, std::size_t index = 0);

/// The integers of a constant input; nullopt if the file leaves it out. Fails if it is not a constant.
std::optional<std::vector<std::int64_t>> constant_integers_if_any(const ir::LayerReader& layer,
                                                                  std::size_t index);
std::vector<std::int64_t> constant_integers(const ir::LayerReader& layer, std::size_t index);
/// The same for real numbers.
std::optional<std::vector<double>> constant_reals_if_any(const ir::LayerReader& layer, std::size_t index);

/// An attribute with one integer or a list of them. Integers of more than 32 bits become the largest.
std::optional<std::vector<std::int64_t>> integers_of(const ir::LayerReader& layer, const char* key);
std::int64_t integer_of(const ir::LayerReader& layer, const char* key, std::int64_t absent);
/// An integer from 1 to 2^31 - 1.
std::int64_t positive_of(const ir::LayerReader& layer, const char* key);
/// An attribute that is an integer or a truth value.
bool flag_of(const ir::LayerReader& layer, const char* key, bool absent);

/// An axis of a tensor; negative ones count from the end.
std::size_t axis_in(const ir::LayerReader& layer, std::int64_t axis, std::size_t rank);
/// The same for several, in ascending order without repetitions.
std::vector<std::int64_t> axes_in(const ir::LayerReader& layer, const std::vector<std::int64_t>& axes,
                                  std::size_t rank);

/// Appends a node whose result has the type that the file declares (TFLite). Fails if it declares several.
std::vector<ir::ValueId> append_declared(ir::LayerReader& layer, std::string_view op,
                                         std::vector<ir::NamedAttribute> attributes,
                                         std::vector<ir::ValueId> inputs);
/// Appends a reshape that keeps type and quantization; nothing if the shape is the same.
ir::ValueId append_shape(ir::LayerReader& layer, ir::ValueId value, const ir::Shape& shape);
/// Appends a node of one result with the type and quantization of an input. Scales along an axis move with
/// it; real numbers lose those that a node does not move.
ir::ValueId append_same(ir::LayerReader& layer, std::string_view op,
                        std::vector<ir::NamedAttribute> attributes, std::vector<ir::ValueId> inputs);

/// Extents as a list attribute.
std::vector<std::int64_t> extents_of(const ir::Shape& shape);
/// Extents that follow from a file. Fails if one is negative or needs more than 32 bits.
ir::Shape shape_from(const ir::LayerReader& layer, const std::vector<std::int64_t>& extents);

/// A node of a file that becomes one node of the operator with the same inputs and without attributes.
ir::LayerKind onnx_plain_node(std::string_view op, const char* name, std::size_t inputs);
ir::LayerKind tflite_plain_node(std::string_view op, const char* name, std::size_t inputs);

/// Applies a fused function of a TFLite node on float32 to the node's result: "NONE", "RELU", "RELU6",
/// "RELU_N1_TO_1", "TANH".
ir::ValueId append_fused_function(ir::LayerReader& layer, ir::ValueId result);
/// The stored numbers to which the fused function limits a quantized result; empty: all of the type.
std::vector<std::int64_t> fused_clamp(const ir::LayerReader& layer, const ir::ResultType& result);

}  // namespace systole::operators
