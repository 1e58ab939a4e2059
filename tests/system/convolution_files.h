#pragma once

#include <tflite_generated.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/compiler/frontend/keras_file.h"
#include "tests/unit/compiler/frontend/onnx_model.h"
#include "tests/unit/compiler/frontend/tflite_file.h"

/// Random chains of convolutions with dilation, strides, groups and depthwise filters, as files of every
/// format, and their multiply-accumulates, counted here from shapes and attributes alone.
namespace systole::tests {

/// One direction of a layer's windows.
struct WindowAxis {
    std::uint32_t input = 1, kernel = 1, stride = 1, dilation = 1;
    bool is_same = false;  ///< padding; otherwise none

    /// The windows, counted one by one.
    std::uint32_t windows() const {
        std::uint32_t count = 0;
        for (std::uint32_t first = 0; first < input; first += stride) {
            if (is_same || first + (kernel - 1) * dilation < input) ++count;
        }
        return count;
    }
};

struct ConvolutionLayer {
    WindowAxis rows, columns;
    std::uint32_t channels = 1;  ///< of the input
    std::uint32_t groups = 1;
    std::uint32_t filters = 1;  ///< of a depthwise layer `multiplier` for each channel
    bool is_depthwise = false;

    std::uint32_t multiplier() const { return filters / channels; }
    /// A filter meets the channels of its group, at each element of the kernel, in each window.
    std::uint64_t macs() const {
        const std::uint64_t met = is_depthwise ? 1 : channels / groups;
        return std::uint64_t{rows.windows()} * columns.windows() * filters * met * rows.kernel *
               columns.kernel;
    }
};

enum class NetworkFormat : std::uint8_t { GraphJson, Onnx, Keras, Tflite };

class ConvolutionChain {
public:
    ConvolutionChain(NetworkFormat format, std::uint32_t seed) : format_(format), random_(seed) {
        std::uint32_t height = below(14) + 6, width = below(14) + 6, channels = below(20) + 1;
        const std::uint32_t count = below(3) + 1;
        while (layers_.size() < count) {
            const bool is_same = below(2) == 0;
            ConvolutionLayer layer{.rows = axis(height, is_same), .columns = axis(width, is_same)};
            layer.channels = channels;
            // Neither Keras nor graph files have strides and dilation at once, or groups.
            layer.is_depthwise = below(4) == 0;
            layer.groups = has_groups() && !layer.is_depthwise ? common_divisor(channels) : 1;
            layer.filters = layer.is_depthwise ? channels * (below(2) + 1)
                                               : layer.groups * (below(40 / layer.groups) + 1);
            // As many groups as channels are a depthwise convolution in ONNX, and the counts are the same.
            layers_.push_back(layer);
            height = layer.rows.windows();
            width = layer.columns.windows();
            channels = layer.filters;
        }
    }

    const std::vector<ConvolutionLayer>& layers() const { return layers_; }
    std::uint64_t macs() const {
        std::uint64_t sum = 0;
        for (const ConvolutionLayer& layer : layers_) sum += layer.macs();
        return sum;
    }

    /// Writes the network into a folder and returns the file's path.
    std::filesystem::path write(const std::filesystem::path& folder) {
        switch (format_) {
            case NetworkFormat::GraphJson:
                return written(folder / "net.json", graph_json().dump());
            case NetworkFormat::Onnx:
                return written(folder / "net.onnx", onnx());
            case NetworkFormat::Keras:
                keras().write(folder / "net.h5");
                return folder / "net.h5";
            case NetworkFormat::Tflite:
                return written(folder / "net.tflite", tflite());
        }
        return {};
    }

private:
    std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }
    bool has_groups() const { return format_ == NetworkFormat::Onnx || format_ == NetworkFormat::Keras; }

