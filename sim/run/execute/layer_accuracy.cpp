#include "sim/run/execute/layer_accuracy.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "compiler/operators/encoding.h"
#include "compiler/operators/integer_types.h"
#include "compiler/reference/executor.h"
#include "hw/base/conversion.h"
#include "sim/run/compile.h"

namespace systole::run {
namespace {

/// Inferences that are compared: the reference on integers takes plain loops.
constexpr std::uint64_t most_inferences = 8;

/// The network in float and on integers. Values that stand for each other have one name.
struct Networks {
    ir::Graph real;
    ir::Graph stored;
};

Networks networks_of(const RunSpec& spec, const ir::Graph& graph, const std::vector<NamedImages>& inputs) {
    Networks networks;
    networks.stored = quantize(graph, spec, inputs, [&](std::string_view pass, const ir::Graph& after) {
        if (pass == "unite_ranges") networks.real = after;  // the last one in float
    });
    return networks;
}

/// What was compared of a value.
struct Sums {
    double signal = 0.0;
    double noise = 0.0;
    std::uint64_t numbers = 0;
    std::uint64_t clipped = 0;

    std::optional<double> decibels() const {
        if (signal == 0.0 || noise == 0.0) return std::nullopt;
        constexpr double of_power = 10.0;
        return of_power * std::log10(signal / noise);
    }
};

/// The numbers of each value in float, by name.
using Numbers = std::map<std::string, std::vector<float>, std::less<>>;

Numbers numbers_in_float(const ir::Graph& graph, const std::vector<std::vector<float>>& inputs) {
    Numbers numbers;
    const std::vector<std::span<const float>> spans(inputs.begin(), inputs.end());
    reference::execute(graph, spans, 1, [&](ir::ValueId id, std::span<const float> values) {
        numbers[graph.values[id].name].assign(values.begin(), values.end());
    });
    return numbers;
}

/// Adds the numbers of a stored value, beside those in float.
void compare(const ir::Value& value, std::span<const std::uint8_t> bytes, std::span<const float> expected,
             Sums& sums) {
    if (!is_integer(value.type) || !value.quantization || value.quantization->axis) return;
    std::vector<std::int32_t> stored(bytes.size() / bytes_of(value.type));
    if (stored.size() != expected.size()) return;
    operators::widen(bytes.data(), value.type, stored);
    const operators::Encoding encoding = operators::encoding_of(value);
    const double step = encoding.scale;
    const double lowest = encoding.real(lowest_of(value.type)) - step / 2;
    const double highest = encoding.real(highest_of(value.type)) + step / 2;
    for (std::size_t i = 0; i < stored.size(); ++i) {
        const double real = expected[i];
        const double error = encoding.real(stored[i]) - real;
        sums.signal += real * real;
        sums.noise += error * error;
        sums.clipped += real < lowest || real > highest ? 1 : 0;
    }
    sums.numbers += stored.size();
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
            const operators::Encoding encoding = operators::encoding_of(value);
            storage = {encoding.scale, encoding.zero_point, encoding.type, value.conversion};
        }
        std::vector<std::uint8_t>& of_input =
            bytes.emplace_back(inputs[i].images.size() * bytes_of(value.type));
        store(inputs[i].images, normalizations[i], storage, of_input);
    }
    return bytes;
}

/// The layers in order. A node that turns a value into real numbers, or back, changes none of them.
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
    const Networks networks = networks_of(spec, graph, inputs);
    const std::vector<std::vector<std::uint8_t>> bytes = stored_inputs(spec, graph, networks.stored, inputs);
    const std::vector<Normalization> normalizations = normalizations_of(spec, graph);
    const std::uint64_t all = inputs.front().images.count;
    std::vector<Sums> sums(networks.stored.values.size());
    for (std::uint64_t image = 0; image < std::min(all, most_inferences); ++image) {
        std::vector<std::vector<float>> floats;
        std::vector<std::span<const std::uint8_t>> of_image;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            floats.push_back(to_floats(inputs[i].images, image, 1, normalizations[i]));
            const std::size_t size = bytes[i].size() / all;
            of_image.push_back(std::span(bytes[i]).subspan(image * size, size));
        }
        const Numbers expected = numbers_in_float(networks.real, floats);
        reference::run(networks.stored, of_image, 1,
                       [&](ir::ValueId id, std::span<const std::uint8_t> values) {
                           const ir::Value& value = networks.stored.values[id];
                           const auto found = expected.find(value.name);
                           if (found != expected.end()) compare(value, values, found->second, sums[id]);
                       });
    }
    return layers_of(networks.stored, sums);
}

}  // namespace systole::run
