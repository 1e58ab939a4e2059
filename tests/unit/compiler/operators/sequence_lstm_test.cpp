// An LSTM over a sequence, in float32 and on integers, against its definition on real numbers.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/stored_integers.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/fixed_point_functions.h"
#include "compiler/passes/compute_in_words.h"
#include "tests/support/file_nodes.h"
#include "tests/support/graphs.h"
#include "tests/support/random_runs.h"

using namespace systole;
using namespace systole::tests::nodes;

namespace {

using LstmNumbers = std::vector<double>;

constexpr const char* lstm_node = "UNIDIRECTIONAL_SEQUENCE_LSTM";
constexpr std::size_t lstm_inputs = 24;
constexpr std::size_t lstm_gates = 4;
constexpr std::size_t candidate = 2;

/// Numbers of the inputs of a node: by gate, input, forget, candidate, output.
namespace at {
constexpr std::size_t input_weights = 1;
constexpr std::size_t state_weights = 5;
constexpr std::size_t peepholes = 9;
constexpr std::size_t biases = 12;
constexpr std::size_t projection = 16;
constexpr std::size_t projection_bias = 17;
constexpr std::size_t normalization = 20;
}  // namespace at

/// That of a gate, of which the candidate has none.
constexpr std::size_t peephole_of(std::size_t gate) {
    return at::peepholes + (gate < candidate ? gate : gate - 1);
}

/// A layer: what its node reads, as tensors and as real numbers.
struct DrawnLstm {
    std::size_t steps = 1;
    std::size_t rows = 1;
    std::size_t inputs = 1;
    std::size_t cells = 1;
    std::size_t results = 1;
    bool is_time_major = false;
    double cell_clip = 0.0;
    double projection_clip = 0.0;
    std::array<Tensor, lstm_inputs> tensors = {};
    std::array<LstmNumbers, lstm_inputs> numbers = {};
    nlohmann::json options = nlohmann::json::object();
    ir::ResultType result = {};

    DrawnLstm() {
        for (Tensor& tensor : tensors) tensor = absent();
    }
    bool has(std::size_t input) const { return !numbers.at(input).empty(); }
    FileNode node() const {
        nlohmann::json all = options;
        all["time_major"] = is_time_major;
        all["cell_clip"] = cell_clip;
        all["proj_clip"] = projection_clip;
        if (!all.contains("fused_activation_function")) all["fused_activation_function"] = "TANH";
        return tflite(lstm_node, all, {result});
    }
    std::vector<Tensor> given() const { return {tensors.begin(), tensors.end()}; }
    Tensor result_of_node() const { return compute(node(), given()); }
};

/// The definition, for one image of the batch.
class PlainLstm {
public:
    explicit PlainLstm(const DrawnLstm& layer) : layer_(layer), h_(layer.results), c_(layer.cells) {}

    const LstmNumbers& step(const double* x) {
        LstmNumbers input = gate(0, x);
        const LstmNumbers forget = gate(1, x);
        const LstmNumbers filling = sums(2, x);
        for (std::size_t i = 0; i < c_.size(); ++i) {
            const double opening = layer_.has(at::input_weights) ? input[i] : 1.0 - forget[i];
            c_[i] = limited(forget[i] * c_[i] + opening * std::tanh(filling[i]), layer_.cell_clip);
        }
        LstmNumbers hidden = gate(3, x);
        for (std::size_t i = 0; i < c_.size(); ++i) hidden[i] *= std::tanh(c_[i]);
        if (!layer_.has(at::projection)) return h_ = hidden;
        for (std::size_t i = 0; i < h_.size(); ++i) {
            h_[i] = layer_.has(at::projection_bias) ? layer_.numbers[at::projection_bias][i] : 0.0;
            for (std::size_t j = 0; j < hidden.size(); ++j)
                h_[i] += layer_.numbers[at::projection][i * hidden.size() + j] * hidden[j];
            h_[i] = limited(h_[i], layer_.projection_clip);
        }
        return h_;
    }

private:
    static double limited(double number, double limit) {
        return limit == 0.0 ? number : std::clamp(number, -limit, limit);
    }

