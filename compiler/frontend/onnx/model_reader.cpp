#include "compiler/frontend/onnx/model_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/message_text.h"
#include "compiler/frontend/layer_context.h"
#include "compiler/frontend/onnx/attributes.h"
#include "compiler/frontend/onnx/functions.h"
#include "compiler/frontend/onnx/input_shape.h"
#include "compiler/frontend/onnx/node_order.h"
#include "compiler/frontend/onnx/operator_sets.h"
#include "compiler/frontend/onnx/scope.h"
#include "compiler/frontend/onnx/tensors.h"
#include "compiler/ir/model_error.h"
#include "compiler/ir/split_batch.h"

namespace systole::frontend::onnx_file {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// The key under which nodes find the version of their operator set.
constexpr const char* opset_key = "opset";
/// The key under which they find the type of the tensor in their attribute `value`.
constexpr const char* value_type_key = "value_type";

/// Nodes of ONNX files have their constants as inputs, so nothing asks for weights.
class NoWeights final : public WeightProvider {
public:
    ir::Constant provide(const LayerConfig& layer, const std::string& /*layer_name*/,
                         const ir::WeightRequest& /*request*/) override {
        layer.fail("it has no weights of its own");
    }
};

/// Builds the graph of a model.
class ModelReader {
public:
    ModelReader(::onnx::ModelProto& model, const fs::path& folder, const ir::OperatorSet& operators,
                const InputShapes& shapes)
        : proto_(*model.mutable_graph()),
          folder_(folder),
          shapes_(shapes),
          functions_(model),
          budget_(model),
          sets_(model.opset_import()),
          builder_{.format = ir::Format::Onnx, .operators = operators, .weights = no_weights_} {
        builder_.graph.name = proto_.name().empty() ? "onnx" : proto_.name();
    }

    /// Reads the network on images of this batch, and makes it the network on one image.
    ir::Graph read(std::uint32_t batch) {
        builder_.graph.batch = batch;
        layer_names_ = LayerNames(proto_);
        network_.names = &layer_names_;
        add_initializers(proto_, network_);
        add_inputs();
        append_nodes(*proto_.mutable_node(), network_);
        set_outputs();
        ir::remove_unread(builder_.graph);
        check_empty_inputs();
        if (batch > 1) ir::split_batch(builder_.graph);
        // Types that no operator takes are found here: what a node reads may get its scale from a later one.
        if (const auto fault = ir::find_fault(builder_.graph)) throw ModelError(with_operator(*fault));
        return std::move(builder_.graph);
    }

    /// The batch of the inputs that have been read.
    std::uint32_t common_batch() const { return ir::common_batch(builder_.graph); }

    /// A message about this model. Where it speaks of int32, and the file has int64, it says what becomes of
    /// these.
    std::string with_types_of_file(std::string message) const {
        const bool speaks_of_them = message.find("int32") != std::string::npos;
        return speaks_of_them && has_int64_ ? message + " (the file's int64 are int32 here)" : message;
    }

private:
    /// A fault of the graph; that of a node names its operator in the file instead of its place in the graph.
    std::string with_operator(const std::string& fault) const {
        for (std::size_t id = 0; id < builder_.graph.nodes.size(); ++id) {
            const std::string& name = builder_.graph.nodes[id].name;
            const std::string place = fmt::format("node {} {}: ", id, in_quotes(name));
            const auto found = operators_.find(name);
            if (!fault.starts_with(place) || found == operators_.end()) continue;
            return fmt::format("node {} ({}): {}", in_quotes(name), in_quotes(found->second),
                               fault.substr(place.size()));
        }
        return fault;
    }

    /// Takes the contents of a tensor as a constant; tensors without elements count as absent.
    ir::ValueId add_tensor(const std::string& name, ::onnx::TensorProto& proto) {
        has_int64_ |= proto.data_type() == ::onnx::TensorProto::INT64;
        std::optional<Tensor> tensor;
        try {
            tensor = take_tensor(proto, folder_);
        } catch (const ModelError& error) {
            throw ModelError(fmt::format("tensor {}: {}", in_quotes(name), error.what()));
        }
        if (!tensor) return ir::no_value;
        const ir::ValueId id =
            builder_.add_file_constant(name, tensor->shape, tensor->type, std::move(tensor->contents));
        if (tensor->has_nibbles) nibbles_.insert(id);
        return id;
    }

