// The scaling of pixels in the front of networks, from their files.
#include "compiler/reference/pixel_scaling.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/support/random_runs.h"
#include "tests/unit/compiler/frontend/onnx_model.h"

using namespace systole;
using tests::OnnxModel;

namespace {

using Numbers = std::vector<float>;

/// The front of a network of three channels: nodes that scale, among nodes that only move elements.
class Front {
public:
    explicit Front(std::uint32_t seed) : random_(seed) { model_.input("x", {1, 3, 4, 4}); }

    std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }
    float between(float low, float high) {
        return low + (high - low) * static_cast<float>(below(1000)) / 1000.0F;
    }

    /// (x - mean) / deviation, in one of the forms in which networks have it.
    void normalize(const Numbers& mean, const Numbers& deviation) {
        Numbers factor;
        Numbers offset;
        for (std::size_t i = 0; i < mean.size(); ++i) {
            factor.push_back(1.0F / deviation[i]);
            offset.push_back(-mean[i] / deviation[i]);
        }
        switch (below(4)) {
            case 0:
                pair("Sub", mean);
                move();
                return pair("Div", deviation);
            case 1:
                pair("Mul", factor);
                move();
                return pair("Add", offset);
            case 2: {
                Numbers minus;
                for (const float number : mean) minus.push_back(-number);
                pair("Add", minus);
                return pair("Mul", factor);
            }
            default:
                if (mean.size() == 1) return normalize(Numbers(3, mean[0]), Numbers(3, deviation[0]));
                node("BatchNormalization",
                     {constant(factor, {3}), constant(offset, {3}), constant(Numbers(3, 0.0F), {3}),
                      constant(Numbers(3, 1.0F), {3})});
        }
    }
    void scale(float factor) { pair("Mul", {factor}); }
    void negative(float highest) {
        const std::string before = last_;
        last_ = constant({highest}, {});
        node("Sub", {before});
    }
    /// A node that keeps each element as it is, or none.
    void move() {
        if (below(3) == 0) node("Identity", {});
        if (below(4) == 0) node("MaxPool", {});
    }
    /// A node that makes another image of the same pixels, as at the front of networks that take any image.
    void arrive() {
        switch (below(6)) {
            case 0:  // red and blue change places
                return node("Gather", {integers({2, 1, 0})});
            case 1:
                return node("Clip", {constant({0.0F}, {}), constant({255.0F}, {})});
            case 2:
                return node("Pad", {integers({0, 0, 1, 1, 0, 0, 1, 1})});
            case 3:
                return node("Resize", {"", constant({1.0F, 1.0F, 2.0F, 2.0F}, {4})});
            case 4:
                return node("AveragePool", {});
            default:
                return move();
        }
    }
    ir::Graph end() {
        node("Sigmoid", {});
        model_.output(last_);
        return model_.read();
    }

private:
    std::string next() { return "v" + std::to_string(count_++); }
    std::string constant(const Numbers& numbers, const tests::Extents& shape) {
        const std::string name = next();
        model_.floats(name, shape, numbers);
        return name;
    }
    std::string integers(const std::vector<std::int64_t>& numbers) {
        const std::string name = next();
        model_.raw(name, ::onnx::TensorProto::INT64, {static_cast<std::int64_t>(numbers.size())}, numbers);
        return name;
    }
    void pair(const char* op, const Numbers& numbers) {
        const auto count = static_cast<std::int64_t>(numbers.size());
        const tests::Extents shape = count == 1 ? tests::Extents{} : tests::Extents{1, count, 1, 1};
        node(op, {constant(numbers, shape)});
    }
    void node(const std::string& op, std::vector<std::string> constants) {
        const std::string result = next();
        std::vector<std::string> inputs{last_};
        inputs.insert(inputs.end(), constants.begin(), constants.end());
        auto& made = model_.node(op, inputs, {result});
        if (op == "MaxPool") tests::with_attribute(made, "kernel_shape", tests::Extents{1, 1});
        if (op == "AveragePool") tests::with_attribute(made, "kernel_shape", tests::Extents{2, 2});
        if (op == "Gather") tests::with_attribute(made, "axis", std::int64_t{1});
        last_ = result;
    }

    std::mt19937 random_;
    OnnxModel model_;
    std::string last_ = "x";
    int count_ = 0;
};

