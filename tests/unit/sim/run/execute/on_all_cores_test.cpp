#include "sim/run/execute/on_all_cores.h"

#include <catch2/catch.hpp>
#include <numeric>
#include <stdexcept>
#include <vector>

using namespace systole;

namespace {

TEST_CASE("Each number is worked on once", "[run]") {
    for (const std::size_t count : {0U, 1U, 2U, 1000U}) {
        std::vector<int> calls(count, 0);
        std::size_t told = 0;
        run::on_all_cores(
            count, [&](std::size_t i) { ++calls[i]; }, [&](std::size_t done) { told = done; });
        CHECK(calls == std::vector<int>(count, 1));
        CHECK(told <= count);
    }
}

TEST_CASE("An exception of any thread reaches the caller", "[run]") {
    CHECK_THROWS_WITH(run::on_all_cores(100,
                                        [](std::size_t i) {
                                            if (i == 57) throw std::runtime_error("at 57");
                                        }),
                      "at 57");
}

}  // namespace