    /// The constant of a place in the file. A function's is there for all its calls.
    template <typename Add>
    ir::ValueId constant_of(const void* place, const Add& add) {
        const auto found = constants_.find(place);
        if (found != constants_.end()) return found->second;
        const ir::ValueId id = add();
        constants_.emplace(place, id);
        return id;
    }

    void add_initializers(::onnx::GraphProto& graph, Scope& scope) {
        if (graph.sparse_initializer_size() != 0) {
            throw ModelError("it has sparse initializers, which are not supported");
        }
        for (int place = 0; place < graph.initializer_size(); ++place) {
            ::onnx::TensorProto& tensor = *graph.mutable_initializer(place);
            const ir::ValueId id = constant_of(&tensor, [&] {
                if (tensor.name().empty()) {
                    throw ModelError(fmt::format("its initializer {} has no name; it must have one", place));
                }
                names_.emplace(&tensor, tensor.name());  // taking its contents clears the tensor
                return add_tensor(names_.at(&tensor), tensor);
            });
            scope.define(names_.at(&tensor), id);
        }
    }

    void append_nodes(Nodes& nodes, Scope& scope) {
        for (const int id : sorted_nodes(nodes)) append(*nodes.Mutable(id), scope);
    }

    void add_inputs() {
        check_given_shapes();
        for (int place = 0; place < proto_.input_size(); ++place) {
            const ::onnx::ValueInfoProto& input = proto_.input(place);
            // Files before IR version 4 list the initializers, too.
            if (network_.values.contains(input.name())) continue;
            if (input.name().empty()) {
                throw ModelError(fmt::format("its input {} has no name; it must have one", place));
            }
            try {
                network_.define(input.name(), add_input(input));
            } catch (const ModelError& error) {
                throw ModelError(fmt::format("input {}: {}", in_quotes(input.name()), error.what()));
            }
        }
        if (!builder_.graph.inputs.empty()) return;
        const bool has_empty_one = std::ranges::any_of(
            builder_.graph.values, [](const ir::Value& value) { return has_no_elements(value.shape); });
        throw ModelError(has_empty_one ? "its inputs have no elements; at least one must have some"
                                       : "it has no input; it must have at least one");
    }

    /// Refuses given shapes that belong to no input. Comes before the inputs are read: of a mistyped name,
    /// the input that it was meant for would have no size.
    void check_given_shapes() const {
        // Files before IR version 4 list the initializers, too.
        std::vector<std::string> inputs;
        for (const auto& input : proto_.input()) {
            if (!network_.values.contains(input.name())) inputs.push_back(input.name());
        }
        frontend::check_given_shapes(shapes_.given, inputs);
    }

    ir::ValueId add_input(const ::onnx::ValueInfoProto& input) {
        if (!input.type().has_tensor_type()) throw ModelError("it must be a tensor");
        const auto& type = input.type().tensor_type();
        const DataType data_type = graph_type(type.elem_type());
        has_int64_ |= type.elem_type() == ::onnx::TensorProto::INT64;
        const ir::Shape shape = shape_of_input(type, shapes_, input.name());
        const bool is_open = type.shape().dim_size() > 0 && has_no_size(type.shape().dim(0));
        builder_.has_open_batch |= is_open && shape_for(shapes_.given, input.name()) == nullptr;
        return add_input(input.name(), shape, data_type);
    }

    /// Shapes whose elements do not fit 64 bits are refused later.
    static bool has_no_elements(const ir::Shape& shape) { return shape.checked_elements() == 0U; }

