#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "compiler/ir/window.h"

namespace systole::tests {

/// Draws graph files (docs/graph_files.md) of image networks with branches and every 8-bit layer of the chip.
class RandomGraphFile {
public:
    explicit RandomGraphFile(std::uint32_t seed) : random_(seed) {}

    nlohmann::json draw() {
        layers_ = nlohmann::json::array();
        shapes_ = {{"input", {below(8) + 2, below(8) + 2, below(6) + 1}}};
        const nlohmann::json shape{shapes_[0].shape.height, shapes_[0].shape.width,
                                   shapes_[0].shape.channels};
        const std::uint32_t count = below(8) + 2;
        while (layers_.size() < count) add_layer();
        join_loose_ends();
        return {{"schema", "sim.graph/1"},          {"name", "random"},  {"input", {{"shape", shape}}},
                {"weights", {{"seed", random_()}}}, {"layers", layers_}, {"output", shapes_.back().name}};
    }

private:
    struct Result {
        std::string name;
        ir::FeatureMap shape;
        bool read = false;
    };

    std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }
    /// Usually the last result, sometimes any result.
    std::size_t pick() {
        return below(3) == 0 ? below(static_cast<std::uint32_t>(shapes_.size())) : shapes_.size() - 1;
    }

    void append(nlohmann::json layer, const std::vector<std::size_t>& inputs, const ir::FeatureMap& shape) {
        layer["name"] = "l" + std::to_string(shapes_.size());
        layer["inputs"] = nlohmann::json::array();
        for (const std::size_t input : inputs) {
            layer["inputs"].push_back(shapes_[input].name);
            shapes_[input].read = true;
        }
        shapes_.push_back({layer["name"], shape});
        layers_.push_back(std::move(layer));
    }

    const char* activation() {
        constexpr std::array names{"linear", "relu", "sigmoid", "tanh"};
        return names.at(below(names.size()));
    }

    void add_layer() {
        const std::size_t input = pick();
        const ir::FeatureMap from = shapes_[input].shape;
        ir::FeatureMap to = from;
        const std::uint32_t kernel = below(3) + 1;
        const std::uint32_t stride = below(2) + 1;
        const auto window = [&](nlohmann::json layer) {
            to.height = (from.height + stride - 1) / stride;
            to.width = (from.width + stride - 1) / stride;
            layer.update({{"kernel", kernel}, {"stride", stride}, {"padding", "same"}});
            return layer;
        };
        const auto dilated = [&](nlohmann::json layer) {
            if (below(3) == 0) layer["dilation"] = {below(3) + 1, below(3) + 1};
            return layer;
        };
        nlohmann::json layer;
        std::vector<std::size_t> inputs{input};
        switch (below(9)) {
            case 0:
            case 1:
                layer = dilated(window({{"op", "convolution"}, {"activation", activation()}}));
                to.channels = below(12) + 1;
                layer["filters"] = to.channels;
                break;
            case 2:
                layer = dilated(window({{"op", "depthwise_convolution"}, {"activation", activation()}}));
                to.channels = 2 * from.channels;
                layer["multiplier"] = 2;
                break;
            case 3:
                layer = window({{"op", below(2) == 0 ? "max_pool" : "average_pool"}});
                break;
            case 4:
                layer["op"] = "batch_normalization";
                break;
            case 5:
                layer["op"] = activation();
                break;
            case 6:
                layer["op"] = "add";
                inputs.push_back(other_like(input));
                break;
            case 7:
                // Two layers with the same windows.
                layer = window({{"op", "convolution"}, {"activation", activation()}});
                to.channels = below(12) + 1;
                layer["filters"] = to.channels;
                append(layer, inputs, to);
                to.channels = below(12) + 1;
                layer["filters"] = to.channels;
                layer["activation"] = activation();
                break;
            default:
                layer["op"] = "concat";
                inputs.push_back(other_like(input));
                to.channels += shapes_[inputs.back()].shape.channels;
        }
        append(std::move(layer), inputs, to);
    }

    /// Another result of the same shape, if there is one.
    std::size_t other_like(std::size_t one) {
        for (std::size_t i = 0; i < shapes_.size(); ++i) {
            if (i != one && shapes_[i].shape == shapes_[one].shape) return i;
        }
        return one;
    }

    /// Combines all results without readers: dense layers of one width, added up.
    void join_loose_ends() {
        const std::uint32_t units = below(20) + 1;
        std::vector<std::size_t> loose;
        for (std::size_t i = 0; i < shapes_.size(); ++i) {
            if (!shapes_[i].read) loose.push_back(i);
        }
        std::size_t sum = 0;
        for (std::size_t i = 0; i < loose.size(); ++i) {
            append({{"op", "dense"}, {"units", units}, {"activation", activation()}}, {loose[i]},
                   {1, 1, units});
            const std::size_t joined = shapes_.size() - 1;
            if (i > 0) append({{"op", "add"}}, {sum, joined}, {1, 1, units});
            sum = shapes_.size() - 1;
        }
    }

    std::mt19937 random_;
    nlohmann::json layers_;
    std::vector<Result> shapes_;
};

}  // namespace systole::tests
