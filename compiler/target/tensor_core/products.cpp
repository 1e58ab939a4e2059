#include "compiler/target/tensor_core/products.h"

#include <cstddef>
#include <numeric>

#include "compiler/operators/leading_axes.h"

namespace systole::tensor_core {

ProductMatrices product_matrices(const ir::NodeView& node) {
    constexpr std::size_t matrix_axes = 2;
    const std::vector<std::size_t> sources = operators::leading_blocks(node, 0, matrix_axes);
    const std::vector<std::size_t> weights = operators::leading_blocks(node, 1, matrix_axes);
    // All runs of matrices that can be one are a multiple of this long.
    std::size_t together = 0;
    for (std::size_t first = 0; first < sources.size();) {
        std::size_t count = 1;
        while (first + count < sources.size() && weights[first + count] == weights[first] &&
               sources[first + count] == sources[first] + count) {
            ++count;
        }
        together = std::gcd(together, count);
        first += count;
    }
    if (together == sources.size()) return {};
    const ir::Shape& result = node.output().shape;
    const std::uint64_t rows = result[result.rank() - 2];
    ProductMatrices matrices{.rows = rows * together};
    for (std::size_t i = 0; i < sources.size(); i += together) {
        matrices.sources.push_back(sources[i] * rows);
        matrices.weights.push_back(weights[i]);
    }
    return matrices;
}

}  // namespace systole::tensor_core