    ir::ValueId add_input(const std::string& name, const ir::Shape& shape, DataType type) {
        if (has_no_elements(shape)) {
            if (shape.rank() < 2 || shape[0] == 0) {
                throw ModelError(fmt::format(
                    "its shape is given as {}; its first dimension must be at least 1", to_text(shape)));
            }
            // Nodes may read its shape, and append to it.
            builder_.graph.values.push_back({.name = name, .shape = shape, .type = type});
            builder_.graph.empty_inputs.names.push_back(name);
            return static_cast<ir::ValueId>(builder_.graph.values.size() - 1);
        }
        const ir::ValueId id = builder_.graph.add_input(name, shape);
        builder_.graph.values[id].type = type;
        return id;
    }

    /// An input without elements, such as a cache before the first step, is no input of the graph.
    void check_empty_inputs() const {
        for (const ir::ValueId id : builder_.graph.outputs) {
            const ir::Value& value = builder_.graph.values[id];
            if (!has_no_elements(value.shape)) continue;
            throw ModelError(fmt::format("output {} is {}; it must have elements", in_quotes(value.name),
                                         to_text(value.shape)));
        }
        for (const ir::Node& node : builder_.graph.nodes) {
            for (const ir::ValueId id : node.inputs) {
                const ir::Value& value = builder_.graph.values[id];
                if (!has_no_elements(value.shape)) continue;
                throw ModelError(fmt::format(
                    "layer {} reads {}, whose shape is {}; without elements, it may only be appended to",
                    in_quotes(node.name), in_quotes(value.name), to_text(value.shape)));
            }
        }
    }

    void append(::onnx::NodeProto& node, Scope& scope) {
        try {
            if (Function* const function = functions_.find(node)) {
                append_call(node, *function, scope);
            } else if (is_own(node) && node.op_type() == "Constant") {
                append_constant(node, scope);
            } else if (is_own(node) && node.op_type() == "If") {
                append_choice(node, scope);
            } else {
                append_layer(node, scope);
            }
        } catch (const ModelError& error) {
            throw ModelError(
                fmt::format("{}: {}", node_place(node), without_place(scope.layer_name(node), error.what())));
        }
    }

    /// A message without the name of the layer, which the node's place says.
    static std::string without_place(const std::string& layer, std::string message) {
        const std::string place = layer_place(layer) + ": ";
        return message.starts_with(place) ? message.substr(place.size()) : message;
    }

    std::int64_t opset_of(const Scope& scope) const {
        return (scope.call == nullptr ? sets_ : scope.call->sets).own();
    }

    /// Appends the nodes of a function in the place of a node that calls it.
    void append_call(::onnx::NodeProto& node, Function& function, Scope& scope) {
        ::onnx::FunctionProto& proto = *function.proto;
        for (const Call* call = scope.call; call != nullptr; call = call->outer) {
            if (call->function == &proto) {
                throw ModelError(fmt::format("{} calls itself", function_place(proto)));
            }
        }
        budget_.count_call(proto);
        Call call{.outer = scope.call, .function = &proto, .sets = sets_of(proto)};
        for (::onnx::AttributeProto& value : function.defaults) {
            call.attributes.insert_or_assign(value.name(), &value);
        }
        for (::onnx::AttributeProto& attribute : *node.mutable_attribute()) {
            if (::onnx::AttributeProto* const value = scope.resolved(attribute)) {
                call.attributes.insert_or_assign(attribute.name(), value);
            }
        }
        Scope inner{.call = &call, .prefix = scope.inner_prefix(node)};
        const std::vector<ir::ValueId> inputs = scope.inputs_of(node);
        if (static_cast<int>(inputs.size()) > proto.input_size() ||
            node.output_size() > proto.output_size()) {
            throw ModelError(fmt::format("it has {} and {}; {} has {} and {}",
                                         counted(inputs.size(), "input"), results_text(node.output_size()),
                                         function_place(proto),
                                         counted(static_cast<std::size_t>(proto.input_size()), "input"),
                                         results_text(proto.output_size())));
        }
        for (int i = 0; i < proto.input_size(); ++i) {
            const auto index = static_cast<std::size_t>(i);
            inner.define(proto.input(i), index < inputs.size() ? inputs[index] : ir::no_value);
        }
        append_nodes(*proto.mutable_node(), inner);
        for (int i = 0; i < node.output_size(); ++i) {
            scope.define_from(inner, proto.output(i), node.output(i));
        }
    }

