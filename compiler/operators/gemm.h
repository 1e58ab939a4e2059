#pragma once

#include <cstddef>

namespace systole::operators {

/// C (m x n) = A (m x k) * B (k x n), all packed and row major, on one thread.
void multiply(const float* a, const float* b, float* c, std::size_t m, std::size_t n, std::size_t k);

/// Adds bias[column] to every row of C (m x n); nothing where the bias is null.
void add_bias(float* c, const float* bias, std::size_t m, std::size_t n);

}  // namespace systole::operators
