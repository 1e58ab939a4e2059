#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace systole::bench {

/// Puts a figure into build/bench.json, beside those that other benchmarks have put there.
inline void record(const std::string& key, double value) {
    nlohmann::ordered_json figures = nlohmann::ordered_json::object();
    if (std::ifstream before(SYSTOLE_BENCH_RESULTS); before) {
        figures = nlohmann::ordered_json::parse(before, nullptr, false);
        if (!figures.is_object()) figures = nlohmann::ordered_json::object();
    }
    figures[key] = value;
    constexpr int indentation = 2;
    std::ofstream(SYSTOLE_BENCH_RESULTS) << figures.dump(indentation) << '\n';
}

}  // namespace systole::bench