    LstmNumbers gate(std::size_t gate, const double* x) const {
        LstmNumbers result = layer_.has(at::input_weights + gate) ? sums(gate, x) : LstmNumbers{};
        for (double& number : result) number = 1.0 / (1.0 + std::exp(-number));
        return result;
    }

    LstmNumbers sums(std::size_t gate, const double* x) const {
        LstmNumbers sums(c_.size());
        const LstmNumbers& bias = layer_.numbers[at::biases + gate];
        const std::size_t peephole = peephole_of(gate);
        const LstmNumbers& factors = layer_.numbers[at::normalization + gate];
        for (std::size_t i = 0; i < sums.size(); ++i) {
            if (factors.empty()) sums[i] = bias[i];
            for (std::size_t j = 0; j < layer_.inputs; ++j)
                sums[i] += layer_.numbers[at::input_weights + gate][i * layer_.inputs + j] * x[j];
            for (std::size_t j = 0; j < h_.size(); ++j)
                sums[i] += layer_.numbers[at::state_weights + gate][i * h_.size() + j] * h_[j];
            if (gate != candidate && layer_.has(peephole)) sums[i] += layer_.numbers[peephole][i] * c_[i];
        }
        if (factors.empty()) return sums;
        double mean = 0.0;
        double variance = 0.0;
        const auto count = static_cast<double>(sums.size());
        for (const double sum : sums) mean += sum / count;
        for (const double sum : sums) variance += (sum - mean) * (sum - mean) / count;
        for (std::size_t i = 0; i < sums.size(); ++i)
            sums[i] = (sums[i] - mean) / std::sqrt(variance + 1e-8) * factors[i] + bias[i];
        return sums;
    }

    const DrawnLstm& layer_;
    LstmNumbers h_;
    LstmNumbers c_;
};

LstmNumbers plain_lstm(const DrawnLstm& layer) {
    LstmNumbers all(layer.steps * layer.rows * layer.results);
    for (std::size_t row = 0; row < layer.rows; ++row) {
        PlainLstm lstm(layer);
        for (std::size_t step = 0; step < layer.steps; ++step) {
            const std::size_t place =
                layer.is_time_major ? step * layer.rows + row : row * layer.steps + step;
            const LstmNumbers& h = lstm.step(&layer.numbers[0][place * layer.inputs]);
            std::copy(h.begin(), h.end(), all.begin() + static_cast<std::ptrdiff_t>(place * h.size()));
        }
    }
    return all;
}

/// How integers hold the numbers of an input. With these powers of two, biases have the scales of the sums.
struct StoredAs {
    DataType type = DataType::Int8;
    int exponent = 0;
};
constexpr StoredAs as_bytes{DataType::Int8, -7};
constexpr StoredAs as_shorts{DataType::Int16, -15};
constexpr StoredAs as_biases{DataType::Int32, -14};
constexpr StoredAs as_normalized_biases{DataType::Int32, -25};
constexpr std::int32_t zero_of_results = -3;

/// Draws layers of all forms.
class LstmDraw {
public:
    LstmDraw(std::uint32_t seed, bool is_integer) : parts_(seed), is_integer_(is_integer) {}

