// Keras' layers of attention, and its products, against sums in simple loops.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/model_error.h"
#include "compiler/reference/executor.h"
#include "tests/support/random_runs.h"
#include "tests/unit/compiler/frontend/keras_graph.h"

using namespace systole;
using nlohmann::json;
using tests::layer;

namespace {

/// Weights between -1 and 1, which are kept by the names of their owner and their role.
class KeptWeights final : public frontend::WeightSource {
public:
    explicit KeptWeights(std::mt19937& random) : random_(random) {}

    std::vector<float> read(const frontend::KerasLayer& /*layer*/,
                            const frontend::WantedWeight& wanted) const override {
        std::uint64_t elements = 1;
        for (const std::uint64_t extent : wanted.shape) elements *= extent;
        std::vector<float> values(elements);
        for (float& value : values) value = std::uniform_real_distribution<float>(-1.0F, 1.0F)(random_);
        const std::string owner = wanted.owner.empty() ? "" : std::string(wanted.owner.front()) + "/";
        kept_[owner + std::string(wanted.roles.front())] = values;
        numbers_[owner + std::string(wanted.roles.front())] = wanted.number;
        return values;
    }

    const std::vector<float>& of(const std::string& name) const { return kept_.at(name); }
    bool has(const std::string& name) const { return kept_.contains(name); }
    std::size_t number_of(const std::string& name) const { return numbers_.at(name); }

private:
    std::mt19937& random_;
    mutable std::map<std::string, std::vector<float>> kept_;
    mutable std::map<std::string, std::size_t> numbers_;
};

json called_tensor(const std::string& name) {
    return {{"class_name", "__keras_tensor__"}, {"config", {{"keras_history", {name, 0, 0}}}}};
}

/// A functional model of one layer; `call` is what Keras writes of its call. Inputs have the names "a", "b"
/// and "c", and these shapes without the batch.
json model_of_call(const json& one, const std::vector<std::vector<std::uint32_t>>& shapes, const json& call) {
    json layers = json::array();
    json inputs = json::array();
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        json batch_shape = json::array({nullptr});
        for (const std::uint32_t extent : shapes[i]) batch_shape.push_back(extent);
        const std::string name(1, static_cast<char>('a' + i));
        json input = layer("InputLayer", name, {{"batch_shape", batch_shape}});
        input["name"] = name;
        input["inbound_nodes"] = json::array();
        layers.push_back(input);
        inputs.push_back({name, 0, 0});
    }
    json last = one;
    last["name"] = one["config"]["name"];
    last["inbound_nodes"] = json::array({call});
    layers.push_back(last);
    return {{"class_name", "Functional"},
            {"config",
             {{"name", "f"},
              {"layers", layers},
              {"input_layers", inputs},
              {"output_layers", json::array({json{last["name"], 0, 0}})}}}};
}

/// As Keras 3 writes a call with tensors in order.
json call_in_order(const std::vector<std::string>& tensors, const json& arguments = json::object()) {
    json list = json::array();
    for (const std::string& tensor : tensors) list.push_back(called_tensor(tensor));
    return {{"args", list}, {"kwargs", arguments}};
}

/// The same with a list of tensors.
json call_with_list(const std::vector<std::string>& tensors, const json& arguments = json::object()) {
    return {{"args", json::array({call_in_order(tensors)["args"]})}, {"kwargs", arguments}};
}

ir::Graph graph_of_call(const json& model, const frontend::WeightSource& weights = tests::CountingWeights()) {
    return frontend::build_keras_graph(model.dump(), weights, operators::registry(), 3);
}

/// "name:operator name:operator ..."
std::string parts_of(const ir::Graph& graph) {
    std::string text;
    for (const ir::Node& node : graph.nodes) text += node.name + ":" + std::string(node.op->name()) + " ";
    return text;
}

std::size_t count_of(const std::vector<std::uint32_t>& extents) {
    return std::accumulate(extents.begin(), extents.end(), std::size_t{1}, std::multiplies<>());
}

std::vector<float> drawn_numbers(std::mt19937& random, std::size_t count) {
    std::vector<float> values(count);
    for (float& value : values) value = std::uniform_real_distribution<float>(-1.0F, 1.0F)(random);
    return values;
}

