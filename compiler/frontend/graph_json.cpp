#include "compiler/frontend/graph_json.h"

#include <fmt/format.h>

#include <map>

#include "base/input_file.h"
#include "base/message_text.h"
#include "compiler/frontend/graph_json/seeded_weights.h"
#include "compiler/frontend/layer_context.h"
#include "compiler/frontend/text_values.h"
#include "compiler/ir/model_error.h"

namespace systole::frontend {
namespace {

using nlohmann::json;

constexpr const char* schema = "sim.graph/1";
/// The name with which layers read the network's input.
constexpr const char* input_name = "input";

LayerConfig section(const LayerConfig& network, const char* key) {
    const json* const value = network.find(key);
    if (value == nullptr || !value->is_object()) network.fail(key, "it must be an object");
    return {*value, key};
}

std::string read_name(const LayerConfig& config, const char* key) {
    std::string name = config.text(key, "");
    // Messages and reports show it without escapes.
    if (name.empty() || in_quotes(name).size() != name.size() + 2) {
        config.fail(key, "it must be a text in quotes, short and printable");
    }
    return name;
}

DataType read_activation_type(const LayerConfig& config, DataType absent) {
    constexpr std::uint32_t wide_bits = 16;
    constexpr std::uint32_t byte_bits = 8;
    const std::uint32_t bits = config.positive("activation_bits", bytes_of(absent) * byte_bits);
    if (bits != byte_bits && bits != wide_bits) config.fail("activation_bits", "it must be 8 or 16");
    return bits == wide_bits ? DataType::Int16 : DataType::Uint8;
}

/// `seed`: an integer from 0 to 2^64 - 1.
std::uint64_t read_seed(const LayerConfig& config) {
    const json* const value = config.find("seed");
    if (value == nullptr || !value->is_number_unsigned()) {
        config.fail("seed", "it must be an integer from 0 to 2^64 - 1");
    }
    return value->get<std::uint64_t>();
}

std::uint64_t read_network_seed(const LayerConfig& network) {
    const LayerConfig weights = section(network, "weights");
    const std::uint64_t seed = read_seed(weights);
    weights.reject_unknown_keys();
    return seed;
}

/// [n] or [height, width, channels], each at least 1, after a batch of 1.
ir::Shape read_input_shape(const LayerConfig& config) {
    constexpr const char* rule =
        "it must be [n] or [height, width, channels], each an integer from 1 to 4294967295";
    const json* const value = config.find("shape");
    if (value == nullptr || !value->is_array() || (value->size() != 1 && value->size() != 3)) {
        config.fail("shape", rule);
    }
    std::vector<std::uint32_t> extents{1};
    for (const json& entry : *value) {
        const auto extent = as_unsigned(entry);
        if (!extent || *extent == 0) config.fail("shape", rule);
        extents.push_back(*extent);
    }
    return ir::Shape(extents);
}

/// Draws weights from the seed of the layer, if it has one, or of the network.
class DrawnWeights final : public WeightProvider {
public:
    DrawnWeights(WeightValues values, std::uint64_t seed) : seeded_(values, seed) {}

    ir::Constant provide(const LayerConfig& layer, const std::string& layer_name,
                         const ir::WeightRequest& request) override {
        if (request.is_counted) {
            if (const auto rule = seeded_.count(request.file_shape)) layer.fail(*rule);
        }
        const std::uint64_t seed = seed_of(layer, layer_name);
        if (seeded_.skipped() && !request.always_known) return {};
        std::vector<float> values = seeded_.draw(request.shape.elements(), request.limit, seed, layer_name,
                                                 std::string(role_of(request)));
        values.resize(request.shape.elements());
        const auto center = static_cast<float>(request.center);
        if (center != 0.0F) {
            for (float& value : values) value += center;
        }
        return ir::Constant::of(std::move(values));
    }

private:
    std::uint64_t seed_of(const LayerConfig& layer, const std::string& layer_name) const {
        const json* const own = layer.find("weights");
        if (own == nullptr) return seeded_.seed();
        if (!own->is_object()) layer.fail("weights", "it must be an object, as in {\"seed\": 1}");
        const LayerConfig weights(*own, layer_place(layer_name) + ": weights");
        const std::uint64_t seed = read_seed(weights);
        weights.reject_unknown_keys();
        return seed;
    }

    /// The role from which drawn values are derived; "kernel" for every kernel.
    static std::string_view role_of(const ir::WeightRequest& request) { return request.roles.back(); }

