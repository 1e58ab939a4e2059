// TimeDistributed, Masking, and the weights of the parts of a layer in files.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontend/keras_archive.h"
#include "compiler/frontend/keras_h5.h"
#include "compiler/ir/model_error.h"
#include "compiler/reference/executor.h"
#include "tests/unit/base/zip/made_zip.h"
#include "tests/unit/compiler/frontend/keras_file.h"
#include "tests/unit/compiler/frontend/keras_graph.h"

using namespace systole;
using nlohmann::json;
using tests::layer;
using tests::nodes_of;
using tests::sequential;
using tests::StoredWeight;

namespace {

json each_step(const std::string& name, const json& inner) {
    return layer("TimeDistributed", name, {{"layer", inner}});
}

/// Small numbers, so that sums of CountingWeights stay exact.
std::vector<float> counted_input(const ir::Graph& graph) {
    std::vector<float> values(graph.input().shape.elements());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 7) - 3.0F;
    return values;
}

std::string error_of_layers(const json& shape, const std::vector<json>& layers) {
    try {
        sequential(shape, layers);
    } catch (const ModelError& error) {
        return error.what();
    }
    return "no error";
}

/// Each step of a network on [1, steps, ...] is what a network on one step computes.
void check_each_step(const ir::Graph& graph, const ir::Graph& of_one) {
    const std::vector<float> input = counted_input(graph);
    const std::vector<float> results = reference::execute(graph, input, 1);
    const auto steps = static_cast<std::ptrdiff_t>(graph.input().shape[1]);
    const auto step = static_cast<std::ptrdiff_t>(input.size()) / steps;
    std::vector<float> expected;
    for (std::ptrdiff_t i = 0; i < steps; ++i) {
        const std::vector<float> part(input.begin() + i * step, input.begin() + (i + 1) * step);
        const std::vector<float> result = reference::execute(of_one, part, 1);
        expected.insert(expected.end(), result.begin(), result.end());
    }
    REQUIRE(results.size() == expected.size());
    for (std::size_t i = 0; i < results.size(); ++i) CHECK(results[i] == Approx(expected[i]));
}

/// A weight of `count` numbers from `first` on.
StoredWeight numbers_from(const std::string& name, const std::vector<hsize_t>& shape, double first) {
    std::size_t count = 1;
    for (const hsize_t extent : shape) count *= extent;
    StoredWeight stored{.name = name, .shape = shape, .values = {}};
    for (std::size_t i = 0; i < count; ++i) stored.values.push_back(first + static_cast<double>(i));
    return stored;
}

/// The first number of each known constant, by name.
std::string first_numbers(const ir::Graph& graph) {
    std::string text;
    for (const ir::Value& value : graph.values) {
        if (!value.constant || value.name.ends_with("/scale")) continue;
        text += value.name + "=" + std::to_string(static_cast<int>(value.constant->values<float>()[0])) + " ";
    }
    return text;
}

const std::string attention_config = R"({"class_name": "Functional", "config": {"name": "f", "layers": [
    {"class_name": "InputLayer", "name": "in", "config": {"name": "in", "batch_shape": [null, 2, 3]},
     "inbound_nodes": []},
    {"class_name": "MultiHeadAttention", "name": "m", "config": {"name": "m", "num_heads": 1, "key_dim": 1,
     "use_bias": true}, "inbound_nodes": [[["in", 0, 0, {"value": ["in", 0, 0]}]]]}],
    "input_layers": [["in", 0, 0]], "output_layers": [["m", 0, 0]]}})";

const std::string expected_numbers =
    "m/query/kernel=10 m/query/bias=20 m/key/kernel=30 m/key/bias=40 m/value/kernel=50 m/value/bias=60 "
    "m/attention_output/kernel=70 m/attention_output/bias=80 ";

ir::Graph graph_of_archive(const std::string& config, const std::vector<StoredWeight>& weights) {
    const std::string bytes =
        tests::made_zip({{.name = "metadata.json", .bytes = R"({"keras_version": "3.15.1"})"},
                         {.name = "config.json", .bytes = config},
                         {.name = "model.weights.h5", .bytes = tests::checkpoint(weights)}});
    return frontend::read_keras_archive(std::string_view(bytes), operators::registry());
}

}  // namespace

TEST_CASE("TimeDistributed applies layers of elements and last axes to all steps at once",
          "[compiler][frontend]") {
    CHECK(
        nodes_of(
            sequential({nullptr, 5, 3}, {each_step("t", layer("Dense", "d", {{"units", 2}})),
                                         each_step("u", layer("Activation", "a", {{"activation", "relu"}})),
                                         each_step("v", layer("Dropout", "o", {{"rate", 0.5}}))})) ==
        "%1 = convolution(%0) -> 1x5x2 \"t\": kernel 1x1, stride 1x1, padding 0,0,0,0, filters 2, bias yes\n"
        "%2 = reshape(%1) -> 1x5x2 \"t\"\n"
        "%3 = relu(%2) -> 1x5x2 \"v\"\n");
    // Images of steps are put one below the other.
    const json scaling = layer("BatchNormalization", "b", {{"axis", {3}}});
    const ir::Graph images = sequential({nullptr, 2, 4, 5, 3}, {each_step("t", scaling)});
    REQUIRE(images.nodes.size() == 3);
    CHECK(images.nodes[1].op->name() == "batch_normalization");
    CHECK(images.output().shape == ir::Shape{1, 2, 4, 5, 3});
    check_each_step(images, sequential({nullptr, 4, 5, 3}, {scaling}));
}

