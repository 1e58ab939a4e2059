#pragma once

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Graph files of small layers, as many as wanted.
namespace systole::tests {

/// Writes the layers of a graph file.
class LargeGraph {
public:
    /// Adds a layer and returns its name.
    std::string add(std::string_view op, std::vector<std::string> inputs, nlohmann::json keys = {}) {
        std::string name = fmt::format("{}{}", op, layers_.size());
        keys["name"] = name;
        keys["op"] = op;
        keys["inputs"] = std::move(inputs);
        layers_.push_back(std::move(keys));
        return name;
    }
    std::string dense(const std::string& input) { return add("dense", {input}, {{"units", width}}); }
    std::string sum(const std::string& a, const std::string& b) { return add("add", {a, b}); }
    std::size_t size() const { return layers_.size(); }

    nlohmann::json file(std::string_view name) {
        const std::string output = layers_.back()["name"];
        return {{"schema", "sim.graph/1"},  {"name", name},      {"input", {{"shape", {width}}}},
                {"weights", {{"seed", 1}}}, {"layers", layers_}, {"output", output}};
    }

    static constexpr int width = 16;

private:
    nlohmann::json layers_ = nlohmann::json::array();
};

/// The shapes of large networks.
inline constexpr std::array<std::string_view, 9> large_shapes{
    "wide", "fan_in", "fan_out", "deep", "elementwise", "functions", "residual", "ladder", "host"};

/// A network of this shape with about so many layers.
inline nlohmann::json large_graph(std::string_view shape, std::size_t layers) {
    LargeGraph graph;
    if (shape == "wide") {  // readers of the input, concatenated
        std::vector<std::string> parts;
        while (parts.size() < layers) parts.push_back(graph.dense("input"));
        graph.add("concat", parts);
    } else if (shape == "fan_in") {  // readers of the input, added up in a tree
        std::vector<std::string> level;
        while (level.size() < layers / 2) level.push_back(graph.dense("input"));
        while (level.size() > 1) {
            std::vector<std::string> sums;
            for (std::size_t i = 0; i + 1 < level.size(); i += 2) {
                sums.push_back(graph.sum(level[i], level[i + 1]));
            }
            if (level.size() % 2 == 1) sums.push_back(level.back());
            level = std::move(sums);
        }
    } else if (shape == "fan_out") {  // readers of one result, added up one by one
        const std::string read = graph.dense("input");
        std::string last = read;
        while (graph.size() < layers) last = graph.sum(last, graph.dense(read));
    } else if (shape == "deep") {
        std::string last = "input";
        while (graph.size() < layers) last = graph.dense(last);
    } else if (shape == "elementwise") {
        std::string last = graph.dense("input");
        while (graph.size() < layers) last = graph.sum(last, last);
    } else if (shape == "functions") {
        std::string last = graph.dense("input");
        while (graph.size() < layers) last = graph.add(graph.size() % 2 == 0 ? "tanh" : "sigmoid", {last});
    } else if (shape == "residual") {
        std::string last = graph.dense("input");
        while (graph.size() < layers) last = graph.sum(last, graph.dense(last));
    } else if (shape == "ladder") {  // results that are read again at the end, the first one last
        std::vector<std::string> results{graph.dense("input")};
        while (graph.size() < layers / 2) results.push_back(graph.dense(results.back()));
        std::string last = results.back();
        for (std::size_t i = results.size(); i-- > 0;) last = graph.sum(last, results[i]);
    } else {  // work of the host between that of the chip
        std::string last = graph.dense("input");
        while (graph.size() < layers) last = graph.dense(graph.add("softmax", {last}));
    }
    return graph.file(shape);
}

}  // namespace systole::tests