std::vector<float> run_graph(const ir::Graph& graph, const std::vector<std::vector<float>>& inputs) {
    const std::vector<std::span<const float>> views(inputs.begin(), inputs.end());
    return reference::execute(graph, views, 1).front();
}

/// Softmax over the last `count` elements of each row, where `meets` says so.
void apply_softmax(std::vector<double>& scores, std::size_t count, const std::vector<bool>& meets) {
    for (std::size_t first = 0; first < scores.size(); first += count) {
        double sum = 0.0;
        for (std::size_t i = first; i < first + count; ++i) sum += meets[i] ? std::exp(scores[i]) : 0.0;
        for (std::size_t i = first; i < first + count; ++i)
            scores[i] = meets[i] ? std::exp(scores[i]) / sum : 0.0;
    }
}

/// [rows][inputs] times the kernel [inputs][units] of an owner, with its bias.
std::vector<double> projected(const KeptWeights& weights, const std::string& owner,
                              const std::vector<double>& rows, std::size_t inputs) {
    const std::vector<float>& kernel = weights.of(owner + "/kernel");
    const std::size_t units = kernel.size() / inputs;
    std::vector<double> result(rows.size() / inputs * units, 0.0);
    for (std::size_t row = 0; row < rows.size() / inputs; ++row) {
        for (std::size_t unit = 0; unit < units; ++unit) {
            double& sum = result[row * units + unit];
            for (std::size_t i = 0; i < inputs; ++i)
                sum += rows[row * inputs + i] * double{kernel[i * units + unit]};
            if (weights.has(owner + "/bias")) sum += double{weights.of(owner + "/bias")[unit]};
        }
    }
    return result;
}

struct DrawnHeads {
    std::size_t queries = 1;  ///< steps
    std::size_t keys = 1;     ///< steps
    std::size_t heads = 1;
    std::size_t key_heads = 1;
    std::size_t key_size = 1;
    std::size_t value_size = 1;
    std::vector<bool> meets;  ///< [query][key]
};

/// The definition of the attention of several heads.
std::vector<double> attention_by_loops(const KeptWeights& weights, const DrawnHeads& drawn,
                                       const std::vector<float>& query_in, const std::vector<float>& value_in,
                                       const std::vector<float>& key_in, bool has_gate) {
    const auto wide = [](const std::vector<float>& values) {
        return std::vector<double>(values.begin(), values.end());
    };
    const std::size_t width = query_in.size() / drawn.queries;
    const auto query = projected(weights, "query", wide(query_in), width);
    const auto key = projected(weights, "key", wide(key_in), key_in.size() / drawn.keys);
    const auto value = projected(weights, "value", wide(value_in), value_in.size() / drawn.keys);
    std::vector<double> context(drawn.queries * drawn.heads * drawn.value_size, 0.0);
    for (std::size_t head = 0; head < drawn.heads; ++head) {
        const std::size_t key_head = head / (drawn.heads / drawn.key_heads);
        std::vector<double> scores(drawn.queries * drawn.keys, 0.0);
        for (std::size_t q = 0; q < drawn.queries; ++q) {
            for (std::size_t k = 0; k < drawn.keys; ++k) {
                for (std::size_t i = 0; i < drawn.key_size; ++i) {
                    scores[q * drawn.keys + k] += query[(q * drawn.heads + head) * drawn.key_size + i] *
                                                  key[(k * drawn.key_heads + key_head) * drawn.key_size + i] /
                                                  std::sqrt(static_cast<double>(drawn.key_size));
                }
            }
        }
        apply_softmax(scores, drawn.keys, drawn.meets);
        for (std::size_t q = 0; q < drawn.queries; ++q) {
            for (std::size_t i = 0; i < drawn.value_size; ++i) {
                double& sum = context[(q * drawn.heads + head) * drawn.value_size + i];
                for (std::size_t k = 0; k < drawn.keys; ++k) {
                    sum += scores[q * drawn.keys + k] *
                           value[(k * drawn.key_heads + key_head) * drawn.value_size + i];
                }
            }
        }
    }
    if (has_gate) {
        const auto gate = projected(weights, "gate", wide(query_in), width);
        for (std::size_t i = 0; i < context.size(); ++i) context[i] /= 1.0 + std::exp(-gate[i]);
    }
    return projected(weights, "attention_output", context, drawn.heads * drawn.value_size);
}

