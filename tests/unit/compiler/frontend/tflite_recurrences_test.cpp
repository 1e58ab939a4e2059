// UNIDIRECTIONAL_SEQUENCE_LSTM as files have it: states that are variables, and tensors between its inputs
// and its result.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "compiler/frontend/tflite.h"
#include "compiler/ir/model_error.h"
#include "compiler/operators/operator.h"
#include "compiler/reference/executor.h"
#include "tests/unit/compiler/frontend/tflite_file.h"

using namespace systole;
using tests::TfliteFile;
namespace format = frontend::tflite;

namespace {

using LstmType = format::TensorType;
using LstmFunction = format::ActivationFunctionType;

/// A layer of one cell that reads two steps of one number. Its gates are 1/2; the candidate is the tanh of
/// the number.
struct LstmFile {
    bool is_integer = false;
    bool is_hybrid = false;
    bool has_cell = true;
    bool is_asymmetric = false;
    LstmFunction function = LstmFunction::TANH;
    std::vector<std::int32_t> shape = {1, 2, 1};

    std::vector<std::uint8_t> bytes() const {
        TfliteFile file;
        const LstmType type = is_integer ? LstmType::INT8 : LstmType::FLOAT32;
        const TfliteFile::Scale of_results = scale(1.0F / 128.0F, -5);
        const auto x = file.tensor("x", type, shape, scale(1.0F / 32.0F, 0));
        std::vector<std::int32_t> inputs(24, -1);
        inputs[0] = x;
        constexpr std::size_t gates = 4;
        for (std::size_t gate = 0; gate < gates; ++gate) {
            const bool is_candidate = gate == 2;
            inputs[1 + gate] = weight(file, "w" + std::to_string(gate), is_candidate ? 1 : 0);
            inputs[5 + gate] = weight(file, "r" + std::to_string(gate), 0);
            const std::string bias = "b" + std::to_string(gate);
            inputs[12 + gate] = is_integer
                                    ? file.constant(bias, LstmType::INT32, {1}, std::vector<std::int32_t>{0})
                                    : file.constant(bias, LstmType::FLOAT32, {1}, std::vector<float>{0.0F});
        }
        inputs[18] = file.variable("h", type, {1, 1}, of_results);
        if (has_cell) {
            inputs[19] = file.variable("c", is_integer ? LstmType::INT16 : LstmType::FLOAT32, {1, 1},
                                       scale(1.0F / 32768.0F, 0));
        }
        const auto y = file.tensor("y", type, shape, of_results);
        std::vector<std::int32_t> between;
        if (is_integer) {
            for (const char* const name : {"i", "f", "g", "o"})
                between.push_back(file.tensor(name, LstmType::FLOAT32, {0}));
            between.push_back(file.tensor("hidden", LstmType::INT8, {0}, of_results));
        }
        file.node(format::BuiltinOperator::UNIDIRECTIONAL_SEQUENCE_LSTM, inputs, {y},
                  format::BuiltinOptions::UnidirectionalSequenceLSTMOptions,
                  format::CreateUnidirectionalSequenceLSTMOptions(file.builder(), function, 0.0F, 0.0F, false,
                                                                  is_asymmetric),
                  between);
        return file.finish({x}, {y});
    }

private:
    TfliteFile::Scale scale(float scale, std::int64_t zero_point) const {
        return is_integer ? TfliteFile::Scale{{scale}, {zero_point}} : TfliteFile::Scale{};
    }
    std::int32_t weight(TfliteFile& file, const std::string& name, std::int8_t number) const {
        const TfliteFile::Scale unit{{1.0F}, {0}};
        if (is_integer || is_hybrid)
            return file.constant(name, LstmType::INT8, {1, 1}, std::vector<std::int8_t>{number}, unit);
        return file.constant(name, LstmType::FLOAT32, {1, 1}, std::vector<float>{static_cast<float>(number)});
    }
};

ir::Graph lstm_graph(const LstmFile& file) {
    return frontend::build_tflite_graph(file.bytes(), operators::registry());
}

template <typename Number>
std::vector<Number> run_lstm(const LstmFile& file, const std::vector<Number>& input) {
    reference::TensorBytes bytes(input.size() * sizeof(Number));
    std::memcpy(bytes.data(), input.data(), bytes.size());
    const std::span<const std::uint8_t> view = bytes;
    const reference::TensorBytes output = reference::run(lstm_graph(file), {&view, 1}, 1).front();
    std::vector<Number> numbers(output.size() / sizeof(Number));
    std::memcpy(numbers.data(), output.data(), output.size());
    return numbers;
}

std::string lstm_file_error(const LstmFile& file) {
    try {
        lstm_graph(file);
    } catch (const ModelError& error) {
        return error.what();
    }
    return "no error";
}

}  // namespace

TEST_CASE("UNIDIRECTIONAL_SEQUENCE_LSTM is one call, from states of 0", "[compiler][frontend][tflite]") {
    // The cell is tanh(1) / 2, then three quarters of it; half of its tanh is let out.
    const bool is_hybrid = GENERATE(false, true);
    const std::vector<float> results = run_lstm<float>({.is_hybrid = is_hybrid}, {1.0F, 1.0F});
    REQUIRE(results.size() == 2);
    CHECK(results[0] == Approx(std::tanh(std::tanh(1.0) / 2.0) / 2.0));
    CHECK(results[1] == Approx(std::tanh(0.75 * std::tanh(1.0)) / 2.0));
    // In units of 1/128, with a zero point of -5.
    CHECK(run_lstm<std::int8_t>({.is_integer = true}, {32, 32}) == std::vector<std::int8_t>{23 - 5, 33 - 5});
    CHECK(lstm_graph({.is_integer = true}).nodes.front().is("sequence_lstm"));
}

TEST_CASE("UNIDIRECTIONAL_SEQUENCE_LSTM applies another function to candidate and cell",
          "[compiler][frontend][tflite]") {
    const std::vector<float> results = run_lstm<float>({.function = LstmFunction::RELU}, {1.0F, -1.0F});
    CHECK(results == std::vector<float>{0.25F, 0.125F});
}

TEST_CASE("UNIDIRECTIONAL_SEQUENCE_LSTM that cannot be computed is refused", "[compiler][frontend][tflite]") {
    CHECK(lstm_file_error({.has_cell = false}) ==
          "layer \"y\": it has no state; its input 19 must be a variable (operator "
          "UNIDIRECTIONAL_SEQUENCE_LSTM)");
    CHECK(lstm_file_error({.is_asymmetric = true}) ==
          "layer \"y\": asymmetric_quantize_inputs is true; only false is supported (operator "
          "UNIDIRECTIONAL_SEQUENCE_LSTM)");
    CHECK(lstm_file_error({.function = LstmFunction::NONE}) ==
          "layer \"y\": fused_activation_function is \"NONE\"; it must be TANH, RELU, RELU6 or RELU_N1_TO_1 "
          "(operator UNIDIRECTIONAL_SEQUENCE_LSTM)");
}
