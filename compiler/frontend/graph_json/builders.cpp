#include "compiler/frontend/graph_json/builders.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/frontend/json_values.h"

namespace systole::frontend::graph_json {
namespace {

struct NamedBuilder {
    std::string_view op;
    Builder build;
};

constexpr std::array builders{
    NamedBuilder{"dense", build_dense},
    NamedBuilder{"convolution", build_convolution},
    NamedBuilder{"depthwise_convolution", build_depthwise_convolution},
    NamedBuilder{"batch_normalization", build_batch_normalization},
    NamedBuilder{"max_pool", build_max_pool},
    NamedBuilder{"average_pool", build_average_pool},
    NamedBuilder{"global_max_pool", build_global_max_pool},
    NamedBuilder{"global_average_pool", build_global_average_pool},
    NamedBuilder{"add", build_add},
    NamedBuilder{"multiply", build_multiply},
    NamedBuilder{"concat", build_concat},
    NamedBuilder{"slice", build_slice},
    NamedBuilder{"linear", build_linear},
    NamedBuilder{"relu", build_relu},
    NamedBuilder{"leaky_relu", build_leaky_relu},
    NamedBuilder{"elu", build_elu},
    NamedBuilder{"selu", build_selu},
    NamedBuilder{"sigmoid", build_sigmoid},
    NamedBuilder{"tanh", build_tanh},
    NamedBuilder{"swish", build_swish},
    NamedBuilder{"softplus", build_softplus},
    NamedBuilder{"softmax", build_softmax},
    NamedBuilder{"flatten", build_flatten},
    NamedBuilder{"reshape", build_reshape},
    NamedBuilder{"zero_padding", build_zero_padding},
};

}  // namespace

Builder find_builder(std::string_view op) {
    const auto* const found = std::ranges::find(builders, op, &NamedBuilder::op);
    return found == builders.end() ? nullptr : found->build;
}

std::vector<std::string> operator_names() {
    std::vector<std::string> names;
    names.reserve(builders.size());
    for (const NamedBuilder& builder : builders) names.emplace_back(builder.op);
    return names;
}

graph::NodeId LayerContext::input() const {
    if (inputs.size() != 1)
        config.fail(fmt::format("it has {} inputs; it must have exactly 1", inputs.size()));
    return inputs[0];
}

std::vector<float> LayerContext::kernel(const std::vector<std::uint64_t>& shape, double fan_in) const {
    if (const auto rule = weights_.count(shape)) config.fail(*rule);
    std::uint64_t size = 1;
    for (const std::uint64_t extent : shape) size *= extent;
    constexpr double uniform = 3.0;  // the mean square of values up to a is a^2 / 3
    const double gain = config.text("activation", "linear") == "relu" ? 2.0 : 1.0;
    return values(size, std::sqrt(uniform * gain / fan_in), "kernel");
}

std::vector<float> LayerContext::bias(std::uint64_t channels) const {
    constexpr double limit = 0.05;
    return config.boolean("bias", true) ? values(channels, limit, "bias") : std::vector<float>{};
}

std::vector<float> LayerContext::values(std::uint64_t size, double limit, const std::string& role) const {
    std::uint64_t seed = weights_.seed();
    if (const nlohmann::json* const own = config.find("weights")) {
        if (!own->is_object()) config.fail("weights", "it must be an object, as in {\"seed\": 1}");
        const LayerConfig section(*own, layer_place(name_) + ": weights");
        seed = read_seed(section);
        section.reject_unknown_keys();
    }
    return weights_.draw(size, limit, seed, name_, role);
}

std::uint8_t read_activation_bits(const LayerConfig& config, std::uint8_t absent) {
    const std::uint32_t bits = config.positive("activation_bits", absent);
    if (bits != 8 && bits != 16) config.fail("activation_bits", "it must be 8 or 16");
    return static_cast<std::uint8_t>(bits);
}

std::uint32_t read_unsigned(const LayerConfig& config, const char* key) {
    const nlohmann::json* const value = config.find(key);
    const auto number = value == nullptr ? std::nullopt : as_unsigned(*value);
    if (!number) config.fail(key, "it must be an integer from 0 to 2^32 - 1");
    return *number;
}

std::uint64_t read_seed(const LayerConfig& config) {
    const nlohmann::json* const value = config.find("seed");
    if (value == nullptr || !value->is_number_unsigned()) {
        config.fail("seed", "it must be an integer from 0 to 2^64 - 1");
    }
    return value->get<std::uint64_t>();
}

}  // namespace systole::frontend::graph_json