void check_close(const std::vector<float>& results, const std::vector<double>& expected) {
    REQUIRE(results.size() == expected.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
        CAPTURE(i);
        REQUIRE(double{results[i]} == Approx(expected[i]).margin(1e-4));
    }
}

/// "ab,bc->ac" of two tensors, term by term.
std::vector<double> einsum_by_loops(const std::string& a_axes, const std::string& b_axes,
                                    const std::string& result_axes,
                                    const std::map<char, std::uint32_t>& extents, const std::vector<float>& a,
                                    const std::vector<float>& b) {
    std::set<char> names(a_axes.begin(), a_axes.end());
    names.insert(b_axes.begin(), b_axes.end());
    std::size_t result_count = 1;
    for (const char axis : result_axes) result_count *= extents.at(axis);
    std::vector<double> result(result_count, 0.0);
    std::map<char, std::uint32_t> index;
    for (const char axis : names) index[axis] = 0;
    const auto place = [&](const std::string& axes) {
        std::size_t element = 0;
        for (const char axis : axes) element = element * extents.at(axis) + index.at(axis);
        return element;
    };
    while (true) {
        result[place(result_axes)] += double{a[place(a_axes)]} * double{b[place(b_axes)]};
        auto next = names.begin();
        while (next != names.end() && ++index[*next] == extents.at(*next)) index[*next++] = 0;
        if (next == names.end()) return result;
    }
}

}  // namespace

TEST_CASE("A multi-head attention of Keras names its parts", "[compiler][frontend]") {
    const json one = layer("MultiHeadAttention", "m", {{"num_heads", 2}, {"key_dim", 3}, {"value_dim", 5}});
    const json call = call_in_order({"a", "b"}, {{"use_causal_mask", true}});
    const ir::Graph graph = graph_of_call(model_of_call(one, {{4, 6}, {5, 7}}, call));
    CHECK(parts_of(graph) ==
          "m/query:convolution m/query:reshape m/query:multiply m/query:reshape m/query:transpose "
          "m/key:convolution m/key:reshape m/key:reshape m/key:transpose "
          "m/value:convolution m/value:reshape m/value:reshape m/value:transpose "
          "m/scores:matrix_product m/scores:add m/softmax:softmax "
          "m/context:matrix_product m/context:transpose m/context:reshape "
          "m/attention_output:convolution m/attention_output:reshape ");
    CHECK(graph.output().name == "m");
    CHECK(to_text(graph.output().shape) == "1x4x6");
    std::vector<std::string> constants;
    for (const ir::Value& value : graph.values) {
        if (value.constant) constants.push_back(value.name);
    }
    CHECK(std::ranges::count(constants, "m/query/kernel") == 1);
    CHECK(std::ranges::count(constants, "m/attention_output/bias") == 1);
}

