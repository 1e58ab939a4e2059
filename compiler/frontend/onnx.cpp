#include "compiler/frontend/onnx.h"

#include <fmt/format.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <map>
#include <queue>
#include <set>

#include "compiler/frontend/layer_context.h"
#include "compiler/frontend/onnx/attributes.h"
#include "compiler/frontend/onnx/tensors.h"
#include "compiler/ir/model_error.h"
#include "compiler/ir/names.h"
#include "compiler/ir/split_batch.h"
#include "hw/base/input_file.h"

namespace systole::frontend {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::int64_t oldest_opset = 7;
constexpr std::int64_t newest_opset = 17;
/// protobuf reads no larger messages.
constexpr std::uint64_t most_bytes = std::numeric_limits<std::int32_t>::max();
/// The key under which nodes find the version of their operator set.
constexpr const char* opset_key = "opset";

/// Nodes of ONNX files have their constants as inputs, so nothing asks for weights.
class NoWeights final : public WeightProvider {
public:
    ir::Constant provide(const LayerConfig& layer, const std::string& /*layer_name*/,
                         const ir::WeightRequest& /*request*/) override {
        layer.fail("it has no weights of its own");
    }
};

/// The name of a node: its own, or that of its first result.
std::string name_of_node(const ::onnx::NodeProto& node) {
    if (!node.name().empty()) return node.name();
    for (const std::string& output : node.output()) {
        if (!output.empty()) return output;
    }
    return node.op_type();
}

/// "node "conv1" (Conv)": the place of a node in messages.
std::string node_place(const ::onnx::NodeProto& node) {
    return fmt::format("node {} ({})", ir::quoted(name_of_node(node)), ir::quoted(node.op_type()));
}

/// The version of ONNX's own operators that the model asks for.
std::int64_t opset_of(const ::onnx::ModelProto& model) {
    std::optional<std::int64_t> version;
    for (const auto& opset : model.opset_import()) {
        if (opset.domain().empty() || opset.domain() == "ai.onnx") version = opset.version();
    }
    // Files before IR version 3 name none; they mean the first.
    if (!version) version = 1;
    if (*version < oldest_opset) {
        throw ModelError(
            fmt::format("its operator set is {}; it must be {} or newer", *version, oldest_opset));
    }
    return *version;
}

/// The indices of a graph's nodes such that each comes behind those whose results it reads; otherwise in the
/// order of the file. Throws ModelError for cycles.
std::vector<int> sorted_nodes(const ::onnx::GraphProto& graph) {
    std::map<std::string, int, std::less<>> makers;
    for (int id = 0; id < graph.node_size(); ++id) {
        for (const std::string& output : graph.node(id).output()) {
            if (!output.empty()) makers.emplace(output, id);
        }
    }
    std::vector<std::vector<int>> readers(static_cast<std::size_t>(graph.node_size()));
    std::vector<std::size_t> awaited(readers.size(), 0);
    for (int id = 0; id < graph.node_size(); ++id) {
        for (const std::string& input : graph.node(id).input()) {
            const auto maker = makers.find(input);
            if (maker == makers.end()) continue;
            readers[static_cast<std::size_t>(maker->second)].push_back(id);
            ++awaited[static_cast<std::size_t>(id)];
        }
    }
    std::priority_queue<int, std::vector<int>, std::greater<>> ready;
    for (int id = 0; id < graph.node_size(); ++id) {
        if (awaited[static_cast<std::size_t>(id)] == 0) ready.push(id);
    }
    std::vector<int> order;
    while (!ready.empty()) {
        const int id = ready.top();
        ready.pop();
        order.push_back(id);
        for (const int reader : readers[static_cast<std::size_t>(id)]) {
            if (--awaited[static_cast<std::size_t>(reader)] == 0) ready.push(reader);
        }
    }
    if (order.size() < readers.size()) {
        const auto stuck = std::ranges::find_if(awaited, [](std::size_t count) { return count != 0; });
        throw ModelError(fmt::format("{}: its inputs depend on its own results",
                                     node_place(graph.node(static_cast<int>(stuck - awaited.begin())))));
    }
    return order;
}

/// Builds the graph of a model.
class OnnxModelReader {
public:
    OnnxModelReader(::onnx::ModelProto& model, const fs::path& folder, const ir::OperatorSet& operators,
                    const InputShapes& shapes)
        : proto_(*model.mutable_graph()),
          folder_(folder),
          shapes_(shapes),
          opset_(opset_of(model)),
          builder_{.format = ir::Format::Onnx, .operators = operators, .weights = no_weights_} {
        builder_.graph.name = proto_.name().empty() ? "onnx" : proto_.name();
    }

