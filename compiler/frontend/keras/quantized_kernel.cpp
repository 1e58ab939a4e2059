// Keras quantizes the kernels of Dense layers: to 8 bits with a scale for each unit, or to 4 bits with a
// scale for each unit or for each block of inputs and unit.
#include "compiler/frontend/keras/quantized_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "base/arithmetic.h"
#include "base/message_text.h"
#include "compiler/ir/model_error.h"

namespace systole::frontend {
namespace {

using Extents = std::vector<std::uint64_t>;

/// The mode in "int8_from_float32" and in "int4/128_from_float32"; "" in "float32".
std::string mode_in(const std::string& policy) {
    const std::size_t end = policy.find("_from_");
    return end == std::string::npos ? "" : policy.substr(0, std::min(end, policy.find('/')));
}

/// The numbers of 4 bits in each byte, the low half first, along the last axis or, as in Keras before 3.13,
/// along the first.
Array unpacked(const Array& packed, const Extents& shape, bool along_first) {
    constexpr int half_values = 16;
    constexpr int first_negative = 8;
    Array numbers{.shape = shape, .values = std::vector<float>(shape[0] * shape[1])};
    for (std::uint64_t row = 0; row < shape[0]; ++row) {
        for (std::uint64_t column = 0; column < shape[1]; ++column) {
            const std::uint64_t place =
                along_first ? row / 2 * shape[1] + column : row * packed.shape[1] + column / 2;
            const auto byte = static_cast<std::uint8_t>(static_cast<std::int8_t>(packed.values[place]));
            const bool is_high = (along_first ? row : column) % 2 == 1;
            const int half = is_high ? byte / half_values : byte % half_values;
            numbers.values[row * shape[1] + column] =
                static_cast<float>(half < first_negative ? half : half - half_values);
        }
    }
    return numbers;
}

/// A kernel and what belongs to it.
class QuantizedKernel {
public:
    QuantizedKernel(const Hdf5File& file, const KerasLayer& layer, const FindVariable& find)
        : file_(file), layer_(layer), find_(find) {
        const auto use_bias = layer.config.find("use_bias");
        const bool has_bias = use_bias == layer.config.end() || *use_bias != false;
        first_scale_ = has_bias ? 2 : 1;
    }

    std::vector<float> read(const std::string& mode, const Extents& shape) const {
        const Array stored = variable("kernel", 0);
        const Array kernel = mode == "int8" ? stored : unpacked_kernel(stored, shape);
        if (kernel.shape != shape) fail_shape("kernel", stored.shape, shape);
        check_range(stored);
        const Array scale = variable("kernel_scale", first_scale_);
        const std::uint64_t units = shape[1];
        if (scale.shape == Extents{units}) return by_unit(kernel, scale);
        if (mode == "int4" && scale.shape.size() == 2 && scale.shape[0] > 0 && scale.shape[1] == units) {
            return by_block(kernel, scale);
        }
        fail_shape("kernel_scale", scale.shape, {units});
    }

private:
    Array variable(std::string_view role, std::size_t number) const {
        const auto name = find_(role, number);
        if (!name) fail(layer_, fmt::format("the file has no {} for it", role));
        return file_.read_numbers(*name);
    }

    [[noreturn]] void fail_shape(std::string_view role, const Extents& is, const Extents& must_be) const {
        fail(layer_, fmt::format("its {} is [{}]; by its configuration it must be [{}]", role, joined(is),
                                 joined(must_be)));
    }

    Array unpacked_kernel(const Array& stored, const Extents& shape) const {
        const Extents by_row{shape[0], divide_up(shape[1], std::uint64_t{2})};
        const Extents by_column{divide_up(shape[0], std::uint64_t{2}), shape[1]};
        if (stored.shape != by_row && stored.shape != by_column) fail_shape("kernel", stored.shape, by_row);
        check_range(stored);
        return unpacked(stored, shape, stored.shape != by_row);
    }

    void check_range(const Array& stored) const {
        constexpr float lowest = -128.0F;
        constexpr float highest = 127.0F;
        const auto is_byte = [](float number) {
            return number >= lowest && number <= highest &&
                   number == static_cast<float>(static_cast<int>(number));
        };
        if (!std::ranges::all_of(stored.values, is_byte)) fail(layer_, "its kernel must be of int8");
    }

    /// stored / scale
    std::vector<float> by_unit(const Array& kernel, const Array& scale) const {
        const auto is_scale = [](float number) { return number > 0.0F; };
        if (!std::ranges::all_of(scale.values, is_scale)) fail(layer_, "its scales must be above 0");
        std::vector<float> real(kernel.values.size());
        for (std::size_t i = 0; i < real.size(); ++i) {
            real[i] = kernel.values[i] / scale.values[i % scale.values.size()];
        }
        return real;
    }

    /// (stored - zero point) * scale, those of the block that the input is in
    std::vector<float> by_block(const Array& kernel, const Array& scale) const {
        const Array zero = variable("kernel_zero", first_scale_ + 1);
        const Array blocks = variable("g_idx", first_scale_ + 2);
        if (zero.shape != scale.shape) fail_shape("kernel_zero", zero.shape, scale.shape);
        if (blocks.shape != Extents{kernel.shape[0]}) fail_shape("g_idx", blocks.shape, {kernel.shape[0]});
        const std::size_t units = kernel.shape[1];
        std::vector<float> real(kernel.values.size());
        for (std::size_t row = 0; row < kernel.shape[0]; ++row) {
            const float block = blocks.values[row];
            if (block < 0.0F || block >= static_cast<float>(scale.shape[0])) {
                fail(layer_, fmt::format("input {} is in block {}; it has {}", row, block, scale.shape[0]));
            }
            const std::size_t first = static_cast<std::size_t>(block) * units;
            for (std::size_t unit = 0; unit < units; ++unit) {
                const std::size_t place = row * units + unit;
                real[place] = (kernel.values[place] - zero.values[first + unit]) * scale.values[first + unit];
            }
        }
        return real;
    }

    const Hdf5File& file_;
    const KerasLayer& layer_;
    const FindVariable& find_;
    std::size_t first_scale_ = 0;  ///< its number among the variables
};

}  // namespace

std::string quantization_mode(const KerasLayer& layer) {
    const auto dtype = layer.config.find("dtype");
    if (dtype == layer.config.end()) return "";
    if (dtype->is_string()) return mode_in(dtype->get<std::string>());
    const nlohmann::json config =
        dtype->is_object() ? dtype->value("config", nlohmann::json()) : nlohmann::json();
    if (!config.is_object()) return "";
    const auto mode = config.find("mode");
    if (mode != config.end() && mode->is_string()) {
        const auto text = mode->get<std::string>();
        return text.substr(0, text.find('/'));
    }
    const auto name = config.find("name");
    return name != config.end() && name->is_string() ? mode_in(name->get<std::string>()) : "";
}

std::vector<float> read_quantized_kernel(const Hdf5File& file, const KerasLayer& layer,
                                         const WantedWeight& wanted, const FindVariable& find) {
    const std::string mode = quantization_mode(layer);
    if (mode != "int8" && mode != "int4") {
        fail(layer, fmt::format("it is quantized as {}; only int8 and int4 are supported", in_quotes(mode)));
    }
    if (layer.class_name != "Dense" || wanted.shape.size() != 2) {
        fail(layer, fmt::format("it is quantized as {}; only Dense layers are read so", in_quotes(mode)));
    }
    return QuantizedKernel(file, layer, find).read(mode, wanted.shape);
}

}  // namespace systole::frontend
