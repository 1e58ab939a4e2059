#include "sim/run/execute/layer_accuracy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/conversion.h"
#include "base/message_text.h"
#include "base/stored_integers.h"
#include "compiler/compile.h"
#include "compiler/ir/encoding.h"
#include "compiler/reference/executor.h"
#include "sim/run/calibration.h"
#include "sim/run/network_input.h"

namespace systole::run {
namespace {

/// Inferences that are compared: the reference on integers takes plain loops.
constexpr std::uint64_t most_inferences = 8;

/// What was compared of a value.
struct Sums {
    double signal = 0.0;
    double noise = 0.0;
    std::uint64_t numbers = 0;
    std::uint64_t clipped = 0;

    std::optional<double> decibels() const {
        // Two ways to compute the same float differ by as much.
        constexpr double rounding = 1e-12;
        if (signal == 0.0 || noise <= rounding * signal) return std::nullopt;
        constexpr double of_power = 10.0;
        return of_power * std::log10(signal / noise);
    }
};

/// The numbers of each value in float, by its id.
using Numbers = std::vector<std::vector<float>>;

Numbers numbers_in_float(const ir::Graph& graph, const std::vector<std::vector<float>>& inputs) {
    Numbers numbers(graph.values.size());
    const std::vector<std::span<const float>> spans(inputs.begin(), inputs.end());
    reference::execute(graph, spans, 1, [&](ir::ValueId id, std::span<const float> values) {
        numbers[id].insert(numbers[id].end(), values.begin(), values.end());
    });
    return numbers;
}

/// Whether a value has real numbers to compare: floats of the host, or integers of one scale.
bool has_real_numbers(const ir::Value& value) {
    if (value.type == DataType::Float32) return true;
    return is_integer(value.type) && value.quantization && !value.quantization->axis;
}

/// The real numbers that a value holds.
std::vector<double> real_numbers(const ir::Value& value, std::span<const std::uint8_t> bytes) {
    const std::size_t count = bytes.size() / bytes_of(value.type);
    if (value.type == DataType::Float32) {
        std::vector<float> floats(count);
        std::memcpy(floats.data(), bytes.data(), bytes.size());
        return {floats.begin(), floats.end()};
    }
    std::vector<std::int32_t> stored(count);
    widen(bytes.data(), value.type, stored);
    const ir::Encoding encoding = ir::encoding_of(value);
    std::vector<double> reals(count);
    std::ranges::transform(stored, reals.begin(), [&](std::int32_t number) { return encoding.real(number); });
    return reals;
}

/// The real numbers that the tensor of a value can hold, and those that are rounded to them.
std::pair<double, double> range_of(const ir::Value& value) {
    constexpr double all = std::numeric_limits<double>::infinity();
    if (value.type == DataType::Float32) return {-all, all};
    const ir::Encoding encoding = ir::encoding_of(value);
    const double half_step = encoding.scale / 2;
    return {encoding.real(lowest_of(value.type)) - half_step,
            encoding.real(highest_of(value.type)) + half_step};
}

/// Adds the numbers of a value of the network on integers, beside those in float.
void compare(const ir::Value& value, std::span<const std::uint8_t> bytes, std::span<const float> expected,
             Sums& sums) {
    if (!has_real_numbers(value)) return;
    const std::vector<double> numbers = real_numbers(value, bytes);
    if (numbers.size() != expected.size()) {
        throw std::logic_error(fmt::format("{} has {} numbers, and {} in float", in_quotes(value.name),
                                           numbers.size(), expected.size()));
    }
    const auto [lowest, highest] = range_of(value);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const double real = expected[i];
        const double error = numbers[i] - real;
        sums.signal += real * real;
        sums.noise += error * error;
        sums.clipped += real < lowest || real > highest ? 1 : 0;
    }
    sums.numbers += numbers.size();
}

/// The bytes of each input of the network on integers, for all inferences.
std::vector<std::vector<std::uint8_t>> stored_inputs(const RunSpec& spec, const ir::Graph& graph,
                                                     const ir::Graph& stored,
                                                     const std::vector<NamedImages>& inputs) {
    std::vector<std::vector<std::uint8_t>> bytes;
    const std::vector<Normalization> normalizations = normalizations_of(spec, graph);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const ir::Value& value = stored.values[stored.inputs[i]];
        Storage storage{.type = value.type};
        if (value.quantization) {
            const ir::Encoding encoding = ir::encoding_of(value);
            storage = {encoding.scale, encoding.zero_point, encoding.type, value.conversion};
        }
        std::vector<std::uint8_t>& of_input =
            bytes.emplace_back(inputs[i].images.size() * bytes_of(value.type));
        store(inputs[i].images, normalizations[i], storage, of_input);
    }
    return bytes;
}

/// The layers in order. A node that gives the host the real numbers of a tensor changes none of them.
std::vector<LayerAccuracy> layers_of(const ir::Graph& stored, std::span<const Sums> sums) {
    std::vector<LayerAccuracy> layers;
    const auto add = [&](ir::ValueId id, std::string kind, std::optional<double> worst_input) {
        const Sums& of_value = sums[id];
        if (of_value.numbers == 0) return;
        LayerAccuracy layer{.name = stored.values[id].name,
                            .kind = std::move(kind),
                            .decibels = of_value.decibels(),
                            .lost = {},
                            .numbers = of_value.numbers,
                            .clipped = of_value.clipped};
        if (worst_input && layer.decibels) layer.lost = *worst_input - *layer.decibels;
        layers.push_back(std::move(layer));
    };
    for (const ir::ValueId id : stored.inputs) add(id, "input", std::nullopt);
    for (const ir::Node& node : stored.nodes) {
        if (node.is("dequantize")) continue;
        std::optional<double> worst;
        for (const ir::ValueId input : node.inputs) {
            const std::optional<double> decibels = sums[input].decibels();
            if (decibels && (!worst || *decibels < *worst)) worst = decibels;
        }
        for (const ir::ValueId output : node.outputs) add(output, std::string(node.op->name()), worst);
    }
    return layers;
}

}  // namespace

std::vector<LayerAccuracy> layer_accuracy(const RunSpec& spec, const ir::Graph& graph,
                                          const std::vector<NamedImages>& inputs) {
    const compiler::QuantizedNetwork network =
        compiler::prepare_beside_float(graph, calibration_of(graph, spec, inputs));
    const std::vector<std::vector<std::uint8_t>> bytes = stored_inputs(spec, graph, network.stored, inputs);
    const std::vector<Normalization> normalizations = normalizations_of(spec, graph);
    const std::uint64_t all = inputs.front().images.count;
    std::vector<Sums> sums(network.stored.values.size());
    for (std::uint64_t image = 0; image < std::min(all, most_inferences); ++image) {
        std::vector<std::vector<float>> floats;
        std::vector<std::span<const std::uint8_t>> of_image;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            floats.push_back(to_floats(inputs[i].images, image, 1, normalizations[i]));
            const std::size_t size = bytes[i].size() / all;
            of_image.push_back(std::span(bytes[i]).subspan(image * size, size));
        }
        const Numbers expected = numbers_in_float(network.real, floats);
        reference::run(network.stored, of_image, 1,
                       [&](ir::ValueId id, std::span<const std::uint8_t> values) {
                           const std::optional<ir::ValueId> real = network.real_of[id];
                           if (!real) return;
                           compare(network.stored.values[id], values, expected[*real], sums[id]);
                       });
    }
    return layers_of(network.stored, sums);
}

}  // namespace systole::run
