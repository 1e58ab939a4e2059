#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/frontend/layer_config.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/layer_kind.h"

namespace systole::frontend {

/// The source of the weights of a network's layers.
class WeightProvider {
public:
    virtual ~WeightProvider() = default;
    /// The values of a weight. Throws ModelError.
    virtual ir::Constant provide(const LayerConfig& layer, const std::string& layer_name,
                                 const ir::WeightRequest& request) = 0;
};

/// The state that all readers build a network with.
struct GraphBuilder {
    ir::Format format;
    const ir::OperatorSet& operators;
    WeightProvider& weights;
    ir::Graph graph = {};
    std::uint64_t file_numbers = 0;       ///< of constants that the file holds
    std::uint64_t computed_numbers = 0;   ///< of constants that were computed while building
    bool has_open_batch = false;          ///< LayerReader::has_open_batch
    std::set<std::string> repeated = {};  ///< the names in Graph::repeated
    /// Of each name, the layers that have repeated parts.
    std::map<std::string, std::uint32_t> repeating_layers = {};

    /// Adds a constant of the file.
    ir::ValueId add_file_constant(std::string name, const ir::Shape& shape, DataType type,
                                  ir::Constant contents);
    /// Counts numbers that are to be computed while building, before there is memory for them. Throws
    /// ModelError if they would be far more than the file holds.
    void count_computed(const ir::Shape& shape);
};

/// Reads a layer of a network file and appends its nodes to the graph.
class LayerContext final : public ir::LayerReader {
public:
    /// `layer` must outlive this object. Results are to be stored as `stored_as`. `declared` are the types of
    /// the results in a file that has them.
    LayerContext(GraphBuilder& builder, const ir::LayerKind& kind, const nlohmann::json& layer,
                 std::string name, std::vector<ir::ValueId> inputs, DataType stored_as,
                 std::vector<ir::ResultType> declared = {});

    const LayerConfig& config() const { return config_; }

    bool has(const char* key) const override;
    std::uint32_t positive(const char* key, std::optional<std::uint32_t> absent) const override;
    std::array<std::uint32_t, 2> positive_pair(
        const char* key, std::optional<std::array<std::uint32_t, 2>> absent) const override;
    bool boolean(const char* key, bool absent) const override;
    float number(const char* key, float absent) const override;
    std::string text(const char* key, std::string_view absent) const override;
    std::optional<Integers> integers(const char* key) const override;
    Integers integers_of(const char* key, std::size_t element) const override;
    std::optional<std::vector<double>> numbers(const char* key) const override;
    std::optional<std::vector<std::string>> texts(const char* key) const override;
    bool is_list(const char* key) const override;
    bool is_text(const char* key) const override;
    void require_number(const char* key, int only) const override;
    void require_text(const char* key, std::string_view only) const override;
    void require_last_axis(const char* key, bool flat) const override;
    [[noreturn]] void fail(const char* key, std::string_view rule) const override;
    [[noreturn]] void fail(std::string_view rule) const override;

    const std::vector<ir::ValueId>& inputs() const override { return inputs_; }
    ir::ValueId input() const override;
    const ir::Value& value(ir::ValueId id) const override;
    std::size_t result_count() const override { return std::max<std::size_t>(declared_.size(), 1); }
    ir::ResultType declared_result(std::size_t index) const override;
    std::uint32_t batch() const override { return builder_.graph.batch; }
    bool has_open_batch() const override { return builder_.has_open_batch; }
    ir::FeatureMap map_of(ir::ValueId id) const override;
    void begin_part(std::string_view part) override;
    void begin_repeated_part(std::string_view part) override;
    ir::ValueId weight(const ir::WeightRequest& request) override;
    ir::ValueId constant(std::string_view role, const ir::Shape& shape, std::vector<float> values) override;
    ir::ValueId add_constant(std::string_view role, const ir::Shape& shape, DataType type,
                             ir::Constant contents) override;
    ir::ValueId as_quantized(ir::ValueId id, const ir::Quantization& quantization) override;
    std::vector<ir::ValueId> append_node(std::string_view op, std::vector<ir::NamedAttribute> attributes,
                                         std::vector<ir::ValueId> inputs,
                                         std::vector<ir::ResultType> types = {}) override;
    ir::ValueId append_function(const char* key, ir::ValueId result) override;
    ir::ValueId add_input(const ir::Shape& shape) override;
    double drawn_gain() const override;

private:
    /// The value of a key, which the kind must list; null if it is absent.
    const nlohmann::json* find(const char* key) const;
    const char* listed(const char* key) const;
    /// The value, unless the file leaves it out; then it fails.
    ir::ValueId present(ir::ValueId id) const;
    /// Gives the results of a node that moves integers the scale of its input.
    void keep_scale(const ir::Node& node);
    /// GraphBuilder::count_computed, with the layer in its message.
    void count_computed(const ir::Shape& shape);
    /// The same for the results of a node, if it can be computed.
    void count_results(const ir::Node& node);

    GraphBuilder& builder_;
    const ir::LayerKind& kind_;
    LayerConfig config_;
    std::string layer_name_;
    std::string repeating_name_;  ///< in the names of its repeated parts; empty: it has none yet
    std::string name_;            ///< of the part that is being built
    std::vector<ir::ValueId> inputs_;
    DataType stored_as_;
    std::vector<ir::ResultType> declared_;
};

}  // namespace systole::frontend
