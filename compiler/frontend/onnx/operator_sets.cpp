#include "compiler/frontend/onnx/operator_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/message_text.h"
#include "compiler/ir/model_error.h"

namespace systole::frontend::onnx_file {
namespace {

constexpr const char* runtime_domain = "com.microsoft";
/// onnxruntime has changed its operators only by adding to them.
constexpr std::int64_t runtime_version = 1;

/// The set since which an operator has been what it is in `oldest_opset`.
struct OldOperator {
    std::string_view name;
    std::int64_t since = 1;
};

constexpr std::array<OldOperator, 68> old_operators{{{"Abs", 6},
                                                     {"ArgMax"},
                                                     {"ArgMin"},
                                                     {"Cast", 6},
                                                     {"Ceil", 6},
                                                     {"Clip", 6},
                                                     {"Concat", 4},
                                                     {"Constant"},
                                                     {"Conv"},
                                                     {"ConvTranspose"},
                                                     {"DepthToSpace"},
                                                     {"Elu", 6},
                                                     {"Exp", 6},
                                                     {"Flatten"},
                                                     {"Floor", 6},
                                                     {"Gather"},
                                                     {"GlobalAveragePool"},
                                                     {"GlobalLpPool", 2},
                                                     {"GlobalMaxPool"},
                                                     {"HardSigmoid", 6},
                                                     {"Hardmax"},
                                                     {"Identity"},
                                                     {"InstanceNormalization", 6},
                                                     {"LRN"},
                                                     {"LeakyRelu", 6},
                                                     {"Log", 6},
                                                     {"LogSoftmax"},
                                                     {"LpNormalization"},
                                                     {"LpPool", 2},
                                                     {"MatMul"},
                                                     {"Max", 6},
                                                     {"MaxPool"},
                                                     {"Mean", 6},
                                                     {"Min", 6},
                                                     {"Neg", 6},
                                                     {"Not"},
                                                     {"Pad", 2},
                                                     {"Reciprocal", 6},
                                                     {"ReduceL1"},
                                                     {"ReduceL2"},
                                                     {"ReduceLogSum"},
                                                     {"ReduceLogSumExp"},
                                                     {"ReduceMax"},
                                                     {"ReduceMean"},
                                                     {"ReduceMin"},
                                                     {"ReduceProd"},
                                                     {"ReduceSum"},
                                                     {"ReduceSumSquare"},
                                                     {"Relu", 6},
                                                     {"Reshape", 5},
                                                     {"Selu", 6},
                                                     {"Shape"},
                                                     {"Sigmoid", 6},
                                                     {"Size"},
                                                     {"Slice"},
                                                     {"Softmax"},
                                                     {"Softplus"},
                                                     {"Softsign"},
                                                     {"Split", 2},
                                                     {"SpaceToDepth"},
                                                     {"Sqrt", 6},
                                                     {"Squeeze"},
                                                     {"Sum", 6},
                                                     {"Tanh", 6},
                                                     {"Tile", 6},
                                                     {"TopK"},
                                                     {"Transpose"},
                                                     {"Unsqueeze"}}};

}  // namespace

void check_old_operator(const std::string& op, std::int64_t opset) {
    if (opset >= oldest_opset) return;
    const auto* const found = std::ranges::find(old_operators, op, &OldOperator::name);
    if (found != old_operators.end() && found->since <= opset) return;
    throw ModelError(fmt::format(
        "this operator of operator set {} is not supported; before set {}, only operators that it "
        "has not changed are",
        opset, oldest_opset));
}

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
    if (own_ && *own_ < 1) {
        throw ModelError(fmt::format("its operator set is {}; it must be 1 or newer", *own_));
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
