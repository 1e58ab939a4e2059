// The operators on integers of onnxruntime's domain, against loops over their definition: the real numbers of
// the inputs, the operator, and the nearest integer of the result.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tests/support/file_order.h"
#include "tests/support/random_runs.h"
#include "tests/unit/compiler/frontend/onnx_model.h"

using namespace systole;
using ::onnx::TensorProto;
using tests::Extents;
using tests::OnnxModel;
using tests::refusal_of;
using tests::run_in_file_order;
using tests::with_attribute;

namespace {

/// A model of one node of the domain on int8, with the numbers of its tensors.
class MicrosoftNode {
public:
    explicit MicrosoftNode(std::uint32_t seed) : generator_(seed) { model.import_set("com.microsoft", 1); }

    std::int64_t number(std::int64_t from, std::int64_t to) {
        return std::uniform_int_distribution<std::int64_t>(from, to)(generator_);
    }

    struct Numbers {
        std::vector<float> stored;
        std::vector<float> reals;
    };

    /// Adds a tensor with its scale and zero point to the inputs, and returns its numbers.
    Numbers add(const std::string& name, const Extents& shape, bool is_constant = false) {
        std::size_t count = 1;
        for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
        std::vector<std::int8_t> stored(count);
        for (std::int8_t& each : stored) each = static_cast<std::int8_t>(number(-128, 127));
        if (is_constant) {
            model.raw(name, TensorProto::INT8, shape, stored);
        } else {
            model.input(name, shape, TensorProto::INT8);
        }
        inputs.push_back(name);
        const Scale scale = add_scale(name);
        Numbers numbers{.stored = {stored.begin(), stored.end()}, .reals = {}};
        for (const float each : numbers.stored) {
            numbers.reals.push_back((each - static_cast<float>(scale.zero_point)) * scale.scale);
        }
        return numbers;
    }

    struct Scale {
        float scale;
        std::int8_t zero_point;
        float stored(float real) const {
            const float rounded = std::nearbyint(real / scale) + static_cast<float>(zero_point);
            return std::clamp(rounded, -128.0F, 127.0F);
        }
    };

    Scale add_scale(const std::string& name) {
        const Scale made{static_cast<float>(number(1, 90)) / 1000.0F,
                         static_cast<std::int8_t>(number(-128, 127))};
        model.floats(name + "_scale", {}, {made.scale});
        model.raw<std::int8_t>(name + "_zero", TensorProto::INT8, {}, {made.zero_point});
        inputs.push_back(name + "_scale");
        inputs.push_back(name + "_zero");
        return made;
    }

    ::onnx::NodeProto& node(const std::string& op) {
        ::onnx::NodeProto& made = model.output("y").node(op, inputs, {"y"});
        made.set_domain("com.microsoft");
        return made;
    }

    /// Whether the network's results are these real numbers, stored.
    void check(const std::vector<std::vector<float>>& given, const std::vector<float>& reals,
               const Scale& scale) {
        std::vector<float> expected;
        for (const float real : reals) expected.push_back(scale.stored(real));
        CHECK(run_in_file_order(model.read(), given, 1).front() == expected);
    }

    OnnxModel model;
    std::vector<std::string> inputs;

private:
    std::mt19937 generator_;
};

}  // namespace

TEST_CASE("QLinearAdd and QLinearMul combine tensors of any scales", "[compiler][operators]") {
    const bool is_sum = GENERATE(true, false);
    for (std::uint32_t seed = 0; seed < tests::random_runs(40); ++seed) {
        INFO("seed " << seed);
        MicrosoftNode made(seed);
        const std::int64_t rows = made.number(1, 4);
        const std::int64_t columns = made.number(1, 5);
        const bool is_constant = made.number(0, 1) == 0;
        const bool is_row = made.number(0, 1) == 0;
        const auto a = made.add("a", {1, rows, columns});
        const auto b = made.add("b", is_row ? Extents{columns} : Extents{1, rows, columns}, is_constant);
        const auto scale = made.add_scale("y");
        made.node(is_sum ? "QLinearAdd" : "QLinearMul");
        std::vector<float> reals;
        for (std::size_t i = 0; i < a.reals.size(); ++i) {
            const float other = b.reals[i % b.reals.size()];
            reals.push_back(is_sum ? a.reals[i] + other : a.reals[i] * other);
        }
        std::vector<std::vector<float>> given{a.stored};
        if (!is_constant) given.push_back(b.stored);
        made.check(given, reals, scale);
    }
}

TEST_CASE("QLinearSigmoid and QLinearLeakyRelu apply their function", "[compiler][operators]") {
    const bool is_sigmoid = GENERATE(true, false);
    for (std::uint32_t seed = 0; seed < tests::random_runs(40); ++seed) {
        INFO("seed " << seed);
        MicrosoftNode made(seed);
        const auto x = made.add("x", {1, made.number(1, 20)});
        const auto scale = made.add_scale("y");
        auto& node = made.node(is_sigmoid ? "QLinearSigmoid" : "QLinearLeakyRelu");
        const bool has_alpha = !is_sigmoid && made.number(0, 1) == 0;
        if (has_alpha) with_attribute(node, "alpha", 0.25F);
        const float alpha = has_alpha ? 0.25F : 0.01F;
        std::vector<float> reals;
        for (const float real : x.reals) {
            const float leaky = real < 0 ? alpha * real : real;
            reals.push_back(is_sigmoid ? 1.0F / (1.0F + std::exp(-real)) : leaky);
        }
        made.check({x.stored}, reals, scale);
    }
}