TEST_CASE("Attentions of several heads compute what loops compute", "[compiler][frontend]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(60); ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const auto number = [&](std::uint32_t least, std::uint32_t most) {
            return std::uniform_int_distribution<std::uint32_t>(least, most)(random);
        };
        const bool has_groups = number(0, 1) == 1;
        const std::uint32_t key_heads = number(1, 3);
        const std::uint32_t heads = has_groups ? key_heads * number(1, 3) : key_heads;
        const std::uint32_t key_size = number(1, 4);
        const std::uint32_t value_size = has_groups ? key_size : number(1, 4);
        const std::uint32_t queries = number(1, 5);
        const std::uint32_t keys = number(1, 5);
        const std::uint32_t width = number(1, 5);
        const bool has_key = number(0, 1) == 1;
        const bool is_causal = number(0, 1) == 1;
        const bool has_mask = number(0, 1) == 1;
        const bool has_bias = number(0, 3) > 0;
        const bool has_gate = number(0, 2) == 0;
        json keys_of_layer{{"use_bias", has_bias}, {"use_gate", has_gate}};
        if (has_groups) {
            keys_of_layer.update(
                json{{"head_dim", key_size}, {"num_query_heads", heads}, {"num_key_value_heads", key_heads}});
        } else {
            keys_of_layer.update(
                json{{"num_heads", heads}, {"key_dim", key_size}, {"value_dim", value_size}});
        }
        const std::uint32_t window =
            number(0, 2) == 0 ? number(queries > keys ? queries - keys + 1 : 1, 6) : 0;
        if (window > 0) keys_of_layer["sliding_window"] = window;
        DrawnHeads drawn{.queries = queries,
                         .keys = keys,
                         .heads = heads,
                         .key_heads = key_heads,
                         .key_size = key_size,
                         .value_size = value_size,
                         .meets = {}};
        json mask = json::array();
        for (std::uint32_t query = 0; query < queries; ++query) {
            json row = json::array();
            for (std::uint32_t key = 0; key < keys; ++key) {
                const std::uint32_t distance = query < key ? key - query : query - key;
                // The nearest key that a query may meet is not masked: each must meet one.
                const bool is_given = !has_mask || key == std::min(query, keys - 1) || number(0, 1) == 1;
                row.push_back(is_given);
                drawn.meets.push_back(is_given && (!is_causal || key <= query) &&
                                      (window == 0 || distance < window));
            }
            mask.push_back(std::move(row));
        }
        json arguments = json::object();
        if (is_causal) arguments["use_causal_mask"] = true;
        if (has_mask) {
            const json given = number(0, 1) == 1 ? mask : json::array({mask});
            arguments["attention_mask"] = {{"class_name", "__tensor__"}, {"config", {{"value", given}}}};
        }
        std::vector<std::vector<std::uint32_t>> shapes{{queries, width}, {keys, number(1, 5)}};
        if (has_key) shapes.push_back({keys, number(1, 5)});
        const std::vector<std::string> names{"a", "b", "c"};
        const json one = layer(has_groups ? "GroupQueryAttention" : "MultiHeadAttention", "m", keys_of_layer);
        const json model = model_of_call(
            one, shapes,
            call_in_order({names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shapes.size())},
                          arguments));
        const KeptWeights weights(random);
        const ir::Graph graph = graph_of_call(model, weights);
        std::vector<std::vector<float>> inputs;
        for (const auto& shape : shapes) inputs.push_back(drawn_numbers(random, count_of(shape)));
        check_close(run_graph(graph, inputs),
                    attention_by_loops(weights, drawn, inputs[0], inputs[1], inputs.back(), has_gate));
        CHECK(weights.number_of("key/kernel") == 0);
        if (has_bias) CHECK(weights.number_of("attention_output/bias") == 1);
    }
}

TEST_CASE("An attention over images meets all pixels, and results may have several axes",
          "[compiler][frontend]") {
    std::mt19937 random(1);
    const KeptWeights weights(random);
    const json one =
        layer("MultiHeadAttention", "m",
              {{"num_heads", 2}, {"key_dim", 3}, {"output_shape", {2, 5}}, {"attention_axes", {1, 2}}});
    const ir::Graph graph =
        graph_of_call(model_of_call(one, {{2, 3, 4}, {3, 2, 5}}, call_in_order({"a", "b"})), weights);
    CHECK(to_text(graph.output().shape) == "1x2x3x2x5");
    const std::vector<std::vector<float>> inputs{drawn_numbers(random, 24), drawn_numbers(random, 30)};
    const DrawnHeads drawn{.queries = 6,
                           .keys = 6,
                           .heads = 2,
                           .key_heads = 2,
                           .key_size = 3,
                           .value_size = 3,
                           .meets = std::vector<bool>(36, true)};
    check_close(run_graph(graph, inputs),
                attention_by_loops(weights, drawn, inputs[0], inputs[1], inputs[1], false));
}

