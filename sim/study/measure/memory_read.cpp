#include "sim/study/measure/memory_read.h"

#include <chrono>
#include <memory>
#include <stdexcept>

#include "hw/base/arithmetic.h"

namespace systole::measure {

Timing time_memory_read(std::uint64_t bytes, double minimum_seconds) {
    const auto words = static_cast<std::int64_t>(divide_up(bytes, sizeof(std::uint64_t)));
    // Not initialized here: each thread first touches the part that it will read, so that the part is in
    // memory near to its core.
    const auto buffer = std::make_unique_for_overwrite<std::uint64_t[]>(static_cast<std::size_t>(words));
    std::uint64_t* const data = buffer.get();
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < words; ++i) data[i] = 3;

    std::vector<double> seconds;
    for (const Repetitions repetitions(minimum_seconds); !repetitions.enough(seconds.size());) {
        const auto begun = std::chrono::steady_clock::now();
        std::uint64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
        for (std::int64_t i = 0; i < words; ++i) sum += data[i];
        seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
        if (sum != 3 * static_cast<std::uint64_t>(words)) throw std::logic_error("memory was misread");
    }
    return summarize(std::move(seconds));
}

}  // namespace systole::measure
