#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compiler/graph/graph.h"
#include "compiler/graph/operators/activation.h"
#include "compiler/graph/operators/add.h"
#include "compiler/graph/operators/concat.h"
#include "compiler/graph/operators/dense.h"
#include "compiler/graph/operators/multiply.h"
#include "compiler/graph/operators/slice.h"
#include "tests/support/graphs.h"

namespace systole::tests {

/// A step of a stack of LSTM cells.
struct LstmShape {
    std::uint32_t inputs = 1;  ///< elements of x
    std::uint32_t hidden = 1;  ///< elements of each cell's h and c
    std::uint32_t cells = 1;
    /// Parts of the one vector that holds x and all states begin at multiples of so many elements.
    std::uint32_t alignment = 1;

    std::uint32_t aligned(std::uint32_t elements) const {
        return (elements + alignment - 1) / alignment * alignment;
    }
    /// Elements of that vector: x, then h and c of each cell; what aligns them is not used.
    std::uint32_t vector_elements() const { return aligned(inputs) + 2 * cells * aligned(hidden); }
};

/// Appends a stack of LSTM cells to a graph, all of `bits` bits.
class LstmBuilder {
public:
    LstmBuilder(graph::Graph& graph, GraphParts& parts, const LstmShape& shape, std::uint8_t bits)
        : graph_(graph), parts_(parts), shape_(shape), bits_(bits) {}

    /// `vector` holds x and the states. Gives h and c of each cell behind the step, one behind the other.
    std::vector<graph::NodeId> append(graph::NodeId vector) {
        std::vector<graph::NodeId> states;
        graph::NodeId x = slice("x", vector, 0, shape_.inputs);
        std::uint32_t first = shape_.aligned(shape_.inputs);
        for (std::uint32_t cell = 0; cell < shape_.cells; ++cell) {
            prefix_ = "cell" + std::to_string(cell) + "/";
            const graph::NodeId h = slice("h", vector, first, shape_.hidden);
            const graph::NodeId c = slice("c", vector, first + shape_.aligned(shape_.hidden), shape_.hidden);
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
        graph::NodeId h, c;
    };

    graph::NodeId node(const std::string& name, std::unique_ptr<graph::Operator> op,
                       std::vector<graph::NodeId> inputs) {
        return graph_.append(prefix_ + name, std::move(op), std::move(inputs), bits_);
    }
    graph::NodeId slice(const std::string& name, graph::NodeId vector, std::uint32_t first,
                        std::uint32_t count) {
        return node(name, std::make_unique<graph::Slice>(first, count), {vector});
    }
    graph::NodeId function(const std::string& name, graph::ActivationFunction kind, graph::NodeId input) {
        return node(name, std::make_unique<graph::Activation>(kind), {input});
    }
    graph::NodeId gate(const std::string& name, graph::ActivationFunction kind, graph::NodeId xh) {
        auto dense = parts_.dense(graph_.nodes[xh].shape, shape_.hidden, true);
        // As networks begin to be trained: sums keep the size of the inputs.
        for (float& weight : dense->weights) weight /= std::sqrt(static_cast<float>(dense->in_elements));
        return function(name, kind, node(name + "/sum", std::move(dense), {xh}));
    }
    graph::NodeId product(const std::string& name, graph::NodeId a, graph::NodeId b) {
        return node(name, std::make_unique<graph::Multiply>(), {a, b});
    }

    State append_cell(graph::NodeId x, graph::NodeId h, graph::NodeId c) {
        using enum graph::ActivationFunction;
        const graph::NodeId xh = node("xh", std::make_unique<graph::Concat>(), {x, h});
        const graph::NodeId f = gate("f", Sigmoid, xh);
        const graph::NodeId i = gate("i", Sigmoid, xh);
        const graph::NodeId o = gate("o", Sigmoid, xh);
        const graph::NodeId g = gate("g", Tanh, xh);
        const graph::NodeId kept = product("f*c", f, c);
        const graph::NodeId added = product("i*g", i, g);
        const graph::NodeId next_c = node("next_c", std::make_unique<graph::Add>(), {kept, added});
        const graph::NodeId next_h = product("next_h", o, function("tanh_c", Tanh, next_c));
        return {next_h, next_c};
    }

    graph::Graph& graph_;
    GraphParts& parts_;
    const LstmShape shape_;
    const std::uint8_t bits_;
    std::string prefix_;
};

/// The step as a network of its own: from the vector of x and states to that of the new states.
inline graph::Graph lstm_graph(const LstmShape& shape, GraphParts& parts, std::uint8_t bits = 16) {
    graph::Graph graph = graph_of({1, 1, shape.vector_elements()});
    graph.nodes[0].activation_bits = bits;
    const std::vector<graph::NodeId> states = LstmBuilder(graph, parts, shape, bits).append(0);
    graph.append("states", std::make_unique<graph::Concat>(), states, bits);
    return graph;
}

}  // namespace systole::tests