TEST_CASE("Keras 2 and Keras 3 write the call of an attention in several ways", "[compiler][frontend]") {
    const json one = layer("MultiHeadAttention", "m", {{"num_heads", 1}, {"key_dim", 2}});
    const std::vector<std::vector<std::uint32_t>> shapes{{4, 6}, {5, 7}, {5, 3}};
    const std::string expected = tests::summary(graph_of_call(
        model_of_call(one, shapes, call_in_order({"a", "b", "c"}, {{"use_causal_mask", true}}))));
    const json calls{{{"args", json::array()},
                      {"kwargs",
                       {{"key", called_tensor("c")},
                        {"query", called_tensor("a")},
                        {"value", called_tensor("b")},
                        {"training", false},
                        {"attention_mask", nullptr},
                        {"return_attention_scores", false},
                        {"use_causal_mask", true}}}},
                     json::array({{"a",
                                   0,
                                   0,
                                   {{"value", {"b", 0, 0}},
                                    {"key", {"c", 0, 0}},
                                    {"attention_mask", nullptr},
                                    {"use_causal_mask", true}}}})};
    for (const json& call : calls) {
        CAPTURE(call.dump());
        CHECK(tests::summary(graph_of_call(model_of_call(one, shapes, call))) == expected);
    }
    const json list = layer("Attention", "m", json::object());
    CHECK(
        tests::summary(graph_of_call(model_of_call(
            list, {{4, 6}, {5, 6}}, call_with_list({"a", "b"}, {{"use_causal_mask", true}})))) ==
        tests::summary(graph_of_call(model_of_call(
            list, {{4, 6}, {5, 6}}, json::array({{"a", 0, 0, {{"use_causal_mask", true}}}, {"b", 0, 0}})))));
}

TEST_CASE("Attentions without heads compute what loops compute", "[compiler][frontend]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(60); ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const auto number = [&](std::uint32_t least, std::uint32_t most) {
            return std::uniform_int_distribution<std::uint32_t>(least, most)(random);
        };
        const std::uint32_t queries = number(1, 5);
        const std::uint32_t keys = number(1, 5);
        const std::uint32_t size = number(1, 4);
        const bool is_additive = number(0, 2) == 0;
        const bool is_concat = number(0, 1) == 1;
        const bool has_scale = number(0, 1) == 1;
        const bool is_causal = number(0, 1) == 1;
        json keys_of_layer{{"use_scale", has_scale}};
        if (!is_additive) keys_of_layer["score_mode"] = is_concat ? "concat" : "dot";
        json arguments = json::object();
        if (is_causal && number(0, 1) == 1) keys_of_layer["causal"] = true;
        if (is_causal && !keys_of_layer.contains("causal")) arguments["use_causal_mask"] = true;
        const bool has_key = number(0, 1) == 1;
        std::vector<std::vector<std::uint32_t>> shapes{{queries, size},
                                                       {keys, has_key ? number(1, 4) : size}};
        if (has_key) shapes.push_back({keys, size});
        std::vector<std::string> names{"a", "b"};
        if (has_key) names.emplace_back("c");
        const json model =
            model_of_call(layer(is_additive ? "AdditiveAttention" : "Attention", "m", keys_of_layer), shapes,
                          call_with_list(names, arguments));
        const KeptWeights weights(random);
        const ir::Graph graph = graph_of_call(model, weights);
        CHECK(graph.output().name == "m");
        std::vector<std::vector<float>> inputs;
        for (const auto& shape : shapes) inputs.push_back(drawn_numbers(random, count_of(shape)));

        const auto scale_of = [&](std::size_t i) {
            return has_scale ? double{weights.of("scale")[is_additive ? i : 0]} : 1.0;
        };
        std::vector<double> scores(std::size_t{queries} * keys, 0.0);
        std::vector<bool> meets;
        for (std::size_t q = 0; q < queries; ++q) {
            for (std::size_t k = 0; k < keys; ++k) {
                double& sum = scores[q * keys + k];
                for (std::size_t i = 0; i < size; ++i) {
                    const double x = inputs[0][q * size + i];
                    const double y = inputs.back()[k * size + i];
                    if (is_additive) {
                        sum += scale_of(i) * std::tanh(x + y);
                    } else {
                        sum += is_concat ? std::tanh(scale_of(0) * (x + y)) : x * y * scale_of(0);
                    }
                }
                if (!is_additive && is_concat) sum *= double{weights.of("concat_score_weight")[0]};
                meets.push_back(!is_causal || k <= q);
            }
        }
        apply_softmax(scores, keys, meets);
        const std::size_t width = shapes[1][1];
        std::vector<double> expected(queries * width, 0.0);
        for (std::size_t q = 0; q < queries; ++q) {
            for (std::size_t k = 0; k < keys; ++k) {
                for (std::size_t i = 0; i < width; ++i) {
                    expected[q * width + i] += scores[q * keys + k] * double{inputs[1][k * width + i]};
                }
            }
        }
        check_close(run_graph(graph, inputs), expected);
    }
}

