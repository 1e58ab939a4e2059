#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace systole::measure {

/// A matrix product: (m x k) * (k x n).
struct Product {
    std::string layer;
    std::uint64_t m = 0;
    std::uint64_t n = 0;
    std::uint64_t k = 0;

    std::uint64_t macs() const { return m * n * k; }
    bool operator==(const Product&) const = default;
};

/// The matrix products of a network for one batch.
struct Products {
    std::vector<Product> products;
    /// Layers that multiply and accumulate but are not a matrix product (a depthwise convolution).
    std::vector<std::string> left_out;

    std::uint64_t macs() const {
        std::uint64_t sum = 0;
        for (const Product& product : products) sum += product.macs();
        return sum;
    }
};

/// The rows of a dense layer are the inferences. The rows of a convolution are its windows (im2col): one for
/// each position of the output and each inference.
Products products_of(const ir::Graph& graph, std::uint32_t batch);

}  // namespace systole::measure
