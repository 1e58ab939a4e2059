#include "compiler/operators/gemm.h"

#include <fmt/format.h>
#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <stdexcept>

#include "hw/math/single_threaded.h"

namespace systole::operators {
void multiply(const float* a, const float* b, float* c, std::size_t m, std::size_t n, std::size_t k) {
    if (m == 0 || n == 0) return;
    if (k == 0) {
        std::fill_n(c, m * n, 0.0F);
        return;
    }
    const auto dimension = [](std::size_t value) { return static_cast<dnnl_dim_t>(value); };
    const math::SingleThreaded single_threaded;
    const dnnl_status_t status = dnnl_sgemm('N', 'N', dimension(m), dimension(n), dimension(k), 1.0F, a,
                                            dimension(k), b, dimension(n), 0.0F, c, dimension(n));
    if (status != dnnl_success) {
        throw std::logic_error(fmt::format("operators::multiply: m {}, n {}, k {}: oneDNN status {}", m, n, k,
                                           static_cast<int>(status)));
    }
}

void add_bias(float* c, const float* bias, std::size_t m, std::size_t n) {
    if (bias == nullptr) return;
    for (std::size_t row = 0; row < m; ++row) {
        for (std::size_t column = 0; column < n; ++column) c[row * n + column] += bias[column];
    }
}

}  // namespace systole::operators