TEST_CASE("What an attention cannot compute is refused in words", "[compiler][frontend]") {
    const auto error_of = [](const json& keys, const json& call,
                             const std::vector<std::vector<std::uint32_t>>& shapes) -> std::string {
        json all{{"num_heads", 2}, {"key_dim", 3}};
        if (!keys.is_null()) all.update(keys);
        try {
            graph_of_call(model_of_call(layer("MultiHeadAttention", "m", all), shapes, call));
        } catch (const ModelError& error) {
            return error.what();
        }
        return "no error";
    };
    const json two = call_in_order({"a", "b"});
    const std::vector<std::vector<std::uint32_t>> sequences{{4, 6}, {5, 6}};
    CHECK(error_of({}, call_in_order({"a", "b"}, {{"return_attention_scores", true}}), sequences) ==
          "layer \"m\": return_attention_scores is true; only the result is supported, without the scores");
    CHECK(error_of({}, call_in_order({"a", "b"}, {{"query_mask", true}}), sequences) ==
          "layer \"m\" is called with \"query_mask\"; only inputs, \"use_causal_mask\" and an "
          "\"attention_mask\" that is a constant are supported");
    CHECK(error_of({}, call_in_order({"a", "b"}, {{"attention_mask", called_tensor("c")}}),
                   {{4, 6}, {5, 6}, {4, 5}}) ==
          "layer \"m\" is called with an \"attention_mask\" that it computes; only inputs, "
          "\"use_causal_mask\" and an \"attention_mask\" that is a constant are supported");
    CHECK_THAT(error_of({}, call_in_order({"a", "b"}, {{"attention_mask", {{1, 0}, {1}}}}), sequences),
               Catch::EndsWith("it must be an array of truth values"));
    CHECK_THAT(error_of({}, call_in_order({"a", "b"}, {{"attention_mask", {{1, 1}, {1, 1}}}}), sequences),
               Catch::EndsWith("it must fit the scores, which are 1x2x4x5"));
    CHECK(error_of({}, call_in_order({"a", "b"}, {{"attention_mask", {{1}, {0}, {1}, {1}}}}), sequences) ==
          "layer \"m\": by its masks, query 1 meets no key; it must meet one");
    CHECK(error_of({}, call_in_order({"a"}), sequences) ==
          "layer \"m\" is called without \"value\"; it must be given");
    CHECK(
        error_of({{"attention_axes", {2}}}, two, {{2, 3, 4}, {2, 3, 4}}) ==
        "layer \"m\": attention_axes is [2]; only all axes between the batch and the last one are supported");
    CHECK(error_of({}, call_in_order({"a", "b"}, {{"use_causal_mask", true}}), {{2, 3, 4}, {2, 3, 4}}) ==
          "layer \"m\": its query is 1x2x3x4; with a mask, it must be [batch, steps, elements]");
    CHECK_THAT(error_of({}, call_in_order({"a", "b", "c"}), {{4, 6}, {5, 6}, {3, 6}}),
               Catch::EndsWith("with as many steps of value and key"));
    CHECK_THROWS_WITH(graph_of_call(model_of_call(
                          layer("GroupQueryAttention", "g",
                                {{"head_dim", 2}, {"num_query_heads", 3}, {"num_key_value_heads", 2}}),
                          sequences, two)),
                      "layer \"g\": num_query_heads is 3; it must be a multiple of the 2 heads of keys");
}