    static std::string results_text(int count) { return counted(static_cast<std::size_t>(count), "result"); }

    static OperatorSets sets_of(const ::onnx::FunctionProto& function) {
        try {
            return OperatorSets(function.opset_import());
        } catch (const ModelError& error) {
            throw ModelError(fmt::format("{}: {}", function_place(function), error.what()));
        }
    }

    /// Appends the graph that an If chooses, if its condition is known.
    void append_choice(::onnx::NodeProto& node, Scope& scope) {
        const std::vector<ir::ValueId> inputs = scope.inputs_of(node);
        if (inputs.size() != 1 || inputs.front() == ir::no_value) {
            throw ModelError("it must have one input, its condition");
        }
        const ir::Value& condition = builder_.graph.values[inputs.front()];
        if (!condition.constant || !condition.constant->is_known()) {
            throw ModelError("its condition is computed by the network; it must follow from constants");
        }
        if (condition.shape.elements() != 1) {
            throw ModelError(
                fmt::format("its condition is {}; it must be one number", to_text(condition.shape)));
        }
        const std::span<const std::uint8_t> bytes = condition.constant->bytes();
        const bool is_true = std::ranges::any_of(bytes, [](std::uint8_t byte) { return byte != 0; });
        const char* const name = is_true ? "then_branch" : "else_branch";
        ::onnx::AttributeProto* branch = nullptr;
        for (::onnx::AttributeProto& attribute : *node.mutable_attribute()) {
            if (attribute.name() == name) branch = scope.resolved(attribute);
        }
        if (branch == nullptr || !branch->has_g()) {
            throw ModelError(fmt::format("attribute {} is absent; it must be a graph", name));
        }
        ::onnx::GraphProto& graph = *branch->mutable_g();
        if (node.output_size() > graph.output_size()) {
            throw ModelError(fmt::format("it has {}; its {} has {}", results_text(node.output_size()), name,
                                         results_text(graph.output_size())));
        }
        Scope inner{.outer = &scope, .call = scope.call, .prefix = scope.inner_prefix(node)};
        add_initializers(graph, inner);
        append_nodes(*graph.mutable_node(), inner);
        for (int i = 0; i < node.output_size(); ++i) {
            scope.define_from(inner, graph.output(i).name(), node.output(i));
        }
    }

    void append_constant(::onnx::NodeProto& node, Scope& scope) {
        if (node.output_size() != 1 || node.attribute_size() != 1) {
            throw ModelError("it must have one result and one attribute");
        }
        ::onnx::AttributeProto& attribute = *node.mutable_attribute(0);
        if (attribute.ref_attr_name().empty()) {
            const ir::ValueId id = constant_of(&node, [&] {
                ::onnx::TensorProto tensor = take_constant(attribute, attribute.name());
                return add_tensor(node.output(0), tensor);
            });
            return scope.define(node.output(0), id);
        }
        const ::onnx::AttributeProto* const value = scope.resolved(attribute);
        if (value == nullptr || value == &attribute) {
            throw ModelError(fmt::format("attribute {}: its value is {} of a call, which has none",
                                         in_quotes(attribute.name()), in_quotes(attribute.ref_attr_name())));
        }
        ::onnx::AttributeProto copy = *value;
        ::onnx::TensorProto tensor = take_constant(copy, attribute.name());
        const ir::ValueId id = add_tensor(node.output(0), tensor);
        // Each call makes one, out of the same numbers of the file.
        if (id != ir::no_value) builder_.count_computed(builder_.graph.values[id].shape);
        scope.define(node.output(0), id);
    }