TEST_CASE("TimeDistributed calls other layers for each step", "[compiler][frontend]") {
    const json convolution =
        layer("Conv2D", "c", {{"filters", 2}, {"kernel_size", 2}, {"strides", 2}, {"activation", "relu"}});
    const json flat = layer("Flatten", "f", json::object());
    const json pooling = layer("MaxPooling2D", "p", {{"pool_size", 2}});
    for (const json& inner : std::vector<json>{convolution, pooling, flat}) {
        const ir::Graph graph = sequential({nullptr, 3, 5, 4, 2}, {each_step("t", inner)});
        check_each_step(graph, sequential({nullptr, 5, 4, 2}, {inner}));
        CHECK(graph.output().name == "t");
        CHECK(graph.output().shape[1] == 3);
        CHECK(std::ranges::count(graph.nodes, "t (step 3)", &ir::Node::name) > 0);
    }
}

TEST_CASE("TimeDistributed calls a model for each step", "[compiler][frontend]") {
    const json input = layer("InputLayer", "i", {{"batch_shape", {nullptr, 5, 4, 2}}});
    const std::vector<json> layers{layer("Conv2D", "c", {{"filters", 3}, {"kernel_size", 2}}),
                                   layer("Flatten", "f", json::object()),
                                   layer("Dense", "d", {{"units", 2}})};
    json list = json::array({input});
    for (const json& one : layers) list.push_back(one);
    const json model = layer("Sequential", "m", {{"layers", list}});
    const ir::Graph graph = sequential({nullptr, 3, 5, 4, 2}, {each_step("t", model)});
    check_each_step(graph, sequential({nullptr, 5, 4, 2}, layers));
    CHECK(graph.output().shape == ir::Shape{1, 3, 2});
    CHECK(graph.nodes[2].name == "t/m/c");
    CHECK(std::ranges::count(graph.nodes, "t/m/d (step 2)", &ir::Node::name) == 1);
}

TEST_CASE("One step of TimeDistributed, and one in another", "[compiler][frontend]") {
    const json flat = layer("Flatten", "f", json::object());
    CHECK(sequential({nullptr, 1, 4, 2}, {each_step("t", flat)}).output().shape == ir::Shape{1, 1, 8});
    const json nested = each_step("t", each_step("u", flat));
    CHECK(sequential({nullptr, 2, 3, 4, 2}, {nested}).output().shape == ir::Shape{1, 2, 3, 8});
}

TEST_CASE("What TimeDistributed cannot apply is refused in words", "[compiler][frontend]") {
    const json dense = layer("Dense", "d", {{"units", 2}});
    CHECK(error_of_layers({nullptr, 3}, {each_step("t", dense)}) ==
          "layer \"t\": its input is 1x3; it must be [batch, steps, ...]");
    CHECK(error_of_layers({nullptr, 3, 4}, {layer("TimeDistributed", "t", json::object())}) ==
          "layer \"t\" has no \"layer\"");
    CHECK_THAT(error_of_layers({nullptr, 3, 4}, {each_step("t", layer("Lambda", "l", json::object()))}),
               Catch::StartsWith("layer \"t\": class_name is \"Lambda\"; it is Python code"));
    CHECK_THAT(
        error_of_layers({nullptr, 3, 4}, {each_step("t", layer("Mine", "l", json::object()))}),
        Catch::StartsWith("layer \"t\": class_name is \"Mine\"; this class of layers is not supported"));
}

TEST_CASE("A mask is refused where a layer would leave steps out", "[compiler][frontend]") {
    const json masking = layer("Masking", "m", {{"mask_value", 0.0}});
    const json pool = layer("GlobalAveragePooling1D", "g", json::object());
    const json dense = layer("Dense", "d", {{"units", 2}});
    const json shape{nullptr, 4, 3};
    CHECK(nodes_of(sequential(shape, {masking, dense})) == nodes_of(sequential(shape, {dense})));
    CHECK(error_of_layers(shape, {masking, dense, pool}) ==
          "layer \"g\": it would leave out the steps that layer \"m\" masks; masks are not supported");
    CHECK_THAT(
        error_of_layers(shape, {masking, each_step("t", dense), layer("Softmax", "s", json::object())}),
        Catch::StartsWith("layer \"s\": it would leave out"));
    CHECK_THAT(error_of_layers(shape, {masking, layer("Rescaling", "r", {{"scale", 2.0}}), pool}),
               Catch::StartsWith("layer \"g\": it would leave out"));
    // It goes into what is applied to each step, too.
    CHECK_THAT(error_of_layers({nullptr, 2, 4, 3}, {masking, each_step("t", pool)}),
               Catch::StartsWith("layer \"t\": it would leave out"));
    // The mask ends where steps do.
    const json convolution = layer("Conv1D", "c", {{"filters", 2}, {"kernel_size", 2}});
    CHECK(error_of_layers(shape, {masking, convolution, pool}) == "no error");
    CHECK_THAT(error_of_layers(shape, {layer("Masking", "m", {{"mask_value", -1.0}}), dense}),
               Catch::EndsWith("only 0 is supported"));
}

