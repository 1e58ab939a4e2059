// Reading of UNIDIRECTIONAL_SEQUENCE_LSTM.
#include "compiler/operators/sequence_lstm/tflite.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/operators/file_nodes.h"
#include "compiler/operators/sequence_lstm/form.h"

namespace systole::operators::sequence_lstm {
namespace {

namespace in_file {
// The inputs of a node of a file. Older files end before the factors of the normalization.
constexpr std::size_t input_weights = 1;
constexpr std::size_t state_weights = 5;
constexpr std::array<std::size_t, 3> peepholes{9, 10, 11};
constexpr std::size_t biases = 12;
constexpr std::size_t projection = 16;
constexpr std::size_t projection_bias = 17;
constexpr std::size_t normalization = 20;
constexpr std::size_t fewest_inputs = 20;
constexpr std::size_t most_inputs = 24;

// What the reader of files finds for the states, and for the tensors between inputs and result.
constexpr const char* state_scale = "state_scale";
constexpr const char* state_zero_point = "state_zero_point";
constexpr const char* between_scale = "intermediate_scale";
constexpr const char* between_zero_point = "intermediate_zero_point";
constexpr std::size_t cell = 1;    ///< among the states
constexpr std::size_t hidden = 4;  ///< among the tensors between
constexpr std::size_t tensors_between = 5;
}  // namespace in_file

class TfliteNode {
public:
    explicit TfliteNode(ir::LayerReader& layer) : layer_(layer) {
        const std::size_t count = layer.inputs().size();
        if (count != in_file::fewest_inputs && count != in_file::most_inputs) {
            layer.fail(fmt::format("it has {} inputs; it must have {} or {}", count, in_file::fewest_inputs,
                                   in_file::most_inputs));
        }
        form_ = {.has_input_gate = has(in_file::input_weights + input_gate),
                 .has_peepholes = has(in_file::peepholes.back()),
                 .projects = has(in_file::projection),
                 .has_projection_bias = has(in_file::projection_bias),
                 .normalizes = has(in_file::normalization + forget_gate)};
    }

    ir::Results append() {
        std::vector<ir::ValueId> inputs{input_of(layer_, 0)};
        add(inputs, in_file::input_weights, true);
        add(inputs, in_file::state_weights, true);
        for (const std::size_t input : in_file::peepholes) {
            const bool is_used =
                form_.has_peepholes && (form_.has_input_gate || input != in_file::peepholes.front());
            add_one(inputs, input, is_used);
        }
        add(inputs, in_file::biases, true);
        add_one(inputs, in_file::projection, form_.projects);
        add_one(inputs, in_file::projection_bias, form_.has_projection_bias);
        add(inputs, in_file::normalization, form_.normalizes);
        std::vector<ir::NamedAttribute> attributes = attributes_of(form_);
        attributes.emplace_back("time_major", std::int64_t{layer_.boolean("time_major", false) ? 1 : 0});
        attributes.emplace_back("function", function());
        attributes.emplace_back("cell_clip", double{layer_.number("cell_clip", 0.0F)});
        attributes.emplace_back("projection_clip", double{layer_.number("proj_clip", 0.0F)});
        if (layer_.declared_result(0).type != DataType::Float32) add_scales(attributes);
        return append_declared(layer_, "sequence_lstm", std::move(attributes), std::move(inputs));
    }

private:
    bool has(std::size_t input) const { return layer_.input_if_any(input).has_value(); }

    void add_one(std::vector<ir::ValueId>& inputs, std::size_t input, bool is_used) const {
        if (is_used) {
            inputs.push_back(input_of(layer_, input));
        } else if (has(input)) {
            layer_.fail(fmt::format(
                "it has input {} without others of its kind; all of a kind must be there, or none", input));
        }
    }

    /// Adds the inputs of the gates from a number on.
    void add(std::vector<ir::ValueId>& inputs, std::size_t first, bool is_used) const {
        for (std::size_t gate = 0; gate < gate_count; ++gate) {
            add_one(inputs, first + gate, is_used && (form_.has_input_gate || gate != input_gate));
        }
    }

    std::string function() const {
        constexpr const char* key = "fused_activation_function";
        // With NONE, the runtime's results are not those of a function that changes nothing.
        constexpr std::array<std::pair<std::string_view, const char*>, 4> names{
            {{"TANH", "tanh"}, {"RELU", "relu"}, {"RELU6", "relu6"}, {"RELU_N1_TO_1", "relu_n1_to_1"}}};
        const std::string given = layer_.text(key, "NONE");
        const auto* const found =
            std::ranges::find_if(names, [&](const auto& name) { return name.first == given; });
        if (found == names.end()) {
            layer_.fail(key, "it must be TANH, RELU, RELU6 or RELU_N1_TO_1");
        }
        return found->second;
    }

    std::vector<double> numbers(const char* key) const {
        return layer_.numbers(key).value_or(std::vector<double>{});
    }

    void add_scales(std::vector<ir::NamedAttribute>& attributes) const {
        const std::vector<double> scales = numbers(in_file::between_scale);
        if (scales.size() != in_file::tensors_between) {
            layer_.fail(
                fmt::format("it has {} intermediate tensors; on integers it must have {}, of the "
                            "kernel with a cell of int16",
                            scales.size(), in_file::tensors_between));
        }
        if (!(scales[in_file::hidden] > 0.0))
            layer_.fail("its intermediate tensor 4 has no scale; it must have one");
        const auto result = layer_.declared_result(0).quantization;
        const bool is_alike = result && result->scales.front() == numbers(in_file::state_scale).front() &&
                              numbers(in_file::state_zero_point).front() == result->zero_points.front();
        if (!is_alike) {
            layer_.fail("its state and its result must have one scale and zero point; they have others");
        }
        if (numbers(in_file::state_zero_point)[in_file::cell] != 0.0)
            layer_.fail("its cell must have the zero point 0");
        attributes.emplace_back("cell_scale", numbers(in_file::state_scale)[in_file::cell]);
        attributes.emplace_back("hidden_scale", scales[in_file::hidden]);
        attributes.emplace_back(
            "hidden_zero_point",
            static_cast<std::int64_t>(numbers(in_file::between_zero_point)[in_file::hidden]));
        // The runtime takes those of the gates' functions where it does not normalize.
        for (std::size_t gate = 0; form_.normalizes && gate < gate_count; ++gate) {
            if (gate == input_gate && !form_.has_input_gate) continue;
            if (!(scales[gate] > 0.0)) {
                layer_.fail(fmt::format("its intermediate tensor {} has no scale; it must have one", gate));
            }
            attributes.emplace_back(scale_attributes.at(gate), scales[gate]);
        }
    }

    ir::LayerReader& layer_;
    Form form_;
};

}  // namespace

ir::LayerKind tflite_sequence_lstm() {
    return {.format = ir::Format::Tflite,
            .name = "UNIDIRECTIONAL_SEQUENCE_LSTM",
            .keys = {{"time_major", "`time_major`"},
                     {"fused_activation_function", "`function`"},
                     {"cell_clip", "`cell_clip`"},
                     {"proj_clip", "`projection_clip`"},
                     {in_file::state_scale, "on integers: that of the result, and `cell_scale`"},
                     {in_file::state_zero_point, "on integers: that of the result, and 0"},
                     {in_file::between_scale, "on integers: the scales of the gates, and `hidden_scale`"},
                     {in_file::between_zero_point, "on integers: the last one is `hidden_zero_point`"}},
            .build = [](ir::LayerReader& layer) { return TfliteNode(layer).append(); }};
}

}  // namespace systole::operators::sequence_lstm
