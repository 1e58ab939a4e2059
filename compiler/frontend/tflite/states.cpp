#include "compiler/frontend/tflite/states.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "compiler/ir/model_error.h"

namespace systole::frontend::tflite {
namespace {

using nlohmann::json;

struct StateInput {
    std::string_view op;
    std::size_t input = 0;
};
constexpr std::array<StateInput, 3> state_inputs{
    {{"SVDF", 4}, {"UNIDIRECTIONAL_SEQUENCE_LSTM", 18}, {"UNIDIRECTIONAL_SEQUENCE_LSTM", 19}}};

const Tensor& state_of(const File& file, const Operator& node, std::size_t input) {
    if (node.inputs() != nullptr && input < node.inputs()->size()) {
        const std::int32_t number = node.inputs()->Get(static_cast<std::uint32_t>(input));
        if (number != -1 && file.tensor(number).is_variable()) return file.tensor(number);
    }
    throw ModelError(fmt::format("it has no state; its input {} must be a variable", input));
}

/// Lists of scales and zero points, a number each.
struct Encodings {
    json scales = json::array();
    json zero_points = json::array();

    void add(const std::optional<ir::Quantization>& quantization) {
        scales.push_back(quantization ? quantization->scales.front() : 0.0);
        zero_points.push_back(quantization ? quantization->zero_points.front() : 0);
    }
    void write(json& options, const std::string& of) const {
        options[of + "_scale"] = scales;
        options[of + "_zero_point"] = zero_points;
    }
};

}  // namespace

bool is_state(std::string_view op, std::size_t input) {
    return std::ranges::any_of(
        state_inputs, [&](const StateInput& state) { return state.op == op && state.input == input; });
}

void add_state_options(const File& file, const Operator& node, std::string_view op, json& options) {
    Encodings states;
    for (const StateInput& state : state_inputs) {
        if (state.op == op) states.add(type_of(state_of(file, node, state.input)).quantization);
    }
    if (states.scales.empty()) return;
    states.write(options, "state");
    Encodings between;
    if (node.intermediates() != nullptr) {
        for (const std::int32_t number : *node.intermediates()) {
            between.add(number == -1 ? std::nullopt : type_of(file.tensor(number)).quantization);
        }
    }
    between.write(options, "intermediate");
}

}  // namespace systole::frontend::tflite
