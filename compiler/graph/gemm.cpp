#include "compiler/graph/gemm.h"

#include <fmt/format.h>
#include <omp.h>
#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <stdexcept>

namespace systole::graph {
namespace {

/// Limits OpenMP to one thread within a scope, in the calling thread: oneDNN's own threads spin at
/// barriers, which costs more than it gains when the processors are shared.
class SingleThreaded {
public:
    SingleThreaded() : threads_(omp_get_max_threads()) { omp_set_num_threads(1); }
    ~SingleThreaded() { omp_set_num_threads(threads_); }
    SingleThreaded(const SingleThreaded&) = delete;
    SingleThreaded& operator=(const SingleThreaded&) = delete;

private:
    int threads_;
};

}  // namespace

void multiply(const float* a, const float* b, float* c, std::size_t m, std::size_t n, std::size_t k) {
    if (m == 0 || n == 0) return;
    if (k == 0) {
        std::fill_n(c, m * n, 0.0F);
        return;
    }
    const auto dimension = [](std::size_t value) { return static_cast<dnnl_dim_t>(value); };
    const SingleThreaded single_threaded;
    const dnnl_status_t status = dnnl_sgemm('N', 'N', dimension(m), dimension(n), dimension(k), 1.0F, a,
                                            dimension(k), b, dimension(n), 0.0F, c, dimension(n));
    if (status != dnnl_success) {
        throw std::logic_error(fmt::format("graph::multiply: m {}, n {}, k {}: oneDNN status {}", m, n, k,
                                           static_cast<int>(status)));
    }
}

void add_bias(float* c, const float* bias, std::size_t m, std::size_t n) {
    if (bias == nullptr) return;
    for (std::size_t row = 0; row < m; ++row) {
        for (std::size_t column = 0; column < n; ++column) c[row * n + column] += bias[column];
    }
}

}  // namespace systole::graph