    graph_json::SeededWeights seeded_;
};

/// Reads a network layer by layer.
class NetworkReader {
public:
    NetworkReader(const json& network, const ir::OperatorSet& operators, WeightValues values)
        : config_(network, ""),
          activation_type_(read_activation_type(config_, DataType::Uint8)),
          weights_(values, read_network_seed(config_)),
          builder_{.format = ir::Format::GraphJson, .operators = operators, .weights = weights_} {
        builder_.graph.name = read_name(config_, "name");
        builder_.graph.has_weights = values == WeightValues::Read;
    }

    ir::Graph read() && {
        append_input();
        const json* const layers = config_.find("layers");
        if (layers == nullptr || !layers->is_array() || layers->empty()) {
            config_.fail("layers", "it must be a list of at least one");
        }
        for (std::size_t i = 0; i < layers->size(); ++i) append_layer((*layers)[i], i);
        check_output();
        static_cast<void>(config_.find("schema"));  // already read
        config_.reject_unknown_keys();
        return std::move(builder_.graph);
    }

private:
    void append_input() {
        const LayerConfig input = section(config_, "input");
        const ir::Shape shape = read_input_shape(input);
        results_[input_name] =
            builder_.graph.add_input(input_name, shape, read_activation_type(input, activation_type_));
        input.reject_unknown_keys();
    }

    void append_layer(const json& layer, std::size_t position) {
        const std::string place = fmt::format("layers[{}]", position);
        if (!layer.is_object()) {
            throw ModelError(fmt::format("{} is {}; it must be an object", place, describe(layer)));
        }
        const std::string name = read_name(LayerConfig(layer, place), "name");
        const LayerConfig config(layer, layer_place(name));
        const std::string op = config.text("op", "");
        const ir::LayerKind* const kind = builder_.operators.find_layer(builder_.format, op);
        if (kind == nullptr) {
            config.fail("op", one_of(op, builder_.operators.layer_names(builder_.format)));
        }
        std::vector<ir::ValueId> inputs = read_inputs(config);
        LayerContext context(builder_, *kind, layer, name, std::move(inputs),
                             read_activation_type(config, activation_type_));
        for (const char* const key : {"name", "op", "inputs", "activation_bits"}) {
            static_cast<void>(context.config().find(key));
        }
        const ir::ValueId result = kind->build(context).front();
        context.config().reject_unknown_keys();
        if (!results_.emplace(name, result).second) config.fail("name", "the name is taken");
        last_ = name;
    }

    std::vector<ir::ValueId> read_inputs(const LayerConfig& config) const {
        const json* const names = config.find("inputs");
        if (names == nullptr || !names->is_array() || names->empty()) {
            config.fail("inputs", "it must be a list of at least one name");
        }
        std::vector<ir::ValueId> inputs;
        for (const json& name : *names) {
            const auto found = name.is_string() ? results_.find(name.get<std::string>()) : results_.end();
            if (found == results_.end()) {
                config.fail(fmt::format("inputs has {}; each must be \"input\" or the name of a layer before",
                                        describe(name)));
            }
            inputs.push_back(found->second);
        }
        return inputs;
    }

    /// Throws unless every layer leads to the output, which is the last layer.
    void check_output() {
        if (config_.text("output", "") != last_) {
            config_.fail("output", fmt::format("it must be the last layer, {}", in_quotes(last_)));
        }
        ir::Graph& graph = builder_.graph;
        graph.outputs = {results_.at(last_)};
        const auto readers = ir::readers(graph);
        for (ir::ValueId value = 0; value < readers.size(); ++value) {
            if (!readers[value].empty() || ir::is_output(graph, value)) continue;
            throw ModelError(fmt::format("layer {}: nothing reads its result, and it is not the output",
                                         in_quotes(graph.values[value].name)));
        }
    }

    LayerConfig config_;
    DataType activation_type_;  ///< the default for input and layers
    DrawnWeights weights_;
    GraphBuilder builder_;
    std::map<std::string, ir::ValueId> results_;  ///< by layer
    std::string last_;
};

}  // namespace

ir::Graph build_json_graph(std::string_view text, const ir::OperatorSet& operators, WeightValues values) {
    const json network = parse_json(text, "it");
    if (!network.is_object()) {
        throw ModelError(fmt::format("it is {}; it must be an object", describe(network)));
    }
    const LayerConfig head(network, "");
    if (head.text("schema", "") != schema) {
        head.fail("schema", fmt::format("it must be \"{}\" for a network", schema));
    }
    return NetworkReader(network, operators, values).read();
}

ir::Graph read_graph_json(const std::filesystem::path& path, const ir::OperatorSet& operators,
                          WeightValues values) {
    const auto text = read_input_file<ModelError>(path);
    try {
        return build_json_graph(text, operators, values);
    } catch (const ModelError& error) {
        throw ModelError(fmt::format("{}: {}", path.string(), error.what()));
    }
}

}  // namespace systole::frontend
