#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/source_dir.h"

namespace systole::bench {

/// Puts a figure into build/bench.json, beside those that other benchmarks have put there.
inline void record(const std::string& key, double value) {
    const std::string file = std::string(tests::source_dir()) + "/build/bench.json";
    nlohmann::ordered_json figures = nlohmann::ordered_json::object();
    if (std::ifstream before(file); before) {
        figures = nlohmann::ordered_json::parse(before, nullptr, false);
        if (!figures.is_object()) figures = nlohmann::ordered_json::object();
    }
    figures[key] = value;
    constexpr int indentation = 2;
    std::ofstream(file) << figures.dump(indentation) << '\n';
}

}  // namespace systole::bench
