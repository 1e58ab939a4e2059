#pragma once

#include <omp.h>

namespace systole::math {

/// Limits OpenMP to one thread within a scope, in the calling thread only (it is a per-thread setting).
///
/// Debian's oneDNN shares each product out to all processors through libgomp, whose threads spin at
/// barriers: when a processor is busy with something else, a product of microseconds waits for a time
/// slice of milliseconds (measured: 200 times slower). Simulations run one process a processor anyway.
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
