#include "compiler/frontend/tflite.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "base/input_file.h"
#include "base/message_text.h"
#include "compiler/frontend/layer_context.h"
#include "compiler/frontend/tflite/blocks.h"
#include "compiler/frontend/tflite/options.h"
#include "compiler/frontend/tflite/signatures.h"
#include "compiler/frontend/tflite/states.h"
#include "compiler/frontend/tflite/tensors.h"
#include "compiler/ir/model_error.h"
#include "compiler/ir/split_batch.h"

namespace systole::frontend {
namespace {

using nlohmann::json;

/// Weights are inputs of the nodes, so nothing asks for them.
class TfliteWeights final : public WeightProvider {
public:
    ir::Constant provide(const LayerConfig& /*layer*/, const std::string& /*layer_name*/,
                         const ir::WeightRequest& /*request*/) override {
        throw std::logic_error("layers of TFLite files have their weights as inputs");
    }
};

/// Runs `work`, and lets the messages of its errors begin with the place.
template <typename Work>
auto at(const std::string& place, const Work& work) {
    try {
        return work();
    } catch (const ModelError& error) {
        throw ModelError(fmt::format("{}: {}", place, error.what()));
    }
}

/// Options that follow from the shapes and types of inputs and results.
bool is_redundant(std::string_view option) {
    constexpr std::array names{"depth_multiplier", "in_data_type", "num_splits",
                               "values_count",     "num",          "pot_scale_int16"};
    return std::ranges::find(names, option) != names.end();
}

class TfliteReader {
public:
    /// `signature` gives inputs and outputs their names; null: they have those of the tensors.
    TfliteReader(const tflite::File& file, const ir::OperatorSet& operators, const TfliteOptions& options,
                 const tflite::SignatureDef* signature)
        : file_(file),
          options_(options),
          signature_(signature),
          builder_{.format = ir::Format::Tflite, .operators = operators, .weights = weights_},
          values_(file.tensor_count()),
          blocks_(tflite::find_dilated_convolutions(file)) {}

    /// Reads the network on images of this batch, and makes it the network on one image.
    ir::Graph read(std::uint32_t batch) {
        builder_.graph.batch = batch;
        const tflite::SubGraph& network = file_.network();
        if (network.name() != nullptr) builder_.graph.name = network.name()->str();
        add_inputs(network);
        if (network.operators() != nullptr) {
            for (std::uint32_t i = 0; i < network.operators()->size(); ++i) {
                add_node(*network.operators()->Get(i), i);
            }
        }
        if (network.outputs() != nullptr) {
            std::size_t place = 0;
            for (const std::int32_t number : *network.outputs()) add_output(number, place++);
        }
        ir::remove_unread(builder_.graph);
        if (batch > 1) ir::split_batch(builder_.graph);
        if (const auto fault = ir::find_fault(builder_.graph)) throw ModelError(*fault);
        return std::move(builder_.graph);
    }

    /// The batch of the inputs that have been read.
    std::uint32_t common_batch() const { return ir::common_batch(builder_.graph); }

private:
    std::string tensor_place(std::int64_t number) const {
        return fmt::format("tensor {}", in_quotes(file_.name_of(number)));
    }

    void add_inputs(const tflite::SubGraph& network) {
        std::vector<std::string> names;
        if (network.inputs() != nullptr) {
            for (const std::int32_t number : *network.inputs()) names.push_back(input_name(number));
        }
        check_given_shapes(options_.shapes.given, names);
        for (std::size_t i = 0; i < names.size(); ++i) {
            add_input(network.inputs()->Get(static_cast<std::uint32_t>(i)), names[i]);
        }
    }

    std::string input_name(std::int32_t number) const {
        const auto* const name =
            signature_ == nullptr ? nullptr : tflite::name_in_signature(signature_->inputs(), number);
        return name == nullptr ? file_.name_of(number) : name->str();
    }

    std::string output_name(std::int32_t number) const {
        const auto* const name =
            signature_ == nullptr ? nullptr : tflite::name_in_signature(signature_->outputs(), number);
        return name == nullptr ? file_.name_of(number) : name->str();
    }

    void add_input(std::int32_t number, const std::string& name) {
        const tflite::Tensor& tensor = file_.tensor(number);
        at(tensor_place(number), [&] {
            if (values_[static_cast<std::size_t>(number)]) throw ModelError("it is an input twice");
            const ir::ResultType type = tflite::type_of(tensor);
            const auto extents = tflite::input_extents_of(tensor);
            const std::optional<ir::Shape> known = known_shape(options_.shapes, name, extents);
            has_known_shape_ |= known.has_value();
            const ir::Shape shape = closed_shape(extents, known);
            tflite::check_elements(shape);
            const ir::ValueId id = builder_.graph.add_input(name, shape);
            builder_.graph.values[id].type = type.type;
            builder_.graph.values[id].quantization = type.quantization;
            values_[static_cast<std::size_t>(number)] = id;
        });
    }

