#pragma once

#include <array>
#include <cstddef>
#include <string_view>

/// The six production workloads of the published measurements.
namespace systole::validate {

inline constexpr std::size_t workload_count = 6;
inline constexpr std::array<std::string_view, workload_count> workload_names{"MLP0",  "MLP1", "LSTM0",
                                                                             "LSTM1", "CNN0", "CNN1"};
template <class T>
using ByWorkload = std::array<T, workload_count>;

enum Workload : std::size_t { MLP0, MLP1, LSTM0, LSTM1, CNN0, CNN1 };

}  // namespace systole::validate