    /// Reads the network on images of this batch, and makes it the network on one image.
    ir::Graph read(std::uint32_t batch) {
        builder_.graph.batch = batch;
        if (proto_.sparse_initializer_size() != 0) {
            throw ModelError("it has sparse initializers, which are not supported");
        }
        add_initializers();
        add_inputs();
        for (const int id : sorted_nodes(proto_)) append(*proto_.mutable_node(id));
        set_outputs();
        ir::remove_unread(builder_.graph);
        if (batch > 1) ir::split_batch(builder_.graph);
        // Types that no operator takes are found here: what a node reads may get its scale from a later one.
        if (const auto fault = ir::find_fault(builder_.graph)) throw ModelError(*fault);
        return std::move(builder_.graph);
    }

    /// The batch of the inputs that have been read.
    std::uint32_t common_batch() const { return ir::common_batch(builder_.graph); }

private:
    void define(const std::string& name, ir::ValueId value) {
        if (!values_.emplace(name, value).second) {
            throw ModelError(
                fmt::format("two tensors are called {}; each must have a name of its own", ir::quoted(name)));
        }
    }

    /// Adds a constant; tensors without elements count as absent.
    void define_tensor(const std::string& name, ::onnx::TensorProto& proto) {
        std::optional<onnx_file::Tensor> tensor;
        try {
            tensor = onnx_file::take_tensor(proto, folder_);
        } catch (const ModelError& error) {
            throw ModelError(fmt::format("tensor {}: {}", ir::quoted(name), error.what()));
        }
        define(name, !tensor ? ir::no_value
                             : builder_.add_file_constant(name, tensor->shape, tensor->type,
                                                          std::move(tensor->contents)));
    }

    void add_initializers() {
        for (auto& tensor : *proto_.mutable_initializer()) {
            const std::string name = tensor.name();
            define_tensor(name, tensor);
        }
    }

    void add_inputs() {
        check_given_shapes();
        for (const auto& input : proto_.input()) {
            // Files before IR version 4 list the initializers, too.
            if (values_.contains(input.name())) continue;
            try {
                define(input.name(), add_input(input));
            } catch (const ModelError& error) {
                throw ModelError(fmt::format("input {}: {}", ir::quoted(input.name()), error.what()));
            }
        }
        if (builder_.graph.inputs.empty()) throw ModelError("it has no input; it must have at least one");
    }

    /// Refuses given shapes that belong to no input. Comes before the inputs are read: of a mistyped name,
    /// the input that it was meant for would have no size.
    void check_given_shapes() const {
        // Files before IR version 4 list the initializers, too.
        std::vector<std::string> inputs;
        for (const auto& input : proto_.input()) {
            if (!values_.contains(input.name())) inputs.push_back(input.name());
        }
        for (const auto& [name, shape] : shapes_) {
            if (name.empty() && inputs.size() > 1) {
                throw ModelError(
                    fmt::format("the shape of its only input is given, but it has {} inputs; the shape needs "
                                "the name of one, as in --input-shape {}=...",
                                inputs.size(), inputs.front()));
            }
            if (name.empty() || std::ranges::find(inputs, name) != inputs.end()) continue;
            throw ModelError(
                fmt::format("the shape of {} is given, but it has no input of this name", ir::quoted(name)));
        }
        if (shapes_.size() > 1 && shapes_.contains("")) {
            throw ModelError("the shape of its only input is given twice, with its name and without");
        }
    }

