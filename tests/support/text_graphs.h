#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "compiler/ir/text.h"
#include "compiler/operators/operator.h"
#include "compiler/reference/executor.h"

namespace systole::tests {

/// The graph of a text, which must be as the graph is printed.
inline ir::Graph graph_of_text(const std::string& text) {
    ir::Graph graph = ir::parse_graph(text, "test", operators::registry());
    CHECK(ir::to_text(graph) == text);
    return graph;
}

template <typename Number>
reference::TensorBytes bytes_of(const std::vector<Number>& numbers) {
    reference::TensorBytes bytes(numbers.size() * sizeof(Number));
    std::memcpy(bytes.data(), numbers.data(), bytes.size());
    return bytes;
}

template <typename Number>
std::vector<Number> numbers_of(const reference::TensorBytes& bytes) {
    std::vector<Number> numbers(bytes.size() / sizeof(Number));
    std::memcpy(numbers.data(), bytes.data(), bytes.size());
    return numbers;
}

}  // namespace systole::tests
