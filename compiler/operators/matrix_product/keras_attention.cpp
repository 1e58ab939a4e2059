// Keras' layers of attention: the softmax of scores, each of a query and a key, times the values.
#include "compiler/operators/matrix_product/keras_attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "base/message_text.h"
#include "compiler/operators/file_nodes.h"
#include "compiler/operators/layer_formats.h"
#include "compiler/operators/matrix_product/matrix_product.h"

namespace systole::operators {
namespace {

constexpr const char* causal_call_key = "use_causal_mask";
constexpr const char* returns_scores_key = "return_attention_scores";
constexpr const char* mask_key = "attention_mask";
constexpr const char* mask_shape_key = "attention_mask_shape";
constexpr const char* window_key = "sliding_window";
constexpr std::size_t sequence_axes = 3;
/// As far as a query reaches without a window: no two places are so far apart.
constexpr std::size_t everywhere = std::numeric_limits<std::size_t>::max();

std::vector<ir::LayerKey> call_keys() {
    return {{causal_call_key, "of the call: whether a query meets no key behind its own place"},
            {returns_scores_key, "of the call: only false"}};
}

std::vector<ir::LayerKey> keys_of_heads(std::vector<ir::LayerKey> keys) {
    keys.push_back({"use_bias", "whether the products with weights have a bias"});
    keys.push_back({"use_gate", "whether results are multiplied by a sigmoid of the query's product"});
    keys.push_back({window_key, "queries meet keys of fewer places before and behind their own"});
    for (ir::LayerKey& key : call_keys()) keys.push_back(std::move(key));
    keys.push_back({mask_key, "of the call: a constant, whether each query meets each key"});
    keys.push_back({mask_shape_key, "the extents of `attention_mask`, which the reader adds"});
    return keys;
}

struct AttentionInputs {
    ir::ValueId query;
    ir::ValueId value;
    ir::ValueId key;
};

/// The inputs; without a key, the value is the key. Query, value and key must have as many axes.
AttentionInputs attention_inputs(const ir::LayerReader& layer) {
    if (layer.boolean(returns_scores_key, false)) {
        layer.fail(returns_scores_key, "only the result is supported, without the scores");
    }
    const std::vector<ir::ValueId>& inputs = layer.inputs();
    if (inputs.size() != 2 && inputs.size() != 3) {
        layer.fail(fmt::format("it has {}; it must have a query, a value and, if it is another, a key",
                               counted(inputs.size(), "input")));
    }
    const AttentionInputs result{inputs[0], inputs[1], inputs.back()};
    const ir::Shape& query = layer.value(result.query).shape;
    const ir::Shape& value = layer.value(result.value).shape;
    const ir::Shape& key = layer.value(result.key).shape;
    bool fits = query.rank() >= sequence_axes && value.rank() == query.rank() && key.rank() == query.rank();
    for (std::size_t axis = 0; fits && axis + 1 < value.rank(); ++axis) fits = value[axis] == key[axis];
    if (!fits) {
        layer.fail(
            fmt::format("its query is {}, its value {} and its key {}; they must be [batch, steps, "
                        "elements], with as many steps of value and key",
                        to_text(query), to_text(value), to_text(key)));
    }
    return result;
}

/// [batch, a, ..., z, elements] as a sequence [batch, a * ... * z, elements].
ir::ValueId as_steps(ir::LayerReader& layer, ir::ValueId value) {
    const ir::Shape shape = layer.value(value).shape;
    std::int64_t steps = 1;
    for (std::size_t axis = 1; axis + 1 < shape.rank(); ++axis) steps *= shape[axis];
    return append_shape(layer, value, shape_from(layer, {shape[0], steps, shape[shape.rank() - 1]}));
}

/// The attention mask that a layer is called with, as a tensor of the scores' axes; extents of 1 are
/// broadcast.
struct GivenMask {
    std::vector<std::size_t> extents;
    std::vector<double> meets;