    DrawnLstm draw() {
        const bool normalizes = chance();
        const bool has_input_gate = chance();
        const bool has_peepholes = chance();
        const bool projects = chance();
        layer_.steps = parts_.number(1, 4);
        layer_.rows = parts_.number(1, 3);
        layer_.inputs = parts_.number(1, 9);
        // Of few numbers, the normalized ones depend on the last bits of their sums. On integers, their
        // variance is exact if they are a power of two.
        layer_.cells = normalizes && is_integer_ ? 8 : parts_.number(normalizes ? 5 : 1, 9);
        const bool is_square = !projects || (is_integer_ && has_peepholes);
        layer_.results = is_square ? layer_.cells : parts_.number(1, 9);
        layer_.is_time_major = chance();
        if (chance()) layer_.cell_clip = 0.25;
        if (projects && chance()) layer_.projection_clip = 0.25;
        add_sequence();
        for (std::size_t gate = has_input_gate ? 0 : 1; gate < lstm_gates; ++gate) {
            add(at::input_weights + gate, {layer_.cells, layer_.inputs}, 0.9F, as_bytes);
            add(at::state_weights + gate, {layer_.cells, layer_.results}, 0.5F, as_bytes);
            add(at::biases + gate, {layer_.cells}, 0.5F, normalizes ? as_normalized_biases : as_biases);
            if (normalizes) add(at::normalization + gate, {layer_.cells}, 0.9F, as_shorts);
            if (has_peepholes && gate != candidate) add(peephole_of(gate), {layer_.cells}, 0.5F, as_shorts);
        }
        if (projects) add(at::projection, {layer_.results, layer_.cells}, 0.5F, as_bytes);
        if (projects && chance()) add(at::projection_bias, {layer_.results}, 0.25F, as_biases);
        if (is_integer_) add_scales(projects, normalizes);
        return layer_;
    }

private:
    bool chance() { return parts_.number(0, 1) == 1; }

    void add_sequence() {
        const std::size_t first = layer_.is_time_major ? layer_.steps : layer_.rows;
        const std::size_t second = layer_.is_time_major ? layer_.rows : layer_.steps;
        add(0, {first, second, layer_.inputs}, 0.9F, as_bytes);
        layer_.tensors[0].is_constant = false;
    }

    void add(std::size_t input, const std::vector<std::size_t>& extents, float largest, const StoredAs& as) {
        const ir::Shape shape(std::vector<std::uint32_t>(extents.begin(), extents.end()));
        const std::vector<float> drawn = parts_.values(shape.elements(), -largest, largest);
        Tensor& tensor = layer_.tensors.at(input);
        if (!is_integer_) {
            tensor = constant(reals(shape, drawn));
            layer_.numbers.at(input).assign(drawn.begin(), drawn.end());
            return;
        }
        std::vector<std::int32_t> stored;
        for (const float number : drawn) {
            stored.push_back(static_cast<std::int32_t>(std::lround(std::ldexp(number, -as.exponent))));
            layer_.numbers.at(input).push_back(std::ldexp(stored.back(), as.exponent));
        }
        tensor = {.shape = shape, .type = as.type, .is_constant = true};
        tensor.bytes.resize(stored.size() * bytes_of(as.type));
        narrow(stored, as.type, tensor.bytes.data());
        tensor.quantization = ir::Quantization{{std::ldexp(1.0, as.exponent)}, {0}, {}};
    }

    void add_scales(bool projects, bool normalizes) {
        const double of_results = std::ldexp(1.0, projects ? -6 : -7);
        const double of_sums = normalizes ? std::ldexp(1.0, -11) : 0.0;
        layer_.result = int8_type(of_results, zero_of_results);
        layer_.options["state_scale"] = {of_results, std::ldexp(1.0, -12)};
        layer_.options["state_zero_point"] = {zero_of_results, 0};
        layer_.options["intermediate_scale"] = {of_sums, of_sums, of_sums, of_sums, std::ldexp(1.0, -7)};
        layer_.options["intermediate_zero_point"] = {0, 0, 0, 0, zero_of_results};
    }

    DrawnLstm layer_;
    tests::GraphParts parts_;
    bool is_integer_;
};

/// A layer of one cell that reads one number, on integers: its sums are its biases, 1 for the candidate and 0
/// for the gates, and a number of the state in the weights of 1/32 of the sums.
DrawnLstm cell_of_integers(std::int8_t weight_of_state) {
    DrawnLstm layer;
    layer.result = int8_type(1.0 / 128.0, -5);
    layer.tensors[0] = quantized({1, 2, 1}, 1.0, 0, {0, 0});
    for (std::size_t gate = 0; gate < lstm_gates; ++gate) {
        layer.tensors.at(at::input_weights + gate) = constant(quantized({1, 1}, 1.0 / 4096.0, 0, {1}));
        layer.tensors.at(at::state_weights + gate) =
            constant(quantized({1, 1}, 1.0 / 32.0, 0, {weight_of_state}));
        layer.tensors.at(at::biases + gate) = list({gate == candidate ? 4096 : 0});
    }
    layer.options["state_scale"] = {1.0 / 128.0, 1.0 / 32768.0};
    layer.options["state_zero_point"] = {-5, 0};
    layer.options["intermediate_scale"] = {0.0, 0.0, 0.0, 0.0, 1.0 / 128.0};
    layer.options["intermediate_zero_point"] = {0, 0, 0, 0, -5};
    return layer;
}

std::vector<std::int8_t> bytes_of_results(const DrawnLstm& layer) {
    return layer.result_of_node().numbers<std::int8_t>();
}

std::string lstm_error(const DrawnLstm& layer) {
    try {
        return ir::find_fault(read_node(layer.node(), layer.given())).value_or("no error");
    } catch (const ModelError& error) {
        return error.what();
    }
}

}  // namespace

