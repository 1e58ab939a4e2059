#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/data_type.h"
#include "compiler/ir/attribute.h"
#include "compiler/ir/constant.h"
#include "compiler/ir/layer_kind.h"
#include "compiler/ir/shape.h"

namespace systole::ir {

struct Node;
class NodeView;

/// A kind of node as the graph needs it. The operators in compiler/operators derive from it, add their other
/// functions, and are registered by name.
class Operator {
public:
    virtual ~Operator() = default;
    Operator(const Operator&) = delete;
    Operator& operator=(const Operator&) = delete;

    /// "convolution", "dense", ...: the name in the text of graphs, in reports and messages.
    virtual std::string_view name() const = 0;
    /// One sentence for the page of all operators.
    virtual std::string_view summary() const = 0;
    virtual const std::vector<AttributeDeclaration>& attributes() const;
    bool declares(std::string_view attribute) const;
    /// The shapes of the results. Throws ModelError if inputs and attributes do not fit each other.
    virtual std::vector<Shape> output_shapes(const NodeView& node) const = 0;
    /// The type of the results where nothing else is said; by default that of the first input.
    virtual DataType result_type(const NodeView& node) const;
    /// The results of a node whose inputs are all known constants; none if the operator cannot tell.
    virtual std::vector<Constant> fold(const NodeView& node) const;
    /// Throws ModelError unless the operator supports the types of the inputs and outputs.
    virtual void check_types(const NodeView& node) const = 0;

    /// The attributes of a node on one image of a batch. The batch is the first axis of the results, and of
    /// the inputs that `has_batch` marks; the other inputs are the same for all images. By default nullopt:
    /// the results for an image may depend on other images.
    virtual std::optional<std::vector<Attribute>> on_one_image(const NodeView& node,
                                                               const std::vector<bool>& has_batch) const;

    /// The names of the inputs behind the data, of which the last may be absent: those of operators with
    /// weights are "weights", whose last axis is the output channel, and "bias". Only operators that name
    /// them take parameters that other nodes compute.
    virtual std::vector<std::string_view> parameter_roles() const { return {}; }
    bool has_weights() const { return !parameter_roles().empty(); }
    /// Whether the node combines the elements of all inferences of a batch into one set, which they share.
    virtual bool reduces_batch(const Node& /*node*/) const { return false; }
    /// Whether the result for an image depends on the other images of its batch.
    virtual bool mixes_images(const Node& node) const { return reduces_batch(node); }
    /// Multiply-accumulates of one inference.
    virtual std::uint64_t macs(const NodeView& /*node*/) const { return 0; }

    /// The layers of network files that become nodes of the operator.
    virtual std::vector<LayerKind> layer_kinds() const { return {}; }
    /// The names with which layers of network files apply the operator to their own result.
    virtual std::vector<FunctionName> function_names() const { return {}; }

protected:
    Operator() = default;
};

/// The registered operators, by name.
class OperatorSet {
public:
    /// Throws std::logic_error if the name is taken.
    void add(std::unique_ptr<const Operator> op);
    /// The operator of that name, or null.
    const Operator* find(std::string_view name) const;
    /// The operator of that name. Throws std::logic_error if there is none.
    const Operator& at(std::string_view name) const;
    /// All operators, in the order of their names.
    std::vector<const Operator*> all() const;

    /// The kind of layer with this name in a format, or null.
    const LayerKind* find_layer(Format format, std::string_view name) const;
    /// The function with this name in a format and its operator; null if there is none.
    struct Function {
        const Operator* op = nullptr;
        const FunctionName* name = nullptr;
    };
    Function find_function(Format format, std::string_view name) const;
    /// The names, in alphabetical order.
    std::vector<std::string> layer_names(Format format) const;
    std::vector<std::string> function_names(Format format) const;

private:
    struct Entry {
        std::unique_ptr<const Operator> op;
        std::vector<LayerKind> layers;
        std::vector<FunctionName> functions;
    };
    std::map<std::string, Entry, std::less<>> operators_;
};

}  // namespace systole::ir
