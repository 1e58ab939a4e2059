#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/graphs.h"

namespace systole::tests {

/// A step of a stack of LSTM cells.
struct LstmShape {
    std::uint32_t inputs = 1;  ///< elements of x
    std::uint32_t hidden = 1;  ///< elements of each cell's h and c
    std::uint32_t cells = 1;
    /// The parts of the vector with x and all states begin at multiples of this number of elements.
    std::uint32_t alignment = 1;

    std::uint32_t aligned(std::uint32_t elements) const {
        return (elements + alignment - 1) / alignment * alignment;
    }
    /// Elements of that vector: x, then h and c of each cell, with unused elements for alignment.
    std::uint32_t vector_elements() const { return aligned(inputs) + 2 * cells * aligned(hidden); }
};

/// Appends a stack of LSTM cells to a graph, with activations of `bits` bits.
class LstmBuilder {
public:
    LstmBuilder(Graph& graph, GraphParts& parts, const LstmShape& shape, std::uint8_t bits)
        : graph_(graph), parts_(parts), shape_(shape), bits_(bits) {}

    /// `vector` holds x and the states. Returns h and c of each cell after the step, concatenated.
    std::vector<NodeId> append(NodeId vector) {
        std::vector<NodeId> states;
        NodeId x = slice("x", vector, 0, shape_.inputs);
        std::uint32_t first = shape_.aligned(shape_.inputs);
        for (std::uint32_t cell = 0; cell < shape_.cells; ++cell) {
            prefix_ = "cell" + std::to_string(cell) + "/";
            const NodeId h = slice("h", vector, first, shape_.hidden);
            const NodeId c = slice("c", vector, first + shape_.aligned(shape_.hidden), shape_.hidden);
            first += 2 * shape_.aligned(shape_.hidden);
            const auto [next_h, next_c] = append_cell(x, h, c);
            states.push_back(next_h);
            states.push_back(next_c);
            x = next_h;
        }
        return states;
    }

private:
    struct State {
        NodeId h, c;
    };

    NodeId node(const std::string& name, const Op& made, const std::vector<NodeId>& inputs) {
        return graph_.append(prefix_ + name, made, inputs, bits_);
    }
    NodeId slice(const std::string& name, NodeId vector, std::uint32_t first, std::uint32_t count) {
        return node(name, tests::slice(first, count), {vector});
    }
    NodeId function(const std::string& name, const std::string& kind, NodeId input) {
        return node(name, op(kind), {input});
    }
    NodeId gate(const std::string& name, const std::string& kind, NodeId xh) {
        Op made = parts_.dense(graph_.shape(xh), shape_.hidden, true);
        // The usual initialization: sums keep the magnitude of the inputs.
        const auto elements = static_cast<float>(made.weights_shape[0]);
        for (float& weight : made.weights) weight /= std::sqrt(elements);
        return function(name, kind, node(name + "/sum", made, {xh}));
    }
    NodeId product(const std::string& name, NodeId a, NodeId b) { return node(name, op("multiply"), {a, b}); }

    State append_cell(NodeId x, NodeId h, NodeId c) {
        const NodeId xh = node("xh", op("concat"), {x, h});
        const NodeId f = gate("f", "sigmoid", xh);
        const NodeId i = gate("i", "sigmoid", xh);
        const NodeId o = gate("o", "sigmoid", xh);
        const NodeId g = gate("g", "tanh", xh);
        const NodeId kept = product("f*c", f, c);
        const NodeId added = product("i*g", i, g);
        const NodeId next_c = node("next_c", op("add"), {kept, added});
        const NodeId next_h = product("next_h", o, function("tanh_c", "tanh", next_c));
        return {next_h, next_c};
    }

    Graph& graph_;
    GraphParts& parts_;
    const LstmShape shape_;
    const std::uint8_t bits_;
    std::string prefix_;
};

/// The step as a network of its own: from the vector of x and states to that of the new states.
inline Graph lstm_graph(const LstmShape& shape, GraphParts& parts, std::uint8_t bits = 16) {
    Graph graph({1, 1, shape.vector_elements()}, bits);
    const std::vector<NodeId> states = LstmBuilder(graph, parts, shape, bits).append(0);
    graph.append("states", op("concat"), states, bits);
    return graph;
}

}  // namespace systole::tests