TEST_CASE("The sigmoid and the tanh of 16 bits are as near as their polynomials", "[compiler][operators]") {
    const int integer_bits = GENERATE(0, 1, 2, 3, 4, 5, 6);
    INFO("integer bits: " << integer_bits);
    double furthest_sigmoid = 0.0;
    double furthest_tanh = 0.0;
    for (std::int32_t x = -32768; x <= 32767; ++x) {
        const double real = std::ldexp(x, integer_bits - 15);
        const double sigmoid = std::ldexp(1.0 / (1.0 + std::exp(-real)), 15);
        const double tanh = std::ldexp(std::tanh(real), 15);
        furthest_sigmoid =
            std::max(furthest_sigmoid, std::abs(operators::narrow_sigmoid(x, integer_bits) - sigmoid));
        furthest_tanh = std::max(furthest_tanh, std::abs(operators::narrow_tanh(x, integer_bits) - tanh));
    }
    CHECK(furthest_sigmoid < 7.0);
    CHECK(furthest_tanh < 12.5);
    CHECK(operators::narrow_sigmoid(0, integer_bits) == 16384);
    CHECK(operators::narrow_tanh(0, integer_bits) == 0);
}

TEST_CASE("The functions of 16 bits have the runtime's bits", "[compiler][operators]") {
    struct Known {
        std::int32_t x = 0;
        std::int32_t sigmoid = 0;
        std::int32_t tanh = 0;
    };
    const auto known =
        GENERATE(Known{1, 16384, 8}, Known{2, 16388, 24}, Known{-1000, 14391, -7840},
                 Known{4096, 23952, 24964}, Known{-20000, 243, -32767}, Known{32767, 32756, 32767});
    INFO("x: " << known.x);
    CHECK(operators::narrow_sigmoid(known.x, 3) == known.sigmoid);
    CHECK(operators::narrow_tanh(known.x, 3) == known.tanh);
}

TEST_CASE("An LSTM of any form computes its definition in float32", "[compiler][operators]") {
    const std::uint32_t runs = tests::random_runs(200);
    for (std::uint32_t seed = 0; seed < runs; ++seed) {
        INFO("seed: " << seed);
        const DrawnLstm layer = LstmDraw(seed, false).draw();
        const LstmNumbers plain = plain_lstm(layer);
        CHECK(are_close(layer.result_of_node().reals(), {plain.begin(), plain.end()}, 1e-4F));
    }
}

TEST_CASE("An LSTM of any form computes its definition in words", "[compiler][operators]") {
    for (std::uint32_t seed = 0; seed < tests::random_runs(100); ++seed) {
        INFO("seed: " << seed);
        const DrawnLstm layer = LstmDraw(seed, false).draw();
        const ir::Graph graph = read_node(layer.node(), layer.given());
        const ir::Graph words = passes::compute_in_words(graph, {.sum_tile = 128, .precision = "highest"});
        REQUIRE(ir::find_fault(words).value_or("") == "");
        for (const ir::Node& node : words.nodes) CHECK(!node.is("sequence_lstm"));
        const LstmNumbers plain = plain_lstm(layer);
        CHECK(are_close(results_of(words, {layer.tensors[0].bytes}, 1).front().reals(),
                        {plain.begin(), plain.end()}, 1e-4F));
    }
}