    ir::ValueId add_input(const ::onnx::ValueInfoProto& input) {
        if (!input.type().has_tensor_type()) throw ModelError("it must be a tensor");
        const auto& type = input.type().tensor_type();
        const DataType data_type = onnx_file::graph_type(type.elem_type());
        if (!type.has_shape()) throw ModelError("its shape is not known; the file must say it");
        if (static_cast<std::size_t>(type.shape().dim_size()) > ir::Shape::most_extents) {
            throw ModelError(fmt::format("it has {} dimensions; it may have at most {}",
                                         type.shape().dim_size(), ir::Shape::most_extents));
        }
        std::vector<std::uint32_t> extents;
        auto given = shapes_.find(input.name());
        if (given == shapes_.end()) given = shapes_.find("");
        if (given != shapes_.end() &&
            given->second.rank() != static_cast<std::size_t>(type.shape().dim_size())) {
            throw ModelError(
                fmt::format("its shape is given as {}; in the file it has {}", to_text(given->second),
                            ir::counted(static_cast<std::size_t>(type.shape().dim_size()), "dimension")));
        }
        for (int axis = 0; axis < type.shape().dim_size(); ++axis) {
            const auto wanted = given == shapes_.end()
                                    ? std::nullopt
                                    : std::optional(given->second[static_cast<std::size_t>(axis)]);
            extents.push_back(extent_of(type.shape().dim(axis), axis, wanted));
        }
        const ir::ValueId id = builder_.graph.add_input(input.name(), ir::Shape(extents));
        builder_.graph.values[id].type = data_type;
        return id;
    }

    /// A dimension of an input. One that the file leaves open is the given one, or 1 if it is the first, the
    /// batch.
    static std::uint32_t extent_of(const ::onnx::TensorShapeProto::Dimension& dimension, int axis,
                                   std::optional<std::uint32_t> given) {
        const bool is_open = !dimension.has_dim_value() || dimension.dim_value() <= 0;
        if (is_open && given) return *given;
        if (is_open && axis == 0) return 1;
        if (is_open) {
            const std::string name = dimension.has_dim_param() && !dimension.dim_param().empty()
                                         ? ir::quoted(dimension.dim_param())
                                         : std::string("nameless");
            throw ModelError(fmt::format(
                "its dimension {} is {}, without a size; the input's shape must be given with --input-shape",
                axis, name));
        }
        if (dimension.dim_value() > std::numeric_limits<std::uint32_t>::max()) {
            throw ModelError(fmt::format("its dimension {} is {}; it must be less than 2^32", axis,
                                         dimension.dim_value()));
        }
        const auto extent = static_cast<std::uint32_t>(dimension.dim_value());
        if (given && *given != extent) {
            throw ModelError(
                fmt::format("its dimension {} is given as {}; in the file it is {}", axis, *given, extent));
        }
        return extent;
    }

    void append(::onnx::NodeProto& node) {
        try {
            if (is_own(node) && node.op_type() == "Constant") {
                append_constant(node);
            } else {
                append_layer(node);
            }
        } catch (const ModelError& error) {
            throw ModelError(fmt::format("{}: {}", node_place(node), without_place(node, error.what())));
        }
    }

    /// A message without the name of the layer, which the node's place says.
    static std::string without_place(const ::onnx::NodeProto& node, std::string message) {
        const std::string place = layer_place(name_of_node(node)) + ": ";
        return message.starts_with(place) ? message.substr(place.size()) : message;
    }

    /// Whether the operator is one of ONNX's own.
    static bool is_own(const ::onnx::NodeProto& node) {
        return node.domain().empty() || node.domain() == "ai.onnx";
    }
    /// The name of the operator in the registry: those of other domains have the domain before it.
    static std::string kind_name(const ::onnx::NodeProto& node) {
        return is_own(node) ? node.op_type() : node.domain() + "." + node.op_type();
    }

    void append_constant(::onnx::NodeProto& node) {
        if (node.output_size() != 1 || node.attribute_size() != 1) {
            throw ModelError("it must have one result and one attribute");
        }
        ::onnx::AttributeProto& attribute = *node.mutable_attribute(0);
        const std::string& name = attribute.name();
        ::onnx::TensorProto tensor;
        if (name == "value" && attribute.has_t()) {
            tensor.Swap(attribute.mutable_t());
        } else if (name == "value_float" || name == "value_floats") {
            tensor.set_data_type(::onnx::TensorProto::FLOAT);
            if (name == "value_float") {
                tensor.add_float_data(attribute.f());
            } else {
                tensor.mutable_float_data()->Swap(attribute.mutable_floats());
                tensor.add_dims(tensor.float_data_size());
            }
        } else if (name == "value_int" || name == "value_ints") {
            tensor.set_data_type(::onnx::TensorProto::INT64);
            if (name == "value_int") {
                tensor.add_int64_data(attribute.i());
            } else {
                tensor.mutable_int64_data()->Swap(attribute.mutable_ints());
                tensor.add_dims(tensor.int64_data_size());
            }
        } else {
            throw ModelError(fmt::format("attribute {}: it must be a tensor or numbers", ir::quoted(name)));
        }
        define_tensor(node.output(0), tensor);
    }