TEST_CASE("A Dot of Keras is a product along any axes behind the batch", "[compiler][frontend]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(80); ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const auto number = [&](std::uint32_t least, std::uint32_t most) {
            return std::uniform_int_distribution<std::uint32_t>(least, most)(random);
        };
        const bool normalizes = number(0, 2) == 0;
        const std::uint32_t common = number(1, 5);
        std::vector<std::vector<std::uint32_t>> shapes(2);
        std::vector<std::int64_t> axes;
        std::map<char, std::uint32_t> extents{{'s', common}};
        std::vector<std::string> letters(2);
        std::string result;
        for (std::size_t i = 0; i < 2; ++i) {
            const std::uint32_t rank = number(1, 3);
            const std::uint32_t axis = number(1, rank);
            for (std::uint32_t k = 1; k <= rank; ++k) {
                shapes[i].push_back(k == axis ? common : number(1, 4));
                const char letter = k == axis ? 's' : static_cast<char>((i == 0 ? 'a' : 'e') + k);
                extents[letter] = shapes[i].back();
                letters[i] += letter;
                if (letter != 's') result += letter;
            }
            axes.push_back(number(0, 1) == 1 ? axis : static_cast<std::int64_t>(axis) - rank - 1);
        }
        std::vector<std::vector<float>> inputs;
        for (const auto& shape : shapes) inputs.push_back(drawn_numbers(random, count_of(shape)));
        const json one = layer("Dot", "d", {{"axes", axes}, {"normalize", normalizes}});
        const std::vector<float> results =
            run_graph(graph_of_call(model_of_call(one, shapes, call_with_list({"a", "b"}))), inputs);
        std::vector<double> expected =
            einsum_by_loops(letters[0], letters[1], result, extents, inputs[0], inputs[1]);
        if (normalizes) {
            // The squares of the norms, in the places of the result.
            std::vector<std::vector<double>> norms;
            for (std::size_t i = 0; i < 2; ++i) {
                std::vector<float> squares = inputs[i];
                for (float& x : squares) x *= x;
                const std::vector<float> ones(count_of(shapes[1 - i]), 1.0F / static_cast<float>(common));
                // A sum over the common axis of the squares, repeated along the other input's axes.
                std::map<char, std::uint32_t> other = extents;
                other['z'] = common;
                std::string renamed = letters[1 - i];
                std::ranges::replace(renamed, 's', 'z');
                norms.push_back(einsum_by_loops(letters[i], renamed, result, other, squares, ones));
            }
            for (std::size_t i = 0; i < expected.size(); ++i)
                expected[i] /= std::sqrt(norms[0][i] * norms[1][i]);
        }
        check_close(results, expected);
    }
    CHECK_THROWS_WITH(graph_of_call(model_of_call(layer("Dot", "d", {{"axes", 0}}), {{3}, {3}},
                                                  call_with_list({"a", "b"}))),
                      "layer \"d\": axes is 0; it must be behind the batch");
}