    /// `place`: among all outputs of the file.
    void add_output(std::int32_t number, std::size_t place) {
        static_cast<void>(file_.tensor(number));
        at(tensor_place(number), [&] {
            ir::ValueId id = value_of(number);
            const std::string name = output_name(number);
            if (builder_.graph.values[id].constant) {
                ir::Value constant = builder_.graph.values[id];
                constant.name = name;
                builder_.graph.constant_outputs.push_back({place, std::move(constant)});
                return;
            }
            // A tensor that equals an input or another output keeps its own name.
            if (builder_.graph.values[id].name != file_.name_of(number)) {
                const ir::Value& value = builder_.graph.values[id];
                const ir::ResultType type{.type = value.type, .quantization = value.quantization};
                id = builder_.graph.append(name, builder_.operators.at("identity"), {}, {id}, DataType::Uint8,
                                           {type});
            }
            builder_.graph.values[id].name = name;
            builder_.graph.outputs.push_back(id);
        });
    }

    ir::ValueId add_constant(const tflite::Tensor& tensor, std::string name, DataType type,
                             std::span<const std::uint8_t> data) {
        const ir::Shape shape = tflite::shape_of(tensor);
        taken_bytes_ += data.size();
        if (taken_bytes_ <= file_.size()) {
            return builder_.add_file_constant(std::move(name), shape, type,
                                              tflite::constant_of(tensor, data));
        }
        // Tensors may share their data, which is copied for each.
        builder_.count_computed(shape);
        return builder_.graph.add_constant(std::move(name), shape, type, tflite::constant_of(tensor, data));
    }

    /// The value of a tensor; a constant is added when it is first read.
    ir::ValueId value_of(std::int32_t number) {
        const tflite::Tensor& tensor = file_.tensor(number);
        std::optional<ir::ValueId>& value = values_[static_cast<std::size_t>(number)];
        if (value) return *value;
        if (tensor.is_variable())
            throw ModelError("it is a variable; a network with a state is not supported");
        const std::span<const std::uint8_t> data = file_.data_of(tensor);
        if (data.empty()) throw ModelError("it is read before a node computes it");
        const ir::ResultType type = tflite::type_of(tensor);
        const ir::ValueId id = add_constant(tensor, file_.name_of(number), type.type, data);
        builder_.graph.values[id].quantization = type.quantization;
        value = id;
        return id;
    }

    std::vector<ir::ValueId> inputs_of(const tflite::Operator& node, std::string_view op,
                                       const tflite::DilatedConvolution* dilated) {
        std::vector<ir::ValueId> inputs;
        if (node.inputs() == nullptr) return inputs;
        for (std::int32_t number : *node.inputs()) {
            if (dilated != nullptr && inputs.empty()) number = dilated->input;
            if (number == -1 || tflite::is_state(op, inputs.size())) {
                inputs.push_back(ir::no_value);
                continue;
            }
            static_cast<void>(file_.tensor(number));
            inputs.push_back(at("its input " + tensor_place(number), [&] { return value_of(number); }));
        }
        return inputs;
    }

    /// Constants of integers that a node on float32 reads are converted (dynamic range quantization).
    void dequantize_constants(const std::string& layer, std::string_view op,
                              const std::vector<ir::ResultType>& results, std::vector<ir::ValueId>& inputs) {
        if (op == "DEQUANTIZE" || results.empty() || results.front().type != DataType::Float32) return;
        for (ir::ValueId& input : inputs) {
            if (input == ir::no_value) continue;
            const ir::Value& value = builder_.graph.values[input];
            if (!value.constant || !value.quantization) continue;
            builder_.count_computed(value.shape);
            input = builder_.graph.append(layer, builder_.operators.at("dequantize"), {}, {input});
            builder_.graph.fold_last_node();
        }
    }

