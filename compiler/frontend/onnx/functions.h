#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "compiler/frontend/onnx/model_proto.h"

/// The functions that an ONNX file defines: its nodes call them by their domain and name.
namespace systole::frontend::onnx_file {

/// A function, with the values that its attributes have where a call gives none.
struct Function {
    ::onnx::FunctionProto* proto = nullptr;
    std::vector<::onnx::AttributeProto> defaults = {};
};

/// "function "pkg.torch.Linear"": the place of a function in messages.
std::string function_place(const ::onnx::FunctionProto& function);

class Functions {
public:
    /// Throws ModelError if two functions have the same domain, name and overload.
    explicit Functions(::onnx::ModelProto& model);

    /// The function that a node calls, or null: then it is an operator.
    Function* find(const ::onnx::NodeProto& node);

private:
    /// Domain, name and overload.
    using Key = std::tuple<std::string, std::string, std::string>;
    std::map<Key, Function> functions_;
};

/// Limits what the functions of a file grow to where they are called: each may call others several times.
class ExpansionBudget {
public:
    explicit ExpansionBudget(const ::onnx::ModelProto& model);

    /// Counts the nodes of a call. Throws ModelError if all are too many.
    void count_call(const ::onnx::FunctionProto& function);

private:
    std::size_t most_bytes_;
    std::size_t bytes_ = 0;
};

}  // namespace systole::frontend::onnx_file
