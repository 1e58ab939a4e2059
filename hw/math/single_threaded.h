#pragma once

#include <omp.h>

namespace systole::math {

/// Limits OpenMP to one thread within a scope, for the calling thread only (it is a per-thread setting).
///
/// Debian's oneDNN distributes each product over all processors through libgomp, whose threads spin at
/// barriers. If a processor is busy, a product of microseconds waits for a time slice of milliseconds
/// (measured: 200 times slower). Simulations run one process per processor anyway.
class SingleThreaded {
public:
    SingleThreaded() : threads_(omp_get_max_threads()) { omp_set_num_threads(1); }
    ~SingleThreaded() { omp_set_num_threads(threads_); }
    SingleThreaded(const SingleThreaded&) = delete;
    SingleThreaded& operator=(const SingleThreaded&) = delete;

private:
    int threads_;
};

}  // namespace systole::math
