#include "sim/run/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "hw/machine/config_error.h"
#include "sim/run/network.h"
#include "sim/run/network_input.h"

namespace systole::run {
namespace {

/// The number of input images for calibration if the run names no calibration images.
constexpr std::uint64_t calibration_images = 128;

/// The encoding in which a stored byte is a pixel, where pixels are all of the input.
std::optional<compiler::InputEncoding> pixel_encoding(const ir::Graph& graph, const RunSpec& spec,
                                                      const std::vector<NamedImages>& inputs) {
    if (std::ranges::any_of(inputs,
                            [](const NamedImages& each) { return each.images.pixels() == nullptr; })) {
        return std::nullopt;
    }
    const auto own = storage_of_pixels(normalizations_of(spec, graph).at(0));
    if (!own) return std::nullopt;
    return compiler::InputEncoding{own->scale, own->zero_point};
}

compiler::CalibrationMethod method_of(CalibrationMethod method) {
    switch (method) {
        case CalibrationMethod::MinMax:
            return compiler::CalibrationMethod::MinMax;
        case CalibrationMethod::Percentile:
            return compiler::CalibrationMethod::Percentile;
        case CalibrationMethod::LeastError:
            return compiler::CalibrationMethod::LeastError;
    }
    throw std::logic_error("a method that calibration does not know");
}

/// Throws InputError where each number of an input is 0: the ranges of all layers would follow from that.
void check_calibration(const NamedImages& named, std::span<const float> values) {
    if (std::ranges::any_of(values, [](float value) { return value != 0.0F; })) return;
    throw input::InputError(fmt::format(
        "{}: each number is 0; calibration needs images that the network typically sees", named.name));
}

}  // namespace

compiler::Calibration calibration_of(const ir::Graph& graph, const RunSpec& spec,
                                     const std::vector<NamedImages>& inputs) {
    compiler::Calibration calibration;
    if (spec.machine.computes_floats()) return calibration;
    calibration.encoding = pixel_encoding(graph, spec, inputs);
    calibration.quantizes_products =
        spec.machine.family == machine::Family::TpuV1 && spec.machine.weight_memory.writable.has_value();
    if (!graph.has_weights || ir::is_quantized(graph)) return calibration;
    const std::vector<Normalization> normalizations = normalizations_of(spec, graph);
    std::vector<NamedImages> read;
    if (!spec.data.calibration.empty()) {
        std::vector<InputFile> files;
        for (const Content& content : spec.data.calibration)
            files.push_back({.input = {}, .content = content});
        read = read_inputs(files, input_tensors(graph), spec.data.preparation, graph.name);
        for (std::size_t i = 0; i < read.size(); ++i) check_normalization(read[i], normalizations[i]);
    }
    const std::vector<NamedImages>& images = read.empty() ? inputs : read;
    if (images.empty()) {
        throw machine::ConfigError(fmt::format(
            "{}: quantization needs images that the network typically sees: give --calibration or --input",
            spec.network.value().path.text));
    }
    const std::uint64_t given = images.front().images.count;
    const std::uint64_t count = read.empty() ? std::min<std::uint64_t>(given, calibration_images) : given;
    for (std::size_t i = 0; i < images.size(); ++i) {
        std::vector<float> values = to_floats(images[i].images, 0, count, normalizations[i]);
        if (!read.empty()) check_calibration(images[i], values);
        if (i == 0) {
            calibration.inputs = std::move(values);
        } else {
            calibration.further_inputs.push_back(std::move(values));
        }
    }
    calibration.count = static_cast<std::uint32_t>(count);
    calibration.method = method_of(spec.data.calibration_method);
    return calibration;
}

}  // namespace systole::run