    void append_layer(::onnx::NodeProto& node, Scope& scope) {
        const ir::LayerKind* const kind =
            builder_.operators.find_layer(builder_.format, registered_name(node));
        if (kind == nullptr && !is_own(node)) {
            throw ModelError(
                fmt::format("this operator of the domain {} is not supported: docs/operators.md "
                            "lists those that are, and the file has no function of this name",
                            in_quotes(node.domain())));
        }
        // Operators of onnxruntime are read by the rules of the newest set.
        const std::int64_t opset = is_own(node) ? opset_of(scope) : newest_known_opset;
        if (kind == nullptr) {
            throw ModelError(
                fmt::format("this operator of operator set {} is not supported: "
                            "docs/operators.md lists those that are",
                            opset));
        }
        if (is_own(node)) check_old_operator(node.op_type(), opset);
        json attributes;
        std::optional<DataType> value_type;
        if (scope.call == nullptr) {
            value_type = type_of_value(node);
            attributes = attributes_of(node, folder_);
        } else {
            ::onnx::NodeProto copy = scope.with_values(node);
            value_type = type_of_value(copy);
            attributes = attributes_of(copy, folder_);
        }
        check_known(*kind, attributes, opset);
        attributes[opset_key] = std::max(opset, oldest_opset);
        if (value_type) attributes[value_type_key] = name_of(*value_type);
        // Some files name no results behind the last one that is read.
        std::vector<ir::ResultType> declared(static_cast<std::size_t>(std::max(node.output_size(), 1)));
        const std::vector<ir::ValueId> inputs = scope.inputs_of(node);
        const bool has_nibbles =
            std::ranges::any_of(inputs, [&](ir::ValueId id) { return nibbles_.contains(id); });
        if (has_nibbles) check_nibbles(node, inputs);
        has_int64_ |= makes_int64(node);
        operators_.emplace(scope.layer_name(node), node.op_type());
        LayerContext context(builder_, *kind, attributes, scope.layer_name(node), inputs, DataType::Uint8,
                             std::move(declared));
        const ir::Results results = kind->build(context);
        if (has_nibbles && moves_nibbles(node)) nibbles_.insert(results.begin(), results.end());
        scope.define_results(node, results);
    }

    /// Whether the results of an operator are int64, whatever its inputs are.
    static bool makes_int64(const ::onnx::NodeProto& node) {
        constexpr std::array<std::string_view, 6> makers{"Shape",  "Size", "ArgMax",
                                                         "ArgMin", "TopK", "NonZero"};
        return is_own(node) && std::ranges::find(makers, node.op_type()) != makers.end();
    }

    /// Operators whose results have the integers of their first input, and with them its 4 bits.
    static bool moves_nibbles(const ::onnx::NodeProto& node) {
        constexpr std::array<std::string_view, 6> movers{"Identity", "Reshape",   "Flatten",
                                                         "Squeeze",  "Unsqueeze", "Transpose"};
        return is_own(node) && std::ranges::find(movers, node.op_type()) != movers.end();
    }

    /// The graph holds integers of 4 bits as those of 8. Throws ModelError for a node that would compute
    /// something else with these, such as a QuantizeLinear whose results have the type of its zero point.
    void check_nibbles(const ::onnx::NodeProto& node, const std::vector<ir::ValueId>& inputs) const {
        const bool takes_them = is_own(node) && (node.op_type() == "DequantizeLinear" ||
                                                 node.op_type() == "Cast" || moves_nibbles(node));
        if (takes_them) return;
        const auto place =
            std::ranges::find_if(inputs, [&](ir::ValueId id) { return nibbles_.contains(id); });
        throw ModelError(fmt::format(
            "its input {} is of integers of 4 bits; of these, only constants that DequantizeLinear "
            "or Cast reads are supported",
            place - inputs.begin()));
    }

    /// The type of the tensor in the attribute `value`, whose numbers alone are an attribute of layers.
    static std::optional<DataType> type_of_value(const ::onnx::NodeProto& node) {
        for (const ::onnx::AttributeProto& attribute : node.attribute()) {
            if (attribute.name() != "value" || !attribute.has_t()) continue;
            return graph_type(attribute.t().data_type());
        }
        return std::nullopt;
    }