TEST_CASE("The parts of an attention find their weights in .keras files", "[compiler][frontend]") {
    // The names of the parts differ between versions of Keras.
    const std::string before = GENERATE("", "_");
    const std::string list = GENERATE("layers", "_layer_checkpoint_dependencies");
    const std::string group = list + "/multi_head_attention/" + before;
    std::vector<StoredWeight> weights;
    double first = 10;
    for (const std::string part : {"query", "key", "value", "output"}) {
        const std::vector<hsize_t> kernel =
            part == "output" ? std::vector<hsize_t>{1, 1, 3} : std::vector<hsize_t>{3, 1, 1};
        const std::vector<hsize_t> bias =
            part == "output" ? std::vector<hsize_t>{3} : std::vector<hsize_t>{1, 1};
        weights.push_back(numbers_from(group + part + "_dense/vars/0", kernel, first));
        weights.push_back(numbers_from(group + part + "_dense/vars/1", bias, first + 10));
        first += 20;
    }
    CHECK(first_numbers(graph_of_archive(attention_config, weights)) == expected_numbers);
    weights.erase(weights.begin() + 2, weights.begin() + 4);
    CHECK_THROWS_WITH(graph_of_archive(attention_config, weights),
                      Catch::EndsWith("layer \"m\": the file has no weights for its key"));
}

TEST_CASE("The parts of an attention find their weights in .h5 files", "[compiler][frontend]") {
    // Keras 2 adds ":0".
    const std::string end = GENERATE("", ":0");
    std::vector<StoredWeight> weights;
    double first = 10;
    for (const std::string part : {"query", "key", "value", "attention_output"}) {
        const bool is_last = part == "attention_output";
        weights.push_back(
            numbers_from("m/" + part + "/kernel" + end,
                         is_last ? std::vector<hsize_t>{1, 1, 3} : std::vector<hsize_t>{3, 1, 1}, first));
        weights.push_back(numbers_from("m/" + part + "/bias" + end,
                                       is_last ? std::vector<hsize_t>{3} : std::vector<hsize_t>{1, 1},
                                       first + 10));
        first += 20;
    }
    // The order of the list does not matter.
    std::ranges::reverse(weights);
    const tests::KerasFile file{.model_config = attention_config,
                                .layers = {{"m", weights}},
                                .about = {{"keras_version", end.empty() ? "3.15.1" : "2.15.0"}}};
    const tests::TemporaryFile temporary("attention.h5");
    file.write(temporary.path());
    CHECK(first_numbers(frontend::read_keras_h5(temporary.path(), operators::registry())) ==
          expected_numbers);
}

TEST_CASE("A layer that TimeDistributed applies finds its weights", "[compiler][frontend]") {
    const std::string config = R"({"class_name": "Sequential", "config": {"name": "s", "layers": [
        {"class_name": "InputLayer", "config": {"name": "in", "batch_shape": [null, 2, 1]}},
        {"class_name": "TimeDistributed", "config": {"name": "t", "layer":
            {"class_name": "Dense", "config": {"name": "d", "units": 1}}}},
        {"class_name": "TimeDistributed", "config": {"name": "u", "layer":
            {"class_name": "Sequential", "config": {"name": "n", "layers": [
                {"class_name": "Dense", "config": {"name": "e", "units": 1, "use_bias": false}}]}}}}]}})";
    const std::string expected = "t/kernel=1 t/bias=2 u/n/e/kernel=3 ";
    const std::string list = GENERATE("layers", "_layer_checkpoint_dependencies");
    const auto graph = graph_of_archive(
        config, {numbers_from(list + "/time_distributed/layer/vars/0", {1, 1}, 1),
                 numbers_from(list + "/time_distributed/layer/vars/1", {1}, 2),
                 numbers_from(list + "/time_distributed_1/layer/" + list + "/dense/vars/0", {1, 1}, 3)});
    // One Dense is applied to all steps, whether it is a model of its own or not.
    CHECK(first_numbers(graph) == expected);
    // Keras 2 leaves out the name of the layer.
    const bool has_name = GENERATE(true, false);
    const std::string inner = has_name ? "t/d/" : "t/";
    const tests::KerasFile file{
        .model_config = config,
        .layers = {{"t", {numbers_from(inner + "kernel", {1, 1}, 1), numbers_from(inner + "bias", {1}, 2)}},
                   {"u", {numbers_from(has_name ? "n/e/kernel" : "u/e/kernel", {1, 1}, 3)}}},
        .about = {{"keras_version", has_name ? "3.15.1" : "2.15.0"}}};
    const tests::TemporaryFile temporary("steps.h5");
    file.write(temporary.path());
    CHECK(first_numbers(frontend::read_keras_h5(temporary.path(), operators::registry())) == expected);
}