    WindowAxis axis(std::uint32_t input, bool is_same) {
        WindowAxis axis{.input = input, .kernel = below(3) + 1, .is_same = is_same};
        if (below(2) == 0) axis.dilation = below(5) + 1;
        const bool may_stride = axis.dilation == 1 || format_ == NetworkFormat::Onnx;
        if (may_stride && below(3) == 0) axis.stride = below(3) + 1;
        while (!is_same && (axis.kernel - 1) * axis.dilation >= input) {
            --(axis.dilation > 1 ? axis.dilation : axis.kernel);
        }
        return axis;
    }
    std::uint32_t common_divisor(std::uint32_t channels) {
        std::uint32_t groups = below(channels) + 1;
        while (channels % groups != 0) --groups;
        return groups;
    }
    static std::string name(std::size_t layer) { return "c" + std::to_string(layer); }

    static std::filesystem::path written(const std::filesystem::path& path, const std::string& bytes) {
        std::ofstream(path, std::ios::binary) << bytes;
        return path;
    }

    nlohmann::json graph_json() const {
        nlohmann::json layers = nlohmann::json::array();
        for (std::size_t i = 0; i < layers_.size(); ++i) {
            const ConvolutionLayer& each = layers_[i];
            nlohmann::json layer{{"name", name(i)},
                                 {"op", each.is_depthwise ? "depthwise_convolution" : "convolution"},
                                 {"inputs", {i == 0 ? "input" : name(i - 1)}},
                                 {"kernel", {each.rows.kernel, each.columns.kernel}},
                                 {"stride", {each.rows.stride, each.columns.stride}},
                                 {"padding", each.rows.is_same ? "same" : "valid"}};
            if (each.rows.dilation != 1 || each.columns.dilation != 1) {
                layer["dilation"] = {each.rows.dilation, each.columns.dilation};
            }
            if (each.is_depthwise) {
                layer["multiplier"] = each.multiplier();
            } else {
                layer["filters"] = each.filters;
            }
            layers.push_back(layer);
        }
        const ConvolutionLayer& first = layers_.front();
        return {{"schema", "sim.graph/1"},
                {"name", "net"},
                {"input", {{"shape", {first.rows.input, first.columns.input, first.channels}}}},
                {"weights", {{"seed", 1}}},
                {"layers", layers},
                {"output", name(layers_.size() - 1)}};
    }

    std::string onnx() const {
        OnnxModel model;
        const ConvolutionLayer& first = layers_.front();
        model.input("x", {1, first.channels, first.rows.input, first.columns.input});
        for (std::size_t i = 0; i < layers_.size(); ++i) {
            const ConvolutionLayer& each = layers_[i];
            const std::uint32_t groups = each.is_depthwise ? each.channels : each.groups;
            const Extents kernel{each.filters, each.channels / groups, each.rows.kernel, each.columns.kernel};
            const std::string weights = "w" + std::to_string(i);
            model.floats(weights, kernel, values_of(kernel));
            ::onnx::NodeProto& node = model.node("Conv", {i == 0 ? "x" : name(i - 1), weights}, {name(i)});
            with_attribute(node, "strides", Extents{each.rows.stride, each.columns.stride});
            with_attribute(node, "dilations", Extents{each.rows.dilation, each.columns.dilation});
            with_attribute(node, "group", std::int64_t{groups});
            with_attribute(node, "auto_pad", each.rows.is_same ? "SAME_UPPER" : "VALID");
        }
        model.output(name(layers_.size() - 1));
        return model.bytes();
    }

