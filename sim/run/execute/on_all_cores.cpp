#include "sim/run/execute/on_all_cores.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <vector>

#include "sim/run/execute/executor.h"

namespace systole::run {

void on_all_cores(std::size_t count, const std::function<void(std::size_t)>& work,
                  const std::function<void(std::size_t done)>& each) {
    std::atomic<std::size_t> next = 0;
    const auto do_some = [&](const std::function<void(std::size_t)>& tell) {
        for (std::size_t i = next++; i < count; i = next++) {
            work(i);
            if (tell) tell(i + 1);
        }
    };
    std::vector<std::future<void>> others;
    for (std::size_t i = 1; i < std::min(cores(), count); ++i) {
        others.push_back(std::async(std::launch::async, [&] { do_some({}); }));
    }
    do_some(each);
    for (std::future<void>& other : others) other.get();
}

}  // namespace systole::run