TEST_CASE("QLinearGlobalAveragePool averages images of either order", "[compiler][operators]") {
    const bool is_last = GENERATE(true, false);
    for (std::uint32_t seed = 0; seed < tests::random_runs(40); ++seed) {
        INFO("seed " << seed);
        MicrosoftNode made(seed);
        const std::int64_t channels = made.number(1, 4);
        const std::int64_t height = made.number(1, 4);
        const std::int64_t width = made.number(1, 4);
        const auto x = made.add(
            "x", is_last ? Extents{1, height, width, channels} : Extents{1, channels, height, width});
        const auto scale = made.add_scale("y");
        with_attribute(made.node("QLinearGlobalAveragePool"), "channels_last", std::int64_t{is_last ? 1 : 0});
        const auto pixels = static_cast<std::size_t>(height * width);
        std::vector<float> reals(static_cast<std::size_t>(channels), 0.0F);
        for (std::size_t i = 0; i < x.reals.size(); ++i) {
            reals[is_last ? i % reals.size() : i / pixels] += x.reals[i];
        }
        for (float& real : reals) real /= static_cast<float>(pixels);
        made.check({x.stored}, reals, scale);
    }
}

TEST_CASE("QLinearConcat gives all its tensors one scale", "[compiler][operators]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(40); ++seed) {
        INFO("seed " << seed);
        MicrosoftNode made(seed);
        const auto scale = made.add_scale("y");
        std::vector<std::vector<float>> given;
        std::vector<float> reals;
        for (const char* const name : {"a", "b", "c"}) {
            const bool is_constant = !given.empty() && made.number(0, 2) == 0;
            const auto numbers = made.add(name, {1, made.number(1, 5)}, is_constant);
            if (!is_constant) given.push_back(numbers.stored);
            reals.insert(reals.end(), numbers.reals.begin(), numbers.reals.end());
        }
        with_attribute(made.node("QLinearConcat"), "axis", std::int64_t{-1});
        made.check(given, reals, scale);
    }
}

TEST_CASE("QGemm adds products and a bias, and rounds once", "[compiler][operators]") {
    const bool is_transposed = GENERATE(true, false);
    OnnxModel model;
    model.input("x", {1, 2}, TensorProto::INT8).output("y");
    model.raw<std::int8_t>("w", TensorProto::INT8, is_transposed ? Extents{3, 2} : Extents{2, 3},
                           is_transposed ? std::vector<std::int8_t>{1, 4, 2, 5, 3, 6}
                                         : std::vector<std::int8_t>{1, 2, 3, 4, 5, 6});
    model.floats("xs", {}, {0.5F}).raw<std::int8_t>("xz", TensorProto::INT8, {}, {1});
    model.floats("ws", {3}, {1, 0.5F, 0.25F}).raw<std::int8_t>("wz", TensorProto::INT8, {3}, {0, 0, 0});
    model.raw<std::int32_t>("b", TensorProto::INT32, {3}, {1, 2, 3});
    model.floats("ys", {}, {0.5F}).raw<std::int8_t>("yz", TensorProto::INT8, {}, {-3});
    auto& node = model.node("QGemm", {"x", "xs", "xz", "w", "ws", "wz", "b", "ys", "yz"}, {"y"});
    node.set_domain("com.microsoft");
    with_attribute(node, "transB", std::int64_t{is_transposed ? 1 : 0});
    // x - 1 = [2, 10]: sums [42, 54, 66] with a bias [43, 56, 69], times [1, 0.5, 0.25].
    CHECK(run_in_file_order(model.read(), {3, 11}) == std::vector<float>{40, 25, 14});
}

TEST_CASE("Wrong nodes of onnxruntime's domain are refused", "[compiler][operators]") {
    MicrosoftNode made(1);
    std::string expected;
    made.add("a", {1, 3});
    SECTION("without the scale of the result") {
        made.add("b", {1, 3});
        made.node("QLinearAdd");
        expected =
            R"(node "n_y" ("QLinearAdd"): its input 6 (scale) is absent or has no elements; it must be given)";
    }
    SECTION("with a scale that the network computes") {
        made.inputs[1] = "computed";
        made.model.input("computed", {});
        made.add_scale("y");
        made.node("QLinearSigmoid");
        expected =
            R"(node "n_y" ("QLinearSigmoid"): its input 1 (scale) is computed by the network; it must be a )"
            "constant, others are not supported";
    }
    SECTION("with weights that come first") {
        MicrosoftNode other(1);
        other.add("a", {1, 3}, true);
        other.add("b", {3, 2});
        other.inputs.emplace_back();
        other.add_scale("y");
        other.node("QGemm");
        CHECK(refusal_of(other.model) ==
              R"(node "n_y" ("QGemm"): its input 0 is a constant; only input 3, the weights, may be)");
        return;
    }
    SECTION("without tensors") {
        made.inputs.resize(2);
        made.node("QLinearConcat");
        expected = R"(node "n_y" ("QLinearConcat"): it has no tensors to concatenate)";
    }
    CHECK(refusal_of(made.model) == expected);
}