TEST_CASE("An LSTM of any form computes its definition on integers, to a few quanta",
          "[compiler][operators]") {
    const std::uint32_t runs = tests::random_runs(200);
    for (std::uint32_t seed = 0; seed < runs; ++seed) {
        INFO("seed: " << seed);
        const DrawnLstm layer = LstmDraw(seed, true).draw();
        const double scale = layer.result.quantization->scales.front();
        std::vector<float> plain;
        for (const double real : plain_lstm(layer))
            plain.push_back(static_cast<float>(std::clamp(real / scale + zero_of_results, -128.0, 127.0)));
        const std::vector<std::int8_t> given = bytes_of_results(layer);
        REQUIRE(given.size() == plain.size());
        float furthest = 0.0F;
        for (std::size_t i = 0; i < plain.size(); ++i)
            furthest = std::max(furthest, std::abs(static_cast<float>(given[i]) - plain[i]));
        CHECK(furthest < 4.0F);
    }
}

TEST_CASE("A cell of integers fills, and its result is its tanh times the output gate",
          "[compiler][operators]") {
    // Gates of 1/2; the cell is tanh(1) / 2 and then 3/4 of tanh(1).
    CHECK(bytes_of_results(cell_of_integers(0)) == std::vector<std::int8_t>{23 - 5, 33 - 5});
    // The state of 23 adds 23/4096 times 20 to all sums of the second step.
    CHECK(bytes_of_results(cell_of_integers(20)) == std::vector<std::int8_t>{23 - 5, 38 - 5});
    DrawnLstm clipped = cell_of_integers(0);
    clipped.cell_clip = 0.25;
    CHECK(bytes_of_results(clipped) == std::vector<std::int8_t>{16 - 5, 16 - 5});
}

TEST_CASE("An LSTM on integers whose scales its arithmetic does not have is refused",
          "[compiler][operators]") {
    DrawnLstm layer = cell_of_integers(0);
    layer.options["state_scale"] = {1.0 / 128.0, 1.0 / 1000.0};
    CHECK(lstm_error(layer) ==
          "node 0 \"node\": the scale of its cell is 0.001; it must be a power of two, 2^-15 to 2^-9");
    layer.options["state_scale"] = {1.0 / 64.0, 1.0 / 32768.0};
    CHECK(lstm_error(layer) ==
          "layer \"node\": its state and its result must have one scale and zero point; they have others");
    layer = cell_of_integers(0);
    layer.options["intermediate_scale"] = std::vector<double>(12, 1.0);
    CHECK(lstm_error(layer) ==
          "layer \"node\": it has 12 intermediate tensors; on integers it must have 5, of the kernel with a "
          "cell of int16");
    layer = cell_of_integers(0);
    layer.options["intermediate_scale"] = {0.0, 0.0, 0.0, 0.0, 0.0};
    CHECK(lstm_error(layer) == "layer \"node\": its intermediate tensor 4 has no scale; it must have one");
    layer = cell_of_integers(0);
    layer.options["state_zero_point"] = {-5, 1};
    CHECK(lstm_error(layer) == "layer \"node\": its cell must have the zero point 0");
    layer = cell_of_integers(0);
    layer.options["fused_activation_function"] = "RELU";
    CHECK(lstm_error(layer) == "node 0 \"node\": its function is relu; on integers, it must be tanh");
    layer = cell_of_integers(0);
    layer.tensors.at(at::biases) = constant(reals({1}, {0.0F}));
    CHECK(lstm_error(layer) == "node 0 \"node\": its biases are float32; they must be int32");
    layer = cell_of_integers(0);
    layer.tensors.at(at::input_weights) = constant(quantized({1, 1}, 1.0, 1, {1}));
    CHECK(lstm_error(layer) ==
          "node 0 \"node\": the weights of its input must have one scale, and the zero point 0");
}

