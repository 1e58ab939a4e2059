#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/ir/border_values.h"
#include "compiler/ir/encoding.h"
#include "compiler/ir/graph.h"
#include "compiler/operators/operator.h"
#include "compiler/operators/shared_values.h"

namespace systole::operators {

/// Builds the quantized graph: each node of the float graph adds the nodes on integers that compute it, by
/// the rule of its operator (Operator::quantize). Values keep ir::Value::before of those of the float graph
/// whose numbers they have.
class Quantizer {
public:
    /// `quantizes_products`: products of two computed matrices are computed on integers.
    explicit Quantizer(const ir::Graph& graph, bool quantizes_products = false);

    bool quantizes_products() const { return quantizes_products_; }

    const ir::Graph& graph() const { return graph_; }
    ir::NodeView view(const ir::Node& node) const { return {graph_, node}; }

    // Queries about values and nodes of the float graph.

    /// The type in which a value is to be stored. Throws ModelError if it is no type for activations.
    DataType type(ir::ValueId id) const;
    /// The encoding of a value's range in a type; by default in the value's own type.
    ir::Encoding encoding(ir::ValueId id, DataType type) const;
    ir::Encoding encoding(ir::ValueId id) const { return encoding(id, type(id)); }
    /// The activation function that is the only reader of a value, or null.
    const ir::Node* function_after(ir::ValueId id) const;
    /// Whether a value has elements of an input of the network, unscaled.
    bool has_elements_of_input(ir::ValueId id) const { return border_.is_input(sources_[id]); }
    /// Whether a concatenation must convert one of its inputs, because this has a range of its own: an input
    /// of the network, or a value that others read too (unite_ranges). Depends on the network only and not on
    /// calibration, so that a network without values becomes the same instructions.
    bool has_own_range(ir::ValueId input, const ir::Node& concatenation) const {
        return has_elements_of_input(input) || shared_.is_shared(input, concatenation);
    }
    [[noreturn]] void fail(ir::ValueId id, const std::string& rule) const;
    /// Fails unless inputs and result have the same width, because the chip does not convert between widths.
    void require_one_width(const ir::Node& node);

    /// Whether a node is of a part that is written out many times (ir::Graph::repeated).
    bool is_repeated(const ir::Node& node) const { return repeated_.contains(node.name); }

    // Construction of the quantized graph.

    /// The value that stores a value of the float graph; adds a `quantize` if the host computes it in
    /// float32. Throws ModelError if it is a constant.
    ir::ValueId stored(ir::ValueId id);
    ir::Encoding stored_encoding(ir::ValueId id) { return encoding_of(result_.values[stored(id)]); }
    /// The float32 value that has the real numbers of a value of the float graph: what the host computed, a
    /// constant, or the result of a `dequantize` that this adds.
    ir::ValueId real(ir::ValueId id);
    bool is_stored(ir::ValueId id) const { return stored_[id].has_value(); }
    /// Lets an existing value of the quantized graph store a value.
    void store(ir::ValueId id, ir::ValueId by) { stored_[id] = by; }
    /// Adds the network's input.
    void add_input(ir::ValueId id, const ir::Encoding& encoding);
    /// Adds an input of integers, which the host reads as they are.
    void add_integer_input(ir::ValueId id);
    /// Adds a value with shape and name of a value of the float graph; it does not store it yet.
    ir::ValueId add_value(ir::ValueId id, const ir::Encoding& encoding);
    /// The same with another shape; these are not the numbers of the value of the float graph.
    ir::ValueId add_value(ir::ValueId id, const ir::Shape& shape, const ir::Encoding& encoding);
    ir::ValueId add_constant(std::string name, const ir::Shape& shape, DataType type, ir::Constant contents,
                             std::optional<ir::Quantization> quantization = {});
    /// Adds a node whose inputs and results are values of the quantized graph.
    void add_node(ir::Node node) { result_.nodes.push_back(std::move(node)); }
    /// Adds a copy of a node of the float graph, which reads the stored inputs and computes the value that
    /// stores the result.
    void add_like(const ir::Node& node, const ir::Encoding& result);
    /// The same for a node that the host computes from stored inputs to float32.
    void add_real_from_stored(const ir::Node& node);
    /// Adds a copy of a node of the float graph for the host, which reads and computes float32.
    void add_real(const ir::Node& node);
    /// The parameters of a node on integers, by what they follow from.
    struct Parameters {
        std::vector<ir::ValueId> of;          ///< the parameters in float
        std::vector<ir::Encoding> encodings;  ///< of the inputs, then the wanted one of the result
        std::vector<ir::ValueId> made = {};   ///< values of the quantized graph
        ir::Encoding result = {};             ///< of the result: the wanted one, or a wider one
    };
    /// Those that another node of the same repeated part has from the same; null if there is none.
    const Parameters* known_parameters(const ir::Node& node, const Parameters& wanted) const;
    /// Lets further nodes of the part have the same parameters. Without effect for nodes of no such part.
    void keep_parameters(const ir::Node& node, Parameters parameters);
    /// Adds a lookup of `from` in the table of a function; its result is `to`.
    void add_lookup(const ir::Node& node, ir::ValueId from, ir::ValueId to, const ElementFunction& function);
    /// Adds a lookup that converts a stored value for a concatenation to an encoding; returns its result.
    ir::ValueId add_conversion(const ir::Node& concatenation, ir::ValueId input,
                               const ir::Encoding& encoding);

    ir::Graph finish() &&;

private:
    void add_copy(const ir::Node& node, ir::ValueId result);
    ir::ValueId add_float_value(ir::ValueId id);
    void convert_early();
    void add_outputs();
    /// A stored value again, as an output of the network.
    ir::ValueId copy_of(ir::ValueId stored, ir::ValueId output);

    const ir::Graph& graph_;
    const bool quantizes_products_;
    std::vector<std::vector<ir::NodeId>> readers_;
    ir::BorderValues border_;
    std::vector<ir::ValueId> sources_;  ///< moved_sources
    SharedValues shared_;
    // By value of the float graph.
    std::vector<std::optional<ir::ValueId>> stored_;
    std::vector<std::optional<ir::ValueId>> real_;
    ir::Graph result_;
    std::vector<ir::NodeId> conversions_;  ///< of inputs of concatenations, in the order of the nodes
    const std::set<std::string> repeated_;
    /// By repeated part, operator and attributes.
    struct PartParameters {
        const ir::Operator* op = nullptr;
        std::vector<ir::Attribute> attributes;
        Parameters parameters;
    };
    std::map<std::string, std::vector<PartParameters>> parameters_;
};

}  // namespace systole::operators
