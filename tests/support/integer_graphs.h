#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/encoding.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/window.h"
#include "compiler/operators/operator.h"

namespace systole::tests {

/// Weights on integers: one scale for all output channels, or one for each.
struct IntegerWeights {
    std::vector<std::int8_t> values;
    std::vector<double> scales = {1.0};
    std::vector<std::int32_t> bias = {};  ///< empty: the node has no bias
    std::int32_t zero_point = 0;          ///< for weights of one scale
};

/// Builds a quantized graph node by node; the last node is the output.
class IntegerGraph {
public:
    explicit IntegerGraph(std::string name = "made") { graph_.name = std::move(name); }

    ir::ValueId input(const ir::FeatureMap& map, const ir::Encoding& encoding = {}) {
        const ir::Shape shape = map.is_vector() ? ir::vector_shape(map.channels) : ir::image_shape(map);
        const ir::ValueId id = graph_.add_input("input", shape);
        store(id, encoding);
        graph_.outputs = {id};
        return id;
    }

    ir::ValueId append(const std::string& op, std::vector<ir::ValueId> inputs, const ir::Encoding& encoding,
                       std::vector<ir::NamedAttribute> attributes = {}) {
        const ir::ValueId id =
            graph_.append("layer" + std::to_string(graph_.nodes.size()), operators::registry().at(op),
                          std::move(attributes), std::move(inputs));
        store(id, encoding);
        graph_.outputs = {id};
        return id;
    }

    ir::ValueId convolution(ir::ValueId input, const ir::Window& window, std::uint32_t filters,
                            const IntegerWeights& weights, const ir::Encoding& encoding,
                            std::vector<ir::NamedAttribute> attributes = {}, std::uint32_t groups = 1) {
        add_window(window, attributes);
        if (groups > 1) attributes.emplace_back("groups", std::int64_t{groups});
        const ir::Shape shape{window.kernel_height, window.kernel_width, map(input).channels / groups,
                              filters};
        return append("convolution", with_weights({input}, shape, weights), encoding, std::move(attributes));
    }
    ir::ValueId depthwise(ir::ValueId input, const ir::Window& window, std::uint32_t multiplier,
                          const IntegerWeights& weights, const ir::Encoding& encoding,
                          std::vector<ir::NamedAttribute> attributes = {}) {
        add_window(window, attributes);
        attributes.emplace_back("multiplier", std::int64_t{multiplier});
        const ir::Shape shape{window.kernel_height, window.kernel_width, 1, map(input).channels * multiplier};
        return append("depthwise_convolution", with_weights({input}, shape, weights), encoding,
                      std::move(attributes));
    }
    ir::ValueId dense(const std::vector<ir::ValueId>& inputs, std::uint32_t units,
                      const IntegerWeights& weights, const ir::Encoding& encoding,
                      std::vector<ir::NamedAttribute> attributes = {}) {
        std::uint64_t elements = 0;
        for (const ir::ValueId id : inputs) elements += map(id).elements();
        const ir::Shape shape{static_cast<std::uint32_t>(elements), units};
        return append("dense", with_weights(inputs, shape, weights), encoding, std::move(attributes));
    }
    ir::ValueId pool(const std::string& op, ir::ValueId input, const ir::Window& window) {
        return append(op, {input}, encoding(input), ir::attributes_of(window));
    }
    ir::ValueId slice(ir::ValueId input, std::uint32_t first, std::uint32_t count) {
        return append("slice", {input}, encoding(input),
                      {{"first", std::int64_t{first}}, {"count", std::int64_t{count}}});
    }
    ir::ValueId reshape(ir::ValueId input, const ir::FeatureMap& map) {
        std::vector<std::int64_t> shape{1, map.height, map.width, map.channels};
        if (map.is_vector()) shape = {1, map.channels};
        return append("reshape", {input}, encoding(input), {{"shape", shape}});
    }
    /// A table of 256 entries, or 513, of the result's type.
    template <typename Entry>
    ir::ValueId lookup(ir::ValueId input, std::vector<Entry> table, const ir::Encoding& encoding) {
        const ir::Shape shape{static_cast<std::uint32_t>(table.size())};
        const ir::ValueId constant =
            graph_.add_constant("table", shape, encoding.type, ir::Constant::of(std::move(table)));
        return append("lookup", {input, constant}, encoding);
    }

    /// The inputs of a node with weights, and a bias, if any.
    std::vector<ir::ValueId> with_weights(std::vector<ir::ValueId> inputs, const ir::Shape& shape,
                                          const IntegerWeights& weights) {
        inputs.push_back(graph_.add_constant("weights", shape, DataType::Int8, weights.values));
        ir::Quantization scales{
            weights.scales, std::vector<std::int32_t>(weights.scales.size(), weights.zero_point), {}};
        if (weights.scales.size() > 1) scales.axis = static_cast<std::uint32_t>(shape.rank() - 1);
        graph_.values[inputs.back()].quantization = std::move(scales);
        if (!weights.bias.empty()) {
            const ir::Shape channels{shape[shape.rank() - 1]};
            inputs.push_back(graph_.add_constant("bias", channels, DataType::Int32, weights.bias));
        }
        return inputs;
    }

    const ir::Graph& graph() const { return graph_; }
    ir::Graph& graph() { return graph_; }
    ir::FeatureMap map(ir::ValueId id) const { return ir::feature_map(graph_.values[id].shape); }
    ir::Encoding encoding(ir::ValueId id) const { return ir::encoding_of(graph_.values[id]); }

    /// The encoding of a value.
    void store(ir::ValueId id, const ir::Encoding& encoding) {
        graph_.values[id].type = encoding.type;
        graph_.values[id].quantization = ir::Quantization{{encoding.scale}, {encoding.zero_point}, {}};
    }

private:
    static void add_window(const ir::Window& window, std::vector<ir::NamedAttribute>& attributes) {
        for (ir::NamedAttribute& attribute : ir::attributes_of(window)) {
            attributes.push_back(std::move(attribute));
        }
    }

    ir::Graph graph_;
};

}  // namespace systole::tests