TEST_CASE("Peepholes on integers read as many cells as there are results", "[compiler][operators]") {
    DrawnLstm layer = cell_of_integers(0);
    for (std::size_t gate = 0; gate < lstm_gates; ++gate) {
        layer.tensors.at(at::state_weights + gate) = constant(quantized({1, 2}, 1.0 / 32.0, 0, {0, 0}));
        if (gate == candidate) continue;
        Tensor peephole = constant(tensor_of<std::int16_t>({1}, DataType::Int16, {0}));
        peephole.quantization = ir::Quantization{{1.0}, {0}, {}};
        layer.tensors.at(peephole_of(gate)) = peephole;
    }
    layer.tensors.at(at::projection) = constant(quantized({2, 1}, 1.0 / 64.0, 0, {64, 32}));
    CHECK(
        lstm_error(layer) ==
        "node 0 \"node\": it has peepholes, 1 cells and 2 results; on integers, with peepholes, they must be "
        "as many");
    for (std::size_t gate = 0; gate < lstm_gates; ++gate)
        layer.tensors.at(at::peepholes + gate % 3) = absent();
    // 23 is let out, and then 33: 23 and 11, 33 and 16.
    CHECK(bytes_of_results(layer) == std::vector<std::int8_t>{23 - 5, 12 - 5, 33 - 5, 17 - 5});
}

TEST_CASE("An LSTM counts the products of its gates and of its projection", "[compiler][operators]") {
    DrawnLstm layer = LstmDraw(1, false).draw();
    const ir::Graph graph = read_node(layer.node(), layer.given());
    const ir::NodeView node(graph, graph.nodes.front());
    const std::size_t gates = layer.has(at::input_weights) ? 4 : 3;
    const std::size_t of_step = gates * layer.cells * (layer.inputs + layer.results) +
                                (layer.has(at::projection) ? layer.cells * layer.results : 0);
    CHECK(graph.nodes.front().op->macs(node) == layer.steps * layer.rows * of_step);
}

TEST_CASE("The images of a batch are apart where they are the first axis", "[compiler][operators]") {
    const bool is_time_major = GENERATE(false, true);
    DrawnLstm layer = cell_of_integers(0);
    layer.is_time_major = is_time_major;
    const ir::Graph graph = read_node(layer.node(), layer.given());
    std::vector<bool> has_batch(graph.nodes.front().inputs.size(), false);
    has_batch.front() = true;
    const ir::NodeView node(graph, graph.nodes.front());
    CHECK(graph.nodes.front().op->on_one_image(node, has_batch).has_value() == !is_time_major);
}

TEST_CASE("An LSTM on a mix of real numbers and integers is refused", "[compiler][operators]") {
    DrawnLstm layer = cell_of_integers(0);
    layer.tensors[0] = reals({1, 2, 1}, {0.0F, 0.0F});
    CHECK(lstm_error(layer) ==
          "node 0 \"node\": its sequence and its result must both be float32, or int8 with one scale each");
    layer.result = {};
    CHECK(lstm_error(layer) == "node 0 \"node\": sequence_lstm works on float32; int8 is not supported");
}

TEST_CASE("An LSTM whose inputs do not fit is refused", "[compiler][operators]") {
    DrawnLstm layer = cell_of_integers(0);
    layer.tensors.at(at::biases + 1) = list({0, 0});
    CHECK(lstm_error(layer) ==
          "layer \"node\": its biases are 2; by its sequence and its other weights they must be 1");
    layer = cell_of_integers(0);
    layer.tensors[0] = quantized({1, 2}, 1.0, 0, {0, 0});
    CHECK(lstm_error(layer) ==
          "layer \"node\": its sequence is 1x2; it must have 3 axes: of images, steps and elements");
    layer = cell_of_integers(0);
    layer.tensors.at(at::input_weights) = absent();
    CHECK(lstm_error(layer) ==
          "layer \"node\": it has input 5 without others of its kind; all of a kind must be there, or none");
    layer = cell_of_integers(0);
    layer.tensors.at(at::peepholes + 2) = list({0});
    CHECK(lstm_error(layer) == "layer \"node\": its input 9 is left out; it must be given");
    layer = cell_of_integers(0);
    layer.options["fused_activation_function"] = "NONE";
    CHECK(lstm_error(layer) ==
          "layer \"node\": fused_activation_function is \"NONE\"; it must be TANH, RELU, RELU6 or "
          "RELU_N1_TO_1");
}