    bool at(std::size_t head, std::size_t query, std::size_t key) const {
        const std::size_t rank = extents.size();
        const auto place = [&](std::size_t axis, std::size_t index) {
            return extents[axis] == 1 ? 0 : index;
        };
        std::size_t row = rank > sequence_axes ? place(1, head) : 0;
        row = row * extents[rank - 2] + place(rank - 2, query);
        return meets[row * extents[rank - 1] + place(rank - 1, key)] != 0;
    }
};

/// Keras puts axes that a mask has not before the last two.
std::optional<GivenMask> given_mask(const ir::LayerReader& layer, const ir::Shape& scores) {
    if (!layer.has(mask_key)) return std::nullopt;
    GivenMask mask;
    mask.meets = *layer.numbers(mask_key);
    std::size_t elements = 1;
    for (const auto& extent : layer.integers(mask_shape_key).value_or(ir::LayerReader::Integers{})) {
        mask.extents.push_back(static_cast<std::size_t>(extent.value_or(0)));
        elements *= mask.extents.back();
    }
    constexpr std::size_t axes_of_pairs = 2;
    bool fits = mask.extents.size() >= axes_of_pairs && mask.extents.size() <= scores.rank() &&
                elements == mask.meets.size();
    if (fits) mask.extents.insert(mask.extents.end() - axes_of_pairs, scores.rank() - mask.extents.size(), 1);
    for (std::size_t axis = 0; fits && axis < scores.rank(); ++axis) {
        fits = mask.extents[axis] == 1 || mask.extents[axis] == scores[axis];
    }
    if (!fits) {
        layer.fail(mask_shape_key, fmt::format("it must fit the scores, which are {}", to_text(scores)));
    }
    return mask;
}

/// Adds a large negative number to the scores [1, heads, queries, keys], or [1, queries, keys], of keys that
/// a query must not meet; the softmax makes them 0.
ir::ValueId append_mask(ir::LayerReader& layer, ir::ValueId scores, bool is_causal, std::size_t reach,
                        bool may_be_given) {
    const ir::Shape shape = layer.value(scores).shape;
    const std::size_t rank = shape.rank();
    const auto given = may_be_given ? given_mask(layer, shape) : std::nullopt;
    if (!is_causal && reach == everywhere && !given) return scores;
    const std::size_t heads = given && rank > sequence_axes ? given->extents[1] : 1;
    const std::size_t queries = shape[rank - 2];
    const std::size_t keys = shape[rank - 1];
    constexpr float excluded = -1e9F;
    std::vector<float> addends(heads * queries * keys, 0.0F);
    auto addend = addends.begin();
    for (std::size_t head = 0; head < heads; ++head) {
        for (std::size_t query = 0; query < queries; ++query) {
            const auto row = addend;
            for (std::size_t key = 0; key < keys; ++key, ++addend) {
                const std::size_t distance = query < key ? key - query : query - key;
                const bool meets = (!is_causal || key <= query) && distance < reach &&
                                   (!given || given->at(head, query, key));
                if (!meets) *addend = excluded;
            }
            // Versions of Keras compute different results there.
            if (std::all_of(row, addend, [](float number) { return number != 0.0F; })) {
                layer.fail(fmt::format("by its masks, query {} meets no key; it must meet one", query));
            }
        }
    }
    if (std::ranges::count(addends, 0.0F) == static_cast<std::ptrdiff_t>(addends.size())) return scores;
    std::vector<std::uint32_t> extents(rank, 1);
    if (rank > sequence_axes) extents[1] = static_cast<std::uint32_t>(heads);
    extents[rank - 2] = shape[rank - 2];
    extents[rank - 1] = shape[rank - 1];
    return layer.append("add", {}, {scores, layer.constant("mask", ir::Shape(extents), std::move(addends))});
}

/// Product of a sequence and weights: the part of the layer has this name, and names of its own in files.
struct Projection {
    std::string_view part;
    std::vector<std::string_view> names;
};

Projection query_projection() {
    return {"query", {"query", "query_dense", "_query_dense"}};
}
Projection key_projection() {
    return {"key", {"key", "key_dense", "_key_dense"}};
}
Projection value_projection() {
    return {"value", {"value", "value_dense", "_value_dense"}};
}
Projection gate_projection() {
    return {"gate", {"gate", "gate_dense", "_gate_dense"}};
}
Projection result_projection() {
    return {"attention_output", {"attention_output", "output_dense", "_output_dense"}};
}

/// Weights of the file have the extents `inputs` and `units` of both sides.
ir::ValueId append_projection(ir::LayerReader& layer, const Projection& projection, ir::ValueId sequence,
                              const std::vector<std::uint64_t>& inputs,
                              const std::vector<std::uint64_t>& units) {
    layer.begin_part(projection.part);
    std::vector<std::uint64_t> file_shape = inputs;
    file_shape.insert(file_shape.end(), units.begin(), units.end());
    std::int64_t count = 1;
    for (const std::uint64_t extent : units) count *= static_cast<std::int64_t>(extent);
    const std::uint32_t channels = shape_from(layer, {count})[0];
    std::vector<ir::ValueId> parameters{sequence,
                                        layer.weight({.roles = {"kernel"},
                                                      .file_shape = file_shape,
                                                      .shape = last_axis_weights(layer, sequence, channels),
                                                      .owner = projection.names})};
    if (layer.boolean("use_bias", true)) {
        parameters.push_back(layer.weight(
            {.roles = {"bias"}, .file_shape = units, .shape = {channels}, .owner = projection.names}));
    }
    return append_last_axis_product(layer, parameters);
}

/// The heads of queries; equal groups of them share the keys and values of one head.
struct AttentionHeads {
    std::uint32_t of_queries = 1;
    std::uint32_t of_keys = 1;
    std::uint32_t key_size = 1;
    std::uint32_t value_size = 1;
};

/// [batch, steps, heads * size] as [batch, heads, steps, size].
ir::ValueId split_heads(ir::LayerReader& layer, ir::ValueId sequence, std::uint32_t heads,
                        std::uint32_t size) {
    const ir::Shape shape = layer.value(sequence).shape;
    const ir::ValueId split = append_shape(layer, sequence, {shape[0], shape[1], heads, size});
    return layer.append("transpose", {{"permutation", std::vector<std::int64_t>{0, 2, 1, 3}}}, {split});
}

/// The multi-head attention of query, value and key, whose results have these extents for each query.
ir::ValueId append_attention(ir::LayerReader& layer, const AttentionHeads& heads,
                             const std::vector<std::uint64_t>& result) {
    const AttentionInputs inputs = attention_inputs(layer);
    const ir::Shape query_shape = layer.value(inputs.query).shape;
    const bool has_images = query_shape.rank() > sequence_axes;
    const bool is_causal = layer.boolean(causal_call_key, false);
    const std::size_t reach = layer.has(window_key) ? layer.positive(window_key) : everywhere;
    if (has_images && (is_causal || reach != everywhere || layer.has(mask_key))) {
        layer.fail(fmt::format("its query is {}; with a mask, it must be [batch, steps, elements]",
                               to_text(query_shape)));
    }
    const auto projected = [&](const Projection& projection, ir::ValueId input, std::uint32_t count,
                               std::uint32_t size) {
        const ir::ValueId sequence = as_steps(layer, input);
        const std::uint32_t elements = layer.value(sequence).shape[2];
        return append_projection(layer, projection, sequence, {elements}, {count, size});
    };
    ir::ValueId query = projected(query_projection(), inputs.query, heads.of_queries, heads.key_size);
    const auto factor = static_cast<float>(1.0 / std::sqrt(static_cast<double>(heads.key_size)));
    query = layer.append("multiply", {}, {query, layer.constant("scale", {1}, {factor})});
    query = split_heads(layer, query, heads.of_queries, heads.key_size);
    ir::ValueId key = projected(key_projection(), inputs.key, heads.of_keys, heads.key_size);
    key = split_heads(layer, key, heads.of_keys, heads.key_size);
    ir::ValueId value = projected(value_projection(), inputs.value, heads.of_keys, heads.value_size);
    value = split_heads(layer, value, heads.of_keys, heads.value_size);

    // Heads that meet the same keys are one with more queries.
    const ir::Shape queries = layer.value(query).shape;
    const ir::Shape keys = layer.value(key).shape;
    const auto grouped = [&](ir::ValueId of_heads, std::uint32_t size) {
        const std::int64_t rows = std::int64_t{heads.of_queries / heads.of_keys} * queries[2];
        return append_shape(layer, of_heads, shape_from(layer, {queries[0], heads.of_keys, rows, size}));
    };
    layer.begin_part("scores");
    ir::ValueId scores = append_matrix_product(layer, {grouped(query, heads.key_size), key},
                                               {{"transposed_b", std::int64_t{1}}});
    scores = append_shape(layer, scores, {queries[0], heads.of_queries, queries[2], keys[2]});
    scores = append_mask(layer, scores, is_causal, reach, true);
    layer.begin_part("softmax");
    scores = layer.append("softmax", {}, {scores});
    layer.begin_part("context");
    ir::ValueId context = append_matrix_product(layer, {grouped(scores, keys[2]), value});
    context = append_shape(layer, context, {queries[0], heads.of_queries, queries[2], heads.value_size});
    context = layer.append("transpose", {{"permutation", std::vector<std::int64_t>{0, 2, 1, 3}}}, {context});
    const std::uint32_t elements = shape_from(layer, {std::int64_t{heads.of_queries} * heads.value_size})[0];
    context = append_shape(layer, context, {queries[0], queries[2], elements});
    if (layer.boolean("use_gate", false)) {
        ir::ValueId gate = projected(gate_projection(), inputs.query, heads.of_queries, heads.value_size);
        gate = layer.append("sigmoid", {}, {gate});
        context = layer.append("multiply", {}, {context, gate});
    }
    ir::ValueId sum =
        append_projection(layer, result_projection(), context, {heads.of_queries, heads.value_size}, result);
    std::vector<std::int64_t> extents = extents_of(query_shape);
    extents.pop_back();
    for (const std::uint64_t extent : result) extents.push_back(static_cast<std::int64_t>(extent));
    return append_shape(layer, sum, shape_from(layer, extents));
}

/// Throws unless the attention is over all axes between the batch and the last one.
void require_all_axes(const ir::LayerReader& layer, std::size_t rank) {
    const auto given = layer.integers("attention_axes");
    if (!given) return;
    std::vector<std::int64_t> axes;
    for (const auto& axis : *given) {
        if (!axis) layer.fail("attention_axes", "it must be a list of axes");
        axes.push_back(*axis < 0 ? *axis + static_cast<std::int64_t>(rank) : *axis);
    }
    bool are_all = axes.size() + 2 == rank;
    for (std::size_t i = 0; are_all && i < axes.size(); ++i) {
        are_all = axes[i] == static_cast<std::int64_t>(i) + 1;
    }
    if (!are_all)
        layer.fail("attention_axes", "only all axes between the batch and the last one are supported");
}

ir::ValueId read_multi_head_attention(ir::LayerReader& layer) {
    const ir::Shape query = layer.value(attention_inputs(layer).query).shape;
    require_all_axes(layer, query.rank());
    const std::uint32_t heads = layer.positive("num_heads");
    const std::uint32_t key_size = layer.positive("key_dim");
    std::vector<std::uint64_t> result{query[query.rank() - 1]};
    if (const auto given = layer.integers("output_shape")) {
        result.clear();
        for (const auto& extent : *given) {
            if (extent.value_or(0) < 1) layer.fail("output_shape", "its extents must be at least 1");
            result.push_back(static_cast<std::uint64_t>(*extent));
        }
    }
    return append_attention(layer,
                            {.of_queries = heads,
                             .of_keys = heads,
                             .key_size = key_size,
                             .value_size = layer.positive("value_dim", key_size)},
                            result);
}

ir::ValueId read_group_query_attention(ir::LayerReader& layer) {
    const ir::Shape query = layer.value(attention_inputs(layer).query).shape;
    if (query.rank() != sequence_axes) {
        layer.fail(fmt::format("its query is {}; it must be [batch, steps, elements]", to_text(query)));
    }
    const std::uint32_t heads = layer.positive("num_query_heads");
    const std::uint32_t key_heads = layer.positive("num_key_value_heads");
    if (heads % key_heads != 0) {
        layer.fail("num_query_heads",
                   fmt::format("it must be a multiple of the {} heads of keys", key_heads));
    }
    const std::uint32_t size = layer.positive("head_dim");
    return append_attention(
        layer, {.of_queries = heads, .of_keys = key_heads, .key_size = size, .value_size = size}, {query[2]});
}

/// A weight of Keras' attentions without heads.
ir::ValueId score_weight(ir::LayerReader& layer, std::string_view role,
                         const std::vector<std::uint64_t>& file_shape, std::uint32_t elements) {
    return layer.weight({.roles = {role}, .file_shape = file_shape, .shape = {elements}});
}

/// Sums over the elements of tanh(factor * (query + key)) * weights, for each query and key; a factor or
/// weights may be missing.
ir::ValueId append_additive_scores(ir::LayerReader& layer, const AttentionInputs& inputs,
                                   std::optional<ir::ValueId> factor, std::optional<ir::ValueId> weights) {
    const ir::Shape query = layer.value(inputs.query).shape;
    const ir::Shape key = layer.value(inputs.key).shape;
    if (query[2] != key[2]) {
        layer.fail(fmt::format("its query is {} and its key {}; they must have as many elements",
                               to_text(query), to_text(key)));
    }
    const ir::ValueId rows = append_shape(layer, inputs.query, {query[0], query[1], 1, query[2]});
    const ir::ValueId columns = append_shape(layer, inputs.key, {key[0], 1, key[1], key[2]});
    ir::ValueId sums = layer.append("add", {}, {rows, columns});
    if (factor) sums = layer.append("multiply", {}, {sums, *factor});
    sums = layer.append("tanh", {}, {sums});
    if (weights) sums = layer.append("multiply", {}, {sums, *weights});
    return layer.append("reduce_sum", {{"axes", std::vector<std::int64_t>{3}}, {"keep", std::int64_t{0}}},
                        {sums});
}

/// The softmax of scores [batch, queries, keys] times the values.
ir::ValueId append_weighted_values(ir::LayerReader& layer, ir::ValueId scores, ir::ValueId value) {
    const bool is_causal = layer.boolean("causal", false) || layer.boolean(causal_call_key, false);
    scores = append_mask(layer, scores, is_causal, everywhere, false);
    layer.begin_part("softmax");
    scores = layer.append("softmax", {}, {scores});
    layer.begin_part("");
    return append_matrix_product(layer, {scores, value});
}

/// The inputs of an attention without heads, which works on sequences alone.
AttentionInputs sequence_inputs(const ir::LayerReader& layer) {
    const AttentionInputs inputs = attention_inputs(layer);
    const ir::Shape& query = layer.value(inputs.query).shape;
    if (query.rank() != sequence_axes) {
        layer.fail(fmt::format("its query is {}; it must be [batch, steps, elements]", to_text(query)));
    }
    return inputs;
}

ir::ValueId read_attention(ir::LayerReader& layer) {
    const AttentionInputs inputs = sequence_inputs(layer);
    const std::string mode = layer.text("score_mode", "dot");
    if (mode != "dot" && mode != "concat") layer.fail("score_mode", "it must be \"dot\" or \"concat\"");
    layer.begin_part("scores");
    std::optional<ir::ValueId> scale;
    if (layer.boolean("use_scale", false)) scale = score_weight(layer, "scale", {}, 1);
    ir::ValueId scores = ir::no_value;
    if (mode == "dot") {
        scores =
            append_matrix_product(layer, {inputs.query, inputs.key}, {{"transposed_b", std::int64_t{1}}});
        if (scale) scores = layer.append("multiply", {}, {scores, *scale});
    } else {
        const ir::ValueId weight = score_weight(layer, "concat_score_weight", {}, 1);
        scores = append_additive_scores(layer, inputs, scale, std::nullopt);
        scores = layer.append("multiply", {}, {scores, weight});
    }
    return append_weighted_values(layer, scores, inputs.value);
}

ir::ValueId read_additive_attention(ir::LayerReader& layer) {
    const AttentionInputs inputs = sequence_inputs(layer);
    layer.begin_part("scores");
    std::optional<ir::ValueId> scale;
    if (layer.boolean("use_scale", true)) {
        const std::uint32_t elements = layer.value(inputs.query).shape[2];
        scale = score_weight(layer, "scale", {elements}, elements);
    }
    const ir::ValueId scores = append_additive_scores(layer, inputs, std::nullopt, scale);
    return append_weighted_values(layer, scores, inputs.value);
}

std::vector<ir::LayerKey> keys_without_heads(std::vector<ir::LayerKey> keys) {
    keys.push_back({"causal", "`use_causal_mask`, in older files"});
    for (ir::LayerKey& key : call_keys()) keys.push_back(std::move(key));
    return keys;
}

}  // namespace

std::vector<ir::LayerKind> keras_attention_layers() {
    return {
        {.format = ir::Format::Keras,
         .name = "MultiHeadAttention",
         .keys = keys_of_heads(
             {{"num_heads", "heads, each with products of its own"},
              {"key_dim", "elements of queries and keys; scores are divided by its square root"},
              {"value_dim", "elements of values; absent: `key_dim`"},
              {"output_shape", "extents of each result; absent: the elements of the query"},
              {"attention_axes", "only all axes between the batch and the last one, which is the default"}}),
         .build = read_multi_head_attention},
        {.format = ir::Format::Keras,
         .name = "GroupQueryAttention",
         .keys =
             keys_of_heads({{"head_dim", "elements of queries, keys and values"},
                            {"num_query_heads", "heads of queries"},
                            {"num_key_value_heads", "heads of keys and values, which equal groups share"}}),
         .build = read_group_query_attention},
        {.format = ir::Format::Keras,
         .name = "Attention",
         .keys = keys_without_heads({{"use_scale", "whether scores are multiplied by a weight"},
                                     {"score_mode", "\"dot\" or \"concat\""}}),
         .build = read_attention},
        {.format = ir::Format::Keras,
         .name = "AdditiveAttention",
         .keys = keys_without_heads({{"use_scale", "whether elements are multiplied by weights"}}),
         .build = read_additive_attention}};
}

}  // namespace systole::operators
