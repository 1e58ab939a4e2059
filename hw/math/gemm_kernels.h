#pragma once

#include "hw/math/gemm.h"

namespace systole::math {

/// The arguments of `multiply_accumulate`. The kernels need m, n, k >= 1.
struct GemmProblem {
    GemmOperand a;
    GemmOperand b;
    std::int32_t* c = nullptr;
    std::size_t ldc = 0;
    std::size_t m = 0;
    std::size_t n = 0;
    std::size_t k = 0;
    bool accumulate = false;
};

/// The project's own kernel: exact for all formats, on every processor.
void gemm_portable(const GemmProblem& problem);

/// oneDNN's kernel for A of 8 bits and B int8. Exact only if `onednn_is_exact`. Throws std::logic_error for
/// other formats and for arguments that oneDNN refuses.
void gemm_onednn(const GemmProblem& problem);

/// Whether oneDNN's kernels are exact on this processor. Kernels for processors without VNNI add pairs of
/// products in 16 bits and saturate. The test multiplies extreme operands; it runs once per process.
bool onednn_is_exact();

}  // namespace systole::math
