#include "compiler/frontend/onnx/operator_sets.h"

#include <fmt/format.h>

#include "base/message_text.h"
#include "compiler/ir/model_error.h"

namespace systole::frontend::onnx_file {
namespace {

constexpr const char* runtime_domain = "com.microsoft";
/// onnxruntime has changed its operators only by adding to them.
constexpr std::int64_t runtime_version = 1;

}  // namespace

std::string domain_of(const std::string& name) {
    return name == "ai.onnx" ? std::string() : name;
}

bool is_own(const ::onnx::NodeProto& node) {
    return domain_of(node.domain()).empty();
}

std::string registered_name(const ::onnx::NodeProto& node) {
    return is_own(node) ? node.op_type() : node.domain() + "." + node.op_type();
}

OperatorSets::OperatorSets(const Imports& imports) {
    // Files before IR version 3 name none; they mean the first.
    if (imports.empty()) own_ = 1;
    for (const auto& import : imports) {
        if (domain_of(import.domain()).empty()) own_ = import.version();
        if (import.domain() == runtime_domain && import.version() != runtime_version) {
            throw ModelError(fmt::format("its operator set of the domain {} is {}; it must be {}",
                                         in_quotes(runtime_domain), import.version(), runtime_version));
        }
    }
    if (own_ && *own_ < oldest_opset) {
        throw ModelError(fmt::format("its operator set is {}; it must be {} or newer", *own_, oldest_opset));
    }
    if (own_ && *own_ > newest_opset) {
        throw ModelError(
            fmt::format("its operator set is {}; the newest that is known is {}", *own_, newest_opset));
    }
}

std::int64_t OperatorSets::own() const {
    if (own_) return *own_;
    throw ModelError(
        "it is one of ONNX's own operators, but the file imports only operator sets of other domains");
}

}  // namespace systole::frontend::onnx_file