    /// Throws ModelError if a node has an attribute that its operator does not know, such as one of a newer
    /// operator set.
    static void check_known(const ir::LayerKind& kind, const json& attributes, std::int64_t opset) {
        for (const auto& [name, value] : attributes.items()) {
            const bool is_known = std::ranges::find(kind.keys, name, &ir::LayerKey::name) != kind.keys.end();
            // The reader itself sets this one.
            if (is_known && name != value_type_key) continue;
            const std::string set =
                opset > newest_known_opset ? fmt::format(" of operator set {}", opset) : "";
            throw ModelError(
                fmt::format("attribute {}: it is not supported on this operator{}", in_quotes(name), set));
        }
    }

    void set_outputs() {
        ir::Graph& graph = builder_.graph;
        std::size_t place = 0;
        for (const auto& output : proto_.output()) {
            if (output.name().empty()) {
                throw ModelError(fmt::format("its output {} has no name; it must have one", place));
            }
            const ir::ValueId* const found = network_.find(output.name());
            if (found == nullptr || *found == ir::no_value) {
                throw ModelError(fmt::format("output {}: {}", in_quotes(output.name()),
                                             network_.is_unsupported(output.name())
                                                 ? "it is a result that is not supported"
                                                 : "nothing makes it"));
            }
            ir::ValueId id = *found;
            if (graph.values[id].constant) {
                ir::Value constant = graph.values[id];
                constant.name = output.name();
                graph.constant_outputs.push_back({place++, std::move(constant)});
                continue;
            }
            ++place;
            // A value has one name and one role.
            if (ir::is_input(graph, id) || ir::is_output(graph, id)) {
                id = graph.append(output.name(), builder_.operators.at("identity"), {}, {id}, DataType::Uint8,
                                  {{graph.values[id].type, graph.values[id].quantization}});
            }
            graph.values[id].name = output.name();
            graph.outputs.push_back(id);
        }
        if (graph.outputs.empty() && !graph.constant_outputs.empty()) {
            throw ModelError("all its outputs are constants; at least one must be computed from its inputs");
        }
        if (graph.outputs.empty()) throw ModelError("it has no output; it must have at least one");
    }

    ::onnx::GraphProto& proto_;
    fs::path folder_;
    const InputShapes& shapes_;
    Functions functions_;
    ExpansionBudget budget_;
    const OperatorSets sets_;
    NoWeights no_weights_;
    GraphBuilder builder_;
    LayerNames layer_names_;
    Scope network_;
    bool has_int64_ = false;                                     ///< among its tensors
    std::map<std::string, std::string, std::less<>> operators_;  ///< of the nodes, by the name of the layer
    std::set<ir::ValueId> nibbles_;                              ///< constants of integers of 4 bits
    std::map<const void*, ir::ValueId> constants_;               ///< by their place in the file
    std::map<const ::onnx::TensorProto*, std::string> names_;    ///< of initializers
};

}  // namespace

ir::Graph build_graph(const std::function<::onnx::ModelProto()>& parse, const fs::path& folder,
                      const ir::OperatorSet& operators, const InputShapes& shapes) {
    std::uint32_t batch = 1;
    {
        ::onnx::ModelProto model = parse();
        if (!model.has_graph()) throw ModelError("it has no graph");
        ModelReader whole(model, folder, operators, shapes);
        try {
            return whole.read(1);
        } catch (const ModelError& error) {
            batch = whole.common_batch();
            if (batch == 1) throw ModelError(whole.with_types_of_file(error.what()));
        }
    }
    // What does not work on the whole tensors may work on each image of a batch.
    ::onnx::ModelProto again = parse();
    ModelReader by_image(again, folder, operators, shapes);
    try {
        return by_image.read(batch);
    } catch (const ModelError& error) {
        throw ModelError(by_image.with_types_of_file(error.what()));
    }
}

}  // namespace systole::frontend::onnx_file