    void append_layer(::onnx::NodeProto& node) {
        const ir::LayerKind* const kind = builder_.operators.find_layer(builder_.format, kind_name(node));
        if (kind == nullptr && !is_own(node)) {
            throw ModelError(
                fmt::format("this operator of the domain {} is not supported: docs/operators.md "
                            "lists those that are",
                            ir::quoted(node.domain())));
        }
        if (kind == nullptr) {
            throw ModelError(
                fmt::format("this operator of operator set {} is not supported: "
                            "docs/operators.md lists those that are",
                            opset_));
        }
        json attributes = onnx_file::attributes_of(node, folder_);
        check_known(*kind, attributes);
        attributes[opset_key] = opset_;
        // Some files name no results behind the last one that is read.
        std::vector<ir::ResultType> declared(static_cast<std::size_t>(std::max(node.output_size(), 1)));
        const std::string name = name_of_node(node);
        LayerContext context(builder_, *kind, attributes, name, inputs_of(node), DataType::Uint8,
                             std::move(declared));
        define_results(node, kind->build(context));
    }

    /// Throws ModelError if a node has an attribute that its operator does not know, such as one of a newer
    /// operator set.
    void check_known(const ir::LayerKind& kind, const json& attributes) const {
        for (const auto& [name, value] : attributes.items()) {
            if (std::ranges::find(kind.keys, name, &ir::LayerKey::name) != kind.keys.end()) continue;
            const std::string set = opset_ > newest_opset ? fmt::format(" of operator set {}", opset_) : "";
            throw ModelError(
                fmt::format("attribute {}: it is not supported on this operator{}", ir::quoted(name), set));
        }
    }

    std::vector<ir::ValueId> inputs_of(const ::onnx::NodeProto& node) const {
        std::vector<ir::ValueId> inputs;
        for (const std::string& name : node.input()) {
            if (name.empty()) {
                inputs.push_back(ir::no_value);
                continue;
            }
            if (unsupported_.contains(name)) {
                throw ModelError(
                    fmt::format("it reads {}, a result that is not supported", ir::quoted(name)));
            }
            const auto found = values_.find(name);
            if (found == values_.end()) {
                throw ModelError(fmt::format("it reads {}, which nothing makes", ir::quoted(name)));
            }
            inputs.push_back(found->second);
        }
        return inputs;
    }

    void define_results(const ::onnx::NodeProto& node, const ir::Results& results) {
        for (int i = 0; i < node.output_size(); ++i) {
            const std::string& name = node.output(i);
            if (name.empty()) continue;
            if (static_cast<std::size_t>(i) < results.size()) {
                define(name, results[static_cast<std::size_t>(i)]);
            } else {
                unsupported_.insert(name);
            }
        }
    }

    void set_outputs() {
        ir::Graph& graph = builder_.graph;
        for (const auto& output : proto_.output()) {
            const auto found = values_.find(output.name());
            if (found == values_.end() || found->second == ir::no_value) {
                throw ModelError(fmt::format("output {}: {}", ir::quoted(output.name()),
                                             unsupported_.contains(output.name())
                                                 ? "it is a result that is not supported"
                                                 : "nothing makes it"));
            }
            ir::ValueId id = found->second;
            // A value has one name and one role.
            if (ir::is_input(graph, id) || ir::is_output(graph, id)) {
                id = graph.append(output.name(), builder_.operators.at("identity"), {}, {id}, DataType::Uint8,
                                  {{graph.values[id].type, graph.values[id].quantization}});
            }
            graph.values[id].name = output.name();
            graph.outputs.push_back(id);
        }
        if (graph.outputs.empty()) throw ModelError("it has no output; it must have at least one");
    }