    /// `number` is that of the node among those of the network.
    void add_node(const tflite::Operator& node, std::uint32_t number) {
        const std::int32_t first =
            node.outputs() == nullptr || node.outputs()->size() == 0 ? -1 : node.outputs()->Get(0);
        if (first == -1) {
            const std::string place = fmt::format("node {}", number);
            const std::string op = at(place, [&] { return file_.operator_of(node); });
            throw ModelError(
                fmt::format("{}: it has no result; it must have at least 1 (operator {})", place, op));
        }
        const std::string name = file_.name_of(first);
        const auto blocks = blocks_.find(&node);
        if (blocks != blocks_.end() && blocks->second.convolution == nullptr) return;
        const tflite::DilatedConvolution* const dilated = blocks == blocks_.end() ? nullptr : &blocks->second;
        const tflite::Operator& work = dilated == nullptr ? node : *dilated->convolution;
        const std::string op = at(layer_place(name), [&] { return file_.operator_of(work); });
        try {
            build(work, *node.outputs(), name, op, dilated);
        } catch (const ModelError& error) {
            const std::string place = layer_place(name) + ": ";
            const std::string_view text = error.what();
            const bool has_place = text.starts_with(place);
            throw ModelError(fmt::format("{}{} (operator {})", has_place ? "" : place, text, op));
        }
    }

    /// `numbers` are the tensors of the results.
    void build(const tflite::Operator& node, const flatbuffers::Vector<std::int32_t>& numbers,
               const std::string& name, const std::string& op, const tflite::DilatedConvolution* dilated) {
        const ir::LayerKind* const kind = builder_.operators.find_layer(ir::Format::Tflite, op);
        if (kind == nullptr) {
            throw ModelError("this operator is not supported: docs/operators.md lists those that are");
        }
        std::vector<ir::ResultType> types;
        for (const std::int32_t number : numbers) {
            const tflite::Tensor& tensor = file_.tensor(number);
            types.push_back(at("its result " + tensor_place(number), [&] {
                if (values_[static_cast<std::size_t>(number)])
                    throw ModelError("something defines it before");
                return tflite::type_of(tensor);
            }));
        }
        computes_shapes_ |= op == "SHAPE";
        json options = tflite::options_of(node);
        check_options(node, *kind, options);
        check_scales(node, types, options);
        options["real_multiplier"] = has_real_multiplier(options_.runtime);
        if (const auto type = bias_type(node, op, types, options)) options["bias_type"] = *type;
        if (dilated != nullptr) {
            options["blocks_padding"] = dilated->padding;
            options["dilation_h_factor"] = dilated->sides[0];
            options["dilation_w_factor"] = dilated->sides[1];
        }
        tflite::add_state_options(file_, node, op, options);
        std::vector<ir::ValueId> inputs = inputs_of(node, op, dilated);
        dequantize_constants(name, op, types, inputs);
        const std::size_t first_own = builder_.graph.values.size();
        LayerContext context(builder_, *kind, options, name, std::move(inputs), DataType::Uint8, types);
        const ir::Results results = kind->build(context);
        if (results.size() != types.size()) {
            throw ModelError(fmt::format("it has {} in the file; it must have {}",
                                         counted(types.size(), "result"), results.size()));
        }
        for (std::size_t i = 0; i < results.size(); ++i) {
            set_result(numbers.Get(static_cast<std::uint32_t>(i)), results[i], results[i] >= first_own);
        }
    }

    /// The type of the bias in the file, or, without a bias, the one that the options give: biases of 64
    /// bits become int32 in the graph, but the runtime then adds in 64 bits. Fails where both are given and
    /// differ, as the runtime does.
    std::optional<std::string> bias_type(const tflite::Operator& node, std::string_view op,
                                         const std::vector<ir::ResultType>& results,
                                         const json& options) const {
        constexpr const char* key = "quantized_bias_type";
        const std::string declared = options.value(key, "FLOAT32");
        const bool is_wide = !results.empty() && results.front().type == DataType::Int16;
        const bool is_declared = is_wide && declared != "FLOAT32";
        if (is_declared && declared != "INT32" && declared != "INT64") {
            throw ModelError(fmt::format("{} is {}; it must be INT32 or INT64", key, declared));
        }
        const std::uint32_t bias = op == "TRANSPOSE_CONV" ? 3 : 2;
        if (node.inputs() == nullptr || node.inputs()->size() <= bias || node.inputs()->Get(bias) < 0) {
            return is_declared ? std::optional(declared) : std::nullopt;
        }
        const tflite::TensorType type = file_.tensor(node.inputs()->Get(bias)).type();
        std::string given(tflite::name_in("TensorType", static_cast<std::int64_t>(type)));
        if (is_declared && given != declared) {
            throw ModelError(
                fmt::format("{} is {}; its bias is {}, and they must be the same", key, declared, given));
        }
        return given;
    }

