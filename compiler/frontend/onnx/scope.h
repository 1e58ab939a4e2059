#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/frontend/onnx/layer_names.h"
#include "compiler/frontend/onnx/model_proto.h"
#include "compiler/frontend/onnx/operator_sets.h"
#include "compiler/ir/layer_kind.h"
#include "compiler/ir/value.h"

/// The names that the nodes of an ONNX file see.
namespace systole::frontend::onnx_file {

/// The function that is read, at the place of a call.
struct Call {
    const Call* outer = nullptr;  ///< the call inside of whose function this one is
    const ::onnx::FunctionProto* function = nullptr;
    OperatorSets sets;
    std::map<std::string, ::onnx::AttributeProto*, std::less<>> attributes = {};
};

/// The tensors that the nodes of a graph can read: its own, and those of the graph around it.
struct Scope {
    const Scope* outer = nullptr;       ///< absent for the network itself and for functions
    const Call* call = nullptr;         ///< absent outside of functions
    std::string prefix = {};            ///< of the names of its layers
    const LayerNames* names = nullptr;  ///< of the network; absent elsewhere: layers have the nodes' names
    std::map<std::string, ir::ValueId, std::less<>> values = {};
    std::set<std::string, std::less<>> unsupported = {};  ///< results that no operator makes

    const ir::ValueId* find(const std::string& name) const;
    bool is_unsupported(const std::string& name) const;
    /// Throws ModelError if the name is taken.
    void define(const std::string& name, ir::ValueId value);
    /// Gives a tensor of an inner graph a name here.
    void define_from(const Scope& inner, const std::string& inner_name, const std::string& name);
    void define_results(const ::onnx::NodeProto& node, const ir::Results& results);
    /// The tensors that a node reads; no_value for inputs that it leaves out. Throws ModelError for names
    /// that nothing makes.
    std::vector<ir::ValueId> inputs_of(const ::onnx::NodeProto& node) const;

    /// The attribute of a node in a function; where it refers to one of the function's, that of the call.
    /// Null if the call has none.
    ::onnx::AttributeProto* resolved(::onnx::AttributeProto& attribute) const;
    /// A node of a function with the values of its call's attributes; other calls read the node again.
    ::onnx::NodeProto with_values(::onnx::NodeProto& node) const;

    /// The name of a node's layer: in a function, that of the call comes before it.
    std::string layer_name(const ::onnx::NodeProto& node) const;
    /// The prefix of layers inside of a node. Names of many calls inside each other stay short.
    std::string inner_prefix(const ::onnx::NodeProto& node) const;
};

}  // namespace systole::frontend::onnx_file