TEST_CASE("An EinsumDense of Keras follows its equation", "[compiler][frontend]") {
    struct Case {
        std::string equation;
        std::string input;  ///< with the axes that "..." stands for
        std::string weights;
        std::string result;
        std::vector<std::string> columns;  ///< the axes of output_shape
        std::string bias;
    };
    const auto one_case = GENERATE(values<Case>({
        {"ab,bc->ac", "ab", "bc", "ac", {"c"}, "c"},
        {"abc,cd->abd", "abc", "cd", "abd", {"b", "d"}, "d"},
        {"...x,xy->...y", "zwx", "xy", "zwy", {"y"}, "y"},
        {"ab...,bc->ac...", "abvw", "bc", "acvw", {"c"}, "c"},
        {"abc,cde->abde", "abc", "cde", "abde", {"b", "d", "e"}, "de"},
        {"abcd,cde->abe", "abcd", "cde", "abe", {"b", "e"}, "e"},
        {"abc,dc->adb", "abc", "dc", "adb", {"d", "b"}, "d"},
        {"abc,bcd->abd", "abc", "bcd", "abd", {"b", "d"}, "bd"},
        {"abc,dbc->adb", "abc", "dbc", "adb", {"d", "b"}, ""},
        {"abc,cd->abd", "abc", "cd", "abd", {"b", "d"}, "b"},
        {"abc,c->ab", "abc", "c", "ab", {"b"}, ""},
    }));
    CAPTURE(one_case.equation, one_case.bias);
    const bool has_function = GENERATE(false, true);
    std::mt19937 random(7);
    std::map<char, std::uint32_t> extents;
    for (const char axis : one_case.input + one_case.weights) {
        extents.emplace(axis, std::uniform_int_distribution<std::uint32_t>(2, 4)(random));
    }
    extents[one_case.input.front()] = 1;  // the batch
    std::vector<std::uint32_t> shape;
    for (const char axis : one_case.input.substr(1)) shape.push_back(extents.at(axis));
    json output_shape = json::array();
    for (const std::string& axis : one_case.columns) {
        const bool is_open = one_case.input.find(axis) != std::string::npos;
        output_shape.push_back(is_open ? json() : json(extents.at(axis.front())));
    }
    json keys{{"equation", one_case.equation}, {"output_shape", output_shape}, {"bias_axes", nullptr}};
    if (!one_case.bias.empty()) keys["bias_axes"] = one_case.bias;
    if (has_function) keys["activation"] = "softmax";
    const KeptWeights weights(random);
    const ir::Graph graph =
        graph_of_call(model_of_call(layer("EinsumDense", "e", keys), {shape}, call_in_order({"a"})), weights);
    const std::vector<float> input = drawn_numbers(random, count_of(shape));
    std::vector<double> expected = einsum_by_loops(one_case.input, one_case.weights, one_case.result, extents,
                                                   input, weights.of("kernel"));
    std::vector<std::uint32_t> result_shape;
    for (const char axis : one_case.result) result_shape.push_back(extents.at(axis));
    CHECK(graph.output().shape == ir::Shape(result_shape));
    if (!one_case.bias.empty()) {
        // The bias repeated along the other axes is a product with ones.
        std::string others;
        for (const char axis : one_case.result) {
            if (one_case.bias.find(axis) == std::string::npos) others += axis;
        }
        std::size_t count = 1;
        for (const char axis : others) count *= extents.at(axis);
        const std::vector<double> addends =
            einsum_by_loops(one_case.bias, others, one_case.result, extents, weights.of("bias"),
                            std::vector<float>(count, 1.0F));
        for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += addends[i];
    }
    if (has_function) {
        const std::size_t line = result_shape.back();
        apply_softmax(expected, line, std::vector<bool>(expected.size(), true));
    }
    check_close(run_graph(graph, {input}), expected);
}

TEST_CASE("Equations that an EinsumDense cannot have are refused in words", "[compiler][frontend]") {
    const auto error_of = [](const std::string& equation, const std::string& bias) -> std::string {
        try {
            graph_of_call(model_of_call(
                layer("EinsumDense", "e",
                      {{"equation", equation}, {"output_shape", {nullptr, 3}}, {"bias_axes", bias}}),
                {{4, 5}}, call_in_order({"a"})));
        } catch (const ModelError& error) {
            return error.what();
        }
        return "no error";
    };
    CHECK(error_of("abc,cd->abd", "d") == "no error");
    CHECK_THAT(error_of("abc,cd", ""), Catch::Contains("it must have the form"));
    CHECK_THAT(error_of("abb,bd->abd", ""), Catch::Contains("it must have the form"));
    CHECK_THAT(error_of("ab,bd->ad", ""), Catch::EndsWith("its input has 3 axes"));
    CHECK_THAT(error_of("abc,cd->bad", ""), Catch::Contains("the batch must be the first axis"));
    CHECK_THAT(error_of("abc,acd->abd", ""), Catch::Contains("the batch must be the first axis"));
    CHECK_THAT(error_of("abc,bd->abd", ""),
               Catch::EndsWith("axis c is the input's alone; that is not supported"));
    CHECK_THAT(error_of("abc,cdf->abd", ""), Catch::EndsWith("axis f is the weights' alone"));
    CHECK_THAT(error_of("abc,cd->abdf", ""), Catch::EndsWith("axis f of the result is no other term's"));
    CHECK_THAT(error_of("abc,cd->adb", ""), Catch::Contains("an extent of at least 1 for axis d"));
    CHECK_THAT(error_of("abc,cd->abd", "a"),
               Catch::EndsWith("it must be of axes of the result behind the batch"));
}