    /// Fails for the rule of powers of two, by which older files add and subtract numbers of 16 bits.
    void check_scales(const tflite::Operator& node, const std::vector<ir::ResultType>& results,
                      const json& options) const {
        if (!options.value("pot_scale_int16", false) || results.front().type != DataType::Int16) return;
        const auto is_power_of_two = [](const ir::ResultType& type) {
            if (type.type != DataType::Int16 || !type.quantization) return false;
            constexpr float tolerance = 1e-3F;
            const float exponent = std::log2(static_cast<float>(type.quantization->scales.front()));
            return std::abs(exponent - std::round(exponent)) < tolerance;
        };
        if (node.inputs() == nullptr) return;
        bool all_are = is_power_of_two(results.front());
        for (const std::int32_t input : *node.inputs()) {
            all_are &= is_power_of_two(tflite::type_of(file_.tensor(input)));
        }
        if (all_are) {
            throw ModelError(
                "pot_scale_int16 is true and all scales are powers of two; the rule for these is "
                "not supported");
        }
    }

    /// Options that the kind does not read must have their defaults.
    static void check_options(const tflite::Operator& node, const ir::LayerKind& kind, const json& options) {
        for (const auto& [option, value] : options.items()) {
            if (is_redundant(option)) continue;
            if (std::ranges::find(kind.keys, option, &ir::LayerKey::name) != kind.keys.end()) continue;
            const json only = tflite::default_option(node, option);
            if (value == only) continue;
            throw ModelError(
                fmt::format("{} is {}; only {} is supported", option, value.dump(), only.dump()));
        }
    }

    /// Whether the runtime may find another shape than the file declares: all shapes follow from given sizes
    /// of inputs, and where nodes compute shapes, some converters wrote 1.
    bool may_differ(const ir::Shape& declared, const ir::Shape& found) const {
        if (has_known_shape_) return true;
        if (!computes_shapes_ || declared.rank() != found.rank()) return false;
        for (std::size_t axis = 0; axis < declared.rank(); ++axis) {
            if (declared[axis] != found[axis] && declared[axis] != 1) return false;
        }
        return true;
    }

    void set_result(std::int32_t number, ir::ValueId id, bool is_own) {
        const tflite::Tensor& tensor = file_.tensor(number);
        ir::Value& value = builder_.graph.values[id];
        const ir::Shape declared = tflite::shape_of(tensor);
        if (value.shape != declared && !tflite::has_open_shape(tensor) &&
            !may_differ(declared, value.shape)) {
            throw ModelError(fmt::format("its result is {} in the file; by its inputs it is {}",
                                         ir::to_text(declared), ir::to_text(value.shape)));
        }
        if (is_own) value.name = file_.name_of(number);
        values_[static_cast<std::size_t>(number)] = id;
    }

    const tflite::File& file_;
    const TfliteOptions& options_;
    const tflite::SignatureDef* signature_;
    TfliteWeights weights_;
    GraphBuilder builder_;
    std::vector<std::optional<ir::ValueId>> values_;  ///< by tensor
    tflite::DilatedConvolutions blocks_;
    std::uint64_t taken_bytes_ = 0;  ///< of the data of all constants
    bool has_known_shape_ = false;   ///< whether a shape of an input is not the file's alone
    bool computes_shapes_ = false;   ///< whether a node gives the shape of a tensor
};

}  // namespace

bool is_tflite(std::string_view head) {
    constexpr std::size_t identifier_place = 4;
    return head.size() > identifier_place && head.substr(identifier_place).starts_with("TFL3");
}

ir::Graph build_tflite_graph(std::span<const std::uint8_t> file, const ir::OperatorSet& operators,
                             const TfliteOptions& options) {
    tflite::File opened(file);
    const tflite::Network network = tflite::network_of(opened, options.signature);
    opened.choose_network(network.subgraph);
    // Without a name, the names of tensors are those that the runtime uses as well.
    const tflite::SignatureDef* const signature = options.signature.empty() ? nullptr : network.signature;
    TfliteReader whole(opened, operators, options, signature);
    std::uint32_t batch = 1;
    try {
        return whole.read(1);
    } catch (const ModelError&) {
        batch = whole.common_batch();
        if (batch == 1) throw;
    }
    // What does not work on the whole tensors may work on each image of a batch.
    return TfliteReader(opened, operators, options, signature).read(batch);
}

ir::Graph read_tflite(const std::filesystem::path& path, const ir::OperatorSet& operators,
                      const TfliteOptions& options) {
    const auto bytes = read_input_file<ModelError, std::vector<std::uint8_t>>(path);
    return at(path.string(), [&] {
        ir::Graph graph = build_tflite_graph(bytes, operators, options);
        graph.name = path.stem().string();
        return graph;
    });
}

}  // namespace systole::frontend