TEST_CASE("A network that scales pixels itself is known by the numbers at its front", "[operators]") {
    for (std::uint32_t seed = 1; seed <= tests::random_runs(200); ++seed) {
        CAPTURE(seed);
        Front raw(seed);
        Front scaled(seed);
        Numbers mean;
        Numbers deviation;
        for (std::uint32_t channels = raw.below(2) == 0 ? 1 : 3; mean.size() < channels;) {
            mean.push_back(raw.between(0.3F, 0.6F));
            deviation.push_back(raw.between(0.2F, 1.0F));
        }
        Numbers mean_of_bytes;
        Numbers deviation_of_bytes;
        for (std::size_t i = 0; i < mean.size(); ++i) {
            mean_of_bytes.push_back(255.0F * mean[i]);
            deviation_of_bytes.push_back(255.0F * deviation[i]);
        }
        raw.arrive();
        scaled.arrive();
        switch (raw.below(5)) {
            case 0:  // as bytes
                raw.normalize(mean_of_bytes, deviation_of_bytes);
                break;
            case 1:  // to 0 to 1, then as those
                raw.scale(1.0F / 255.0F);
                raw.normalize(mean, deviation);
                break;
            case 2:  // to 0 to 1 alone
                raw.scale(1.0F / 255.0F);
                break;
            case 3:  // the negative, to 0 to 1
                raw.negative(255.0F);
                raw.scale(1.0F / 255.0F);
                break;
            default:  // only the mean, as some networks of Caffe
                raw.normalize(mean_of_bytes, Numbers(mean.size(), 1.0F));
        }
        switch (scaled.below(3)) {
            case 0:
                scaled.normalize(mean, deviation);
                break;
            case 1:  // back to bytes, then as those
                scaled.scale(255.0F);
                scaled.normalize(mean_of_bytes, deviation_of_bytes);
                break;
            default:
                scaled.scale(2.0F);
        }
        const ir::Graph with = raw.end();
        const ir::Graph without = scaled.end();
        const auto layer = reference::pixel_scaling_layers(with).front();
        REQUIRE(layer.has_value());
        CHECK(layer->starts_with("n_v"));
        CHECK_FALSE(reference::pixel_scaling_layers(without).front().has_value());
    }
}

TEST_CASE("Means that cancel over the channels are taken from pixels, too", "[operators]") {
    OnnxModel model;
    model.input("x", {1, 3, 4, 4}).floats("m", {1, 3, 1, 1}, {123.0F, -123.0F, 0.0F}).output("z");
    model.node("Sub", {"x", "m"}, {"y"});
    model.node("Sigmoid", {"y"}, {"z"});
    const ir::Graph graph = model.read();
    CHECK(reference::pixel_scaling_layers(graph).front() == "n_y");
}

TEST_CASE("Layers that do more than to scale, or that learned their weights, scale no pixels",
          "[operators]") {
    const auto layer = [](const std::string& op, const std::vector<std::string>& inputs) {
        OnnxModel model;
        model.input("x", {1, 3, 4, 4}).output("y");
        model.floats("low", {}, {0.0F}).floats("high", {}, {6.0F});
        model.floats("w", {3, 1, 1, 1}, Numbers(3, 1.0F / 255.0F));
        auto& made = model.node(op, inputs, {"y"});
        if (op == "Conv") tests::with_attribute(made, "group", std::int64_t{3});
        const ir::Graph graph = model.read();
        return reference::pixel_scaling_layers(graph).front();
    };
    CHECK_FALSE(layer("Clip", {"x", "low", "high"}).has_value());
    CHECK_FALSE(layer("Tanh", {"x"}).has_value());
    CHECK_FALSE(layer("Conv", {"x", "w"}).has_value());
}

TEST_CASE("Pixels that only one of two ways scales are not known to be scaled", "[operators]") {
    const auto layer = [](bool both) {
        OnnxModel model;
        model.input("x", {1, 3, 4, 4}).floats("c", {}, {1.0F / 255.0F});
        model.node("Mul", {"x", "c"}, {"a"});
        model.node("Mul", {"x", "c"}, {"b"});
        model.node("Add", {"a", both ? "b" : "x"}, {"y"});
        model.output("y");
        const ir::Graph graph = model.read();
        return reference::pixel_scaling_layers(graph).front();
    };
    CHECK(layer(true).has_value());
    CHECK_FALSE(layer(false).has_value());
}

TEST_CASE("Each input of a network has its own layer that scales", "[operators]") {
    OnnxModel model;
    model.floats("c", {}, {1.0F / 255.0F});
    for (const char* const name : {"x", "y", "z"}) model.input(name, {1, 4});
    model.node("Mul", {"x", "c"}, {"a"});
    model.node("Sigmoid", {"y"}, {"b"});
    model.node("Mul", {"z", "c"}, {"d"});
    model.output("a").output("b").output("d");
    const ir::Graph graph = model.read();
    const auto layers = reference::pixel_scaling_layers(graph);
    CHECK(layers == std::vector<std::optional<std::string>>{"n_a", std::nullopt, "n_d"});
    CHECK(layers[0] != layers[2]);
}

TEST_CASE("A product with an unknown constant, or by 0, says nothing of pixels", "[operators]") {
    OnnxModel model;
    model.input("x", {1, 4}).floats("c", {}, {0.0F}).output("y");
    model.node("Mul", {"x", "c"}, {"y"});
    ir::Graph graph = model.read();
    CHECK_FALSE(reference::pixel_scaling_layers(graph).front().has_value());
    for (ir::Value& value : graph.values) {
        if (value.constant) value.constant = ir::Constant();
    }
    CHECK_FALSE(reference::pixel_scaling_layers(graph).front().has_value());
}

}  // namespace
