#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "compiler/frontend/onnx/model_proto.h"

/// The operator sets that an ONNX file asks for.
namespace systole::frontend::onnx_file {

/// The oldest set that is known as a whole. Of older ones, operators that it has not changed are supported.
constexpr std::int64_t oldest_opset = 7;
/// Operators of newer sets may compute something else under the same name.
constexpr std::int64_t newest_opset = 25;
/// The newest set whose attributes are all known. Attributes of newer ones are refused, and named with the
/// set.
constexpr std::int64_t newest_known_opset = 17;

/// A domain by one name: that of ONNX's own operators, which files also call "ai.onnx", is empty.
std::string domain_of(const std::string& name);
/// Whether the operator is one of ONNX's own.
bool is_own(const ::onnx::NodeProto& node);
/// The name of the operator in the registry: those of other domains have the domain before it.
std::string registered_name(const ::onnx::NodeProto& node);

/// Throws ModelError for an operator of a set before `oldest_opset` that is not the same one as in that.
void check_old_operator(const std::string& op, std::int64_t opset);

/// The versions that a model, or a function in it, imports.
class OperatorSets {
public:
    using Imports = google::protobuf::RepeatedPtrField<::onnx::OperatorSetIdProto>;
    /// Throws ModelError if a version of ONNX's own operators, or of onnxruntime's, is not supported. Other
    /// domains have the operators that the file defines as functions.
    explicit OperatorSets(const Imports& imports);

    /// The version of ONNX's own operators. Throws ModelError if only other domains are imported.
    std::int64_t own() const;

private:
    std::optional<std::int64_t> own_;
};

}  // namespace systole::frontend::onnx_file