    KerasFile keras() const {
        using Json = nlohmann::json;
        const ConvolutionLayer& first = layers_.front();
        const auto layer = [](const char* kind, Json config) {
            return Json{{"class_name", kind}, {"config", std::move(config)}};
        };
        Json list = Json::array();
        list.push_back(
            layer("InputLayer",
                  {{"name", "in"},
                   {"batch_shape", {nullptr, first.rows.input, first.columns.input, first.channels}}}));
        KerasFile file{.model_config = {}, .layers = {}};
        for (std::size_t i = 0; i < layers_.size(); ++i) {
            const ConvolutionLayer& each = layers_[i];
            Json config{{"name", name(i)},
                        {"kernel_size", {each.rows.kernel, each.columns.kernel}},
                        {"strides", {each.rows.stride, each.columns.stride}},
                        {"dilation_rate", {each.rows.dilation, each.columns.dilation}},
                        {"padding", each.rows.is_same ? "same" : "valid"},
                        {"use_bias", false}};
            if (each.is_depthwise) {
                config["depth_multiplier"] = each.multiplier();
            } else {
                config["filters"] = each.filters;
                config["groups"] = each.groups;
            }
            list.push_back(layer(each.is_depthwise ? "DepthwiseConv2D" : "Conv2D", config));
            const std::vector<hsize_t> shape{each.rows.kernel, each.columns.kernel,
                                             each.is_depthwise ? each.channels : each.channels / each.groups,
                                             each.is_depthwise ? each.multiplier() : each.filters};
            std::vector<double> values(shape[0] * shape[1] * shape[2] * shape[3], 0.01);
            const std::string role = each.is_depthwise ? "/depthwise_kernel:0" : "/kernel:0";
            file.layers[name(i)] = {{.name = name(i) + role, .shape = shape, .values = std::move(values)}};
        }
        file.model_config =
            Json{{"class_name", "Sequential"}, {"config", {{"name", "net"}, {"layers", list}}}}.dump();
        return file;
    }

    std::string tflite() const {
        using Type = format::TensorType;
        using Op = format::BuiltinOperator;
        TfliteFile file;
        const TensorScale scale{{0.5F}, {0}};
        const auto extent = [](std::uint32_t value) { return static_cast<std::int32_t>(value); };
        const ConvolutionLayer& first = layers_.front();
        const std::int32_t input = file.tensor(
            "x", Type::INT8,
            {1, extent(first.rows.input), extent(first.columns.input), extent(first.channels)}, scale);
        std::int32_t last = input;
        for (std::size_t i = 0; i < layers_.size(); ++i) {
            const ConvolutionLayer& each = layers_[i];
            const format::Padding padding =
                each.rows.is_same ? format::Padding::SAME : format::Padding::VALID;
            std::vector<std::int32_t> shape{each.is_depthwise ? 1 : extent(each.filters),
                                            extent(each.rows.kernel), extent(each.columns.kernel),
                                            extent(each.is_depthwise ? each.filters : each.channels)};
            const std::vector<std::int8_t> values(std::size_t{each.rows.kernel} * each.columns.kernel *
                                                      each.filters * (each.is_depthwise ? 1 : each.channels),
                                                  3);
            const std::int32_t weights = file.constant<std::int8_t>("w" + std::to_string(i), Type::INT8,
                                                                    shape, values, {{0.01F}, {0}});
            const std::int32_t result = file.tensor(
                name(i), Type::INT8,
                {1, extent(each.rows.windows()), extent(each.columns.windows()), extent(each.filters)},
                scale);
            const std::int32_t stride_y = extent(each.rows.stride), stride_x = extent(each.columns.stride);
            constexpr auto none = format::ActivationFunctionType::NONE;
            if (each.is_depthwise) {
                file.node(Op::DEPTHWISE_CONV_2D, {last, weights}, {result},
                          format::BuiltinOptions::DepthwiseConv2DOptions,
                          format::CreateDepthwiseConv2DOptions(
                              file.builder(), padding, stride_x, stride_y, extent(each.multiplier()), none,
                              extent(each.columns.dilation), extent(each.rows.dilation)));
            } else {
                file.node(
                    Op::CONV_2D, {last, weights, -1}, {result}, format::BuiltinOptions::Conv2DOptions,
                    format::CreateConv2DOptions(file.builder(), padding, stride_x, stride_y, none,
                                                extent(each.columns.dilation), extent(each.rows.dilation)));
            }
            last = result;
        }
        const std::vector<std::uint8_t> bytes = file.finish({input}, {last});
        return {bytes.begin(), bytes.end()};
    }

    static std::vector<float> values_of(const Extents& shape) {
        std::size_t elements = 1;
        for (const std::int64_t extent : shape) elements *= static_cast<std::size_t>(extent);
        return std::vector<float>(elements, 0.01F);
    }

    NetworkFormat format_;
    std::mt19937 random_;
    std::vector<ConvolutionLayer> layers_;
};

}  // namespace systole::tests
