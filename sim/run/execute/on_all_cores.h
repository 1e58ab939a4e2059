#pragma once

#include <cstddef>
#include <functional>

namespace systole::run {

/// Calls work(0) to work(count - 1) in threads, one for each core; the calling thread is one of them.
/// Rethrows the first exception that a thread ends with. `each` is called by the calling thread after each of
/// its calls. No thread is left when it returns, so that the process may fork.
void on_all_cores(std::size_t count, const std::function<void(std::size_t)>& work,
                  const std::function<void(std::size_t done)>& each = {});

}  // namespace systole::run
