#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <vector>

namespace systole::tests {

/// Draws the parts of nodes.
class NodeDraw {
public:
    explicit NodeDraw(std::uint32_t seed) : generator_(seed) {}
    std::int64_t number(std::int64_t from, std::int64_t to) {
        return std::uniform_int_distribution<std::int64_t>(from, to)(generator_);
    }
    std::vector<float> values(std::int64_t count) {
        std::uniform_real_distribution<float> distribution(-1.0F, 1.0F);
        std::vector<float> list(static_cast<std::size_t>(count));
        for (float& value : list) value = distribution(generator_);
        return list;
    }

private:
    std::mt19937 generator_;
};

inline void check_near(const std::vector<float>& result, const std::vector<float>& expected) {
    REQUIRE(result.size() == expected.size());
    for (std::size_t i = 0; i < result.size(); ++i) {
        INFO("element " << i);
        REQUIRE(result[i] == Approx(expected[i]).margin(1e-4).epsilon(1e-4));
    }
}

}  // namespace systole::tests