    ::onnx::GraphProto& proto_;
    fs::path folder_;
    const InputShapes& shapes_;
    std::int64_t opset_;
    NoWeights no_weights_;
    GraphBuilder builder_;
    std::map<std::string, ir::ValueId, std::less<>> values_;  ///< by the name of the tensor
    std::set<std::string, std::less<>> unsupported_;          ///< results that no operator makes
};

/// Builds the graph of a model, which `parse` gives each time it is called, as building uses it up.
template <typename Parse>
ir::Graph build(const Parse& parse, const fs::path& folder, const ir::OperatorSet& operators,
                const InputShapes& shapes) {
    std::uint32_t batch = 1;
    {
        ::onnx::ModelProto model = parse();
        if (!model.has_graph()) throw ModelError("it has no graph");
        OnnxModelReader whole(model, folder, operators, shapes);
        try {
            return whole.read(1);
        } catch (const ModelError&) {
            batch = whole.common_batch();
            if (batch == 1) throw;
        }
    }
    // What does not work on the whole tensors may work on each image of a batch.
    ::onnx::ModelProto again = parse();
    return OnnxModelReader(again, folder, operators, shapes).read(batch);
}

/// protobuf must not write to the terminal.
void silence_protobuf() {
    google::protobuf::SetLogHandler(nullptr);
}

constexpr const char* broken = "it is damaged: it is no ONNX model";

/// A field of a message: its number and the kind of its contents.
struct FieldTag {
    std::uint64_t number;
    std::uint64_t wire_type;
};

/// Reads a number of up to ten bytes; nullopt if the text ends in it.
std::optional<std::uint64_t> take_number(std::string_view& text) {
    std::uint64_t number = 0;
    constexpr unsigned bits_a_byte = 7;
    constexpr unsigned most_bits = 64;
    for (unsigned shift = 0; shift < most_bits && !text.empty(); shift += bits_a_byte) {
        const auto byte = static_cast<unsigned char>(text.front());
        text.remove_prefix(1);
        number |= std::uint64_t{byte & 0x7fU} << shift;
        if ((byte & 0x80U) == 0) return number;
    }
    return std::nullopt;
}

/// Whether ModelProto has such a field.
bool is_model_field(const FieldTag& tag) {
    constexpr std::uint64_t varint = 0;
    constexpr std::uint64_t delimited = 2;
    // ir_version, producer_name, producer_version, domain, model_version, doc_string, graph, opset_import,
    // metadata_props, training_info, functions.
    constexpr std::array<FieldTag, 11> fields{{{1, varint},
                                               {2, delimited},
                                               {3, delimited},
                                               {4, delimited},
                                               {5, varint},
                                               {6, delimited},
                                               {7, delimited},
                                               {8, delimited},
                                               {14, delimited},
                                               {20, delimited},
                                               {25, delimited}}};
    return std::ranges::any_of(fields, [&](const FieldTag& field) {
        return field.number == tag.number && field.wire_type == tag.wire_type;
    });
}

}  // namespace

bool is_onnx(std::string_view head) {
    // Writers put the fields in the order of their numbers, so that the version is first.
    constexpr char version_tag = 0x08;
    constexpr std::uint64_t most_version = 1000;
    if (!head.starts_with(version_tag)) return false;
    bool is_first = true;
    std::size_t fields = 0;
    while (!head.empty()) {
        const auto tag = take_number(head);
        if (!tag) break;
        const FieldTag field{*tag >> 3U, *tag & 7U};
        if (!is_model_field(field)) return false;
        const auto number = take_number(head);
        if (!number) break;
        if (is_first && (*number == 0 || *number > most_version)) return false;
        is_first = false;
        ++fields;
        if (field.wire_type == 2) head.remove_prefix(std::min<std::uint64_t>(*number, head.size()));
    }
    return fields > 1;
}

ir::Graph build_onnx_graph(std::string_view model, const fs::path& folder, const ir::OperatorSet& operators,
                           const InputShapes& shapes) {
    silence_protobuf();
    const auto parse = [&] {
        ::onnx::ModelProto proto;
        if (model.size() > most_bytes ||
            !proto.ParseFromArray(model.data(), static_cast<int>(model.size()))) {
            throw ModelError(broken);
        }
        return proto;
    };
    return build(parse, folder, operators, shapes);
}

ir::Graph read_onnx(const fs::path& path, const ir::OperatorSet& operators, const InputShapes& shapes) {
    silence_protobuf();
    check_input_file<ModelError>(path, most_bytes);
    try {
        const auto parse = [&] {
            ::onnx::ModelProto proto;
            std::ifstream file(path, std::ios::binary);
            google::protobuf::io::IstreamInputStream stream(&file);
            if (!proto.ParseFromZeroCopyStream(&stream)) throw ModelError(broken);
            return proto;
        };
        ir::Graph graph = build(parse, path.parent_path(), operators, shapes);
        graph.name = path.stem().string();
        return graph;
    } catch (const ModelError& error) {
        throw ModelError(fmt::format("{}: {}", path.string(), error.what()));
    }
}

}  // namespace systole::frontend
