#include "compiler/frontend/graph_json.h"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <map>
#include <system_error>

#include "compiler/frontend/graph_json/builders.h"
#include "compiler/frontend/json_values.h"
#include "compiler/graph/operators/input.h"
#include "compiler/graph/shape_text.h"
#include "compiler/model_error.h"

namespace systole::frontend {
namespace {

using nlohmann::json;

constexpr const char* schema = "sim.graph/1";
/// By what name layers read the network's input.
constexpr const char* input_name = "input";

LayerConfig section(const LayerConfig& network, const char* key) {
    const json* const value = network.find(key);
    if (value == nullptr || !value->is_object()) network.fail(key, "it must be an object");
    return {*value, key};
}

std::string read_name(const LayerConfig& config, const char* key) {
    std::string name = config.text(key, "");
    // In messages and reports it stands as it is.
    if (name.empty() || graph::quoted(name).size() != name.size() + 2) {
        config.fail(key, "it must be a text in quotes, short and printable");
    }
    return name;
}

/// Reads a network layer by layer.
class GraphBuilder {
public:
    GraphBuilder(const json& network, WeightValues values)
        : config_(network, ""),
          activation_bits_(graph_json::read_activation_bits(config_, 8)),
          weights_(values, read_network_seed()) {
        graph_.name = read_name(config_, "name");
        graph_.has_weights = values == WeightValues::Read;
    }

    graph::Graph build() && {
        append_input();
        const json* const layers = config_.find("layers");
        if (layers == nullptr || !layers->is_array() || layers->empty()) {
            config_.fail("layers", "it must be a list of at least one");
        }
        for (std::size_t i = 0; i < layers->size(); ++i) append_layer((*layers)[i], i);
        check_output();
        static_cast<void>(config_.find("schema"));  // read already
        config_.reject_unknown_keys();
        return std::move(graph_);
    }

private:
    std::uint64_t read_network_seed() const {
        const LayerConfig weights = section(config_, "weights");
        const std::uint64_t seed = graph_json::read_seed(weights);
        weights.reject_unknown_keys();
        return seed;
    }

    void append_input() {
        const LayerConfig input = section(config_, "input");
        const graph::Shape shape = graph_json::read_shape(input, "shape");
        results_[input_name] = graph_.append(input_name, std::make_unique<graph::Input>(shape), {},
                                             graph_json::read_activation_bits(input, activation_bits_));
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
        const graph_json::Builder append = graph_json::find_builder(op);
        if (append == nullptr) {
            config.fail("op",
                        fmt::format("it must be one of {}", graph::joined(graph_json::operator_names())));
        }
        graph_json::LayerContext context(layer, name, read_inputs(config), activation_bits_, weights_,
                                         graph_);
        for (const char* const key : {"name", "op", "inputs"}) static_cast<void>(context.config.find(key));
        const graph::NodeId result = append(context);
        context.config.reject_unknown_keys();
        if (!results_.emplace(name, result).second) config.fail("name", "the name is taken");
        last_ = name;
    }

    std::vector<graph::NodeId> read_inputs(const LayerConfig& config) const {
        const json* const names = config.find("inputs");
        if (names == nullptr || !names->is_array() || names->empty()) {
            config.fail("inputs", "it must be a list of at least one name");
        }
        std::vector<graph::NodeId> inputs;
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

    /// Every layer leads to the output, which is thus the last.
    void check_output() const {
        if (config_.text("output", "") != last_) {
            config_.fail("output", fmt::format("it must be the last layer, {}", graph::quoted(last_)));
        }
        const auto readers = graph::consumers(graph_);
        for (graph::NodeId node = 0; node + 1 < readers.size(); ++node) {
            if (!readers[node].empty()) continue;
            throw ModelError(fmt::format("layer {}: nothing reads its result, and it is not the output",
                                         graph::quoted(graph_.nodes[node].name)));
        }
    }

    LayerConfig config_;
    std::uint8_t activation_bits_;  ///< where input and layers do not say otherwise
    graph_json::SeededWeights weights_;
    graph::Graph graph_;
    std::map<std::string, graph::NodeId> results_;  ///< by layer
    std::string last_;
};

std::string read_text(const std::filesystem::path& path) {
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw ModelError(fmt::format("it cannot be opened: {}", std::generic_category().message(errno)));
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

graph::Graph build_json_graph(std::string_view text, WeightValues values) {
    const json network = parse_json(text, "it");
    if (!network.is_object()) {
        throw ModelError(fmt::format("it is {}; it must be an object", describe(network)));
    }
    const LayerConfig head(network, "");
    if (head.text("schema", "") != schema) {
        head.fail("schema", fmt::format("it must be \"{}\" for a network", schema));
    }
    return GraphBuilder(network, values).build();
}

graph::Graph read_graph_json(const std::filesystem::path& path, WeightValues values) {
    try {
        return build_json_graph(read_text(path), values);
    } catch (const ModelError& error) {
        throw ModelError(fmt::format("{}: {}", path.string(), error.what()));
    }
}

}  // namespace systole::frontend
