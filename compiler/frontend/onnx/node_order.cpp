#include "compiler/frontend/onnx/node_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <string>

#include "base/message_text.h"
#include "compiler/ir/model_error.h"

namespace systole::frontend::onnx_file {
namespace {

/// Calls for each tensor that a node reads, also from the graphs inside of it. protobuf limits their depth.
void for_each_read(const ::onnx::NodeProto& node, const std::function<void(const std::string&)>& call) {
    for (const std::string& input : node.input()) call(input);
    for (const auto& attribute : node.attribute()) {
        if (!attribute.has_g()) continue;
        for (const auto& inner : attribute.g().node()) for_each_read(inner, call);
        for (const auto& output : attribute.g().output()) call(output.name());
    }
}

}  // namespace

std::string name_of_node(const ::onnx::NodeProto& node) {
    if (!node.name().empty()) return node.name();
    for (const std::string& output : node.output()) {
        if (!output.empty()) return output;
    }
    return node.op_type();
}

std::string node_place(const ::onnx::NodeProto& node) {
    return fmt::format("node {} ({})", in_quotes(name_of_node(node)), in_quotes(node.op_type()));
}

std::vector<int> sorted_nodes(const Nodes& nodes) {
    std::map<std::string, int, std::less<>> makers;
    for (int id = 0; id < nodes.size(); ++id) {
        for (const std::string& output : nodes[id].output()) {
            if (!output.empty()) makers.emplace(output, id);
        }
    }
    std::vector<std::vector<int>> readers(static_cast<std::size_t>(nodes.size()));
    std::vector<std::size_t> awaited(readers.size(), 0);
    for (int id = 0; id < nodes.size(); ++id) {
        for_each_read(nodes[id], [&](const std::string& input) {
            const auto maker = makers.find(input);
            if (maker == makers.end()) return;
            readers[static_cast<std::size_t>(maker->second)].push_back(id);
            ++awaited[static_cast<std::size_t>(id)];
        });
    }
    std::priority_queue<int, std::vector<int>, std::greater<>> ready;
    for (int id = 0; id < nodes.size(); ++id) {
        if (awaited[static_cast<std::size_t>(id)] == 0) ready.push(id);
    }
    std::vector<int> order;
    while (!ready.empty()) {
        const int id = ready.top();
        ready.pop();
        order.push_back(id);
        for (const int reader : readers[static_cast<std::size_t>(id)]) {
            if (--awaited[static_cast<std::size_t>(reader)] == 0) ready.push(reader);
        }
    }
    if (order.size() < readers.size()) {
        const auto stuck = std::ranges::find_if(awaited, [](std::size_t count) { return count != 0; });
        throw ModelError(fmt::format("{}: its inputs depend on its own results",
                                     node_place(nodes[static_cast<int>(stuck - awaited.begin())])));
    }
    return order;
}

}  // namespace systole::frontend::onnx_file
