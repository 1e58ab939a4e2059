// Where tensors that stay in memory lie: each word has one row and lane, and no row is lost above 2^32.
#include "hw/isa/resident.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <vector>

#include "base/arithmetic.h"
#include "base/limits.h"
#include "tests/support/random_runs.h"

using namespace systole;
using isa::ResidentTensor;

namespace {

/// The row of a word by the formula of docs/isa.md, "Tensors that stay in memory".
std::uint64_t row_of_word(const ResidentTensor& tensor, std::uint64_t lanes, std::uint64_t word) {
    std::uint64_t row = tensor.first_row + word % tensor.columns / lanes * tensor.panel_rows;
    std::uint64_t rest = word / tensor.columns;
    for (std::size_t axis = tensor.axes.size(); axis-- > 0; rest /= tensor.axes[axis].extent)
        row += rest % tensor.axes[axis].extent * tensor.axes[axis].apart;
    return row + rest * tensor.inference_rows;
}

}  // namespace

TEST_CASE("The parts of a tensor that stays in memory are its words in order", "[isa][resident]") {
    for (std::uint32_t seed = 1; seed <= systole::tests::random_runs(200); ++seed) {
        INFO("seed " << seed);
        std::mt19937 random(seed);
        const auto below = [&](std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); };
        ResidentTensor tensor{.inferences = 1 + below(3),
                              .first_row = below(100),
                              .inference_rows = below(60),
                              .panel_rows = below(200),
                              .columns = 1 + below(20)};
        for (std::uint32_t axes = below(4); axes > 0; --axes)
            tensor.axes.push_back({.extent = 1 + below(4), .apart = below(30)});
        const std::uint64_t lanes = 1 + below(8);
        std::uint64_t next = 0;
        std::uint64_t end = 0;
        isa::for_each_part(tensor, lanes, [&](std::uint64_t word, std::uint64_t row, std::uint64_t count) {
            REQUIRE(word == next);
            REQUIRE(count > 0);
            // A part begins in lane 0 of a panel and ends with the panel or the tensor's row.
            CHECK(word % tensor.columns % lanes == 0);
            CHECK((count == lanes || (word + count) % tensor.columns == 0));
            for (std::uint64_t i = 0; i < count; ++i) REQUIRE(row == row_of_word(tensor, lanes, word + i));
            next += count;
            end = std::max(end, row + 1);
        });
        CHECK(next == tensor.words());
        CHECK(end == tensor.end_row(lanes));
    }
}

TEST_CASE("Rows of a tensor above 2^32 are above it however they are counted", "[isa][resident]") {
    std::uint32_t inside = 0;
    for (std::uint32_t seed = 1; seed <= systole::tests::random_runs(2000); ++seed) {
        INFO("seed " << seed);
        std::mt19937_64 random(seed);
        // Numbers of any magnitude; many are the largest.
        const auto number = [&](std::uint32_t least) {
            const std::uint64_t drawn = random() % 4 == 0 ? UINT32_MAX : random() >> (32 + random() % 32);
            return std::max(least, static_cast<std::uint32_t>(drawn));
        };
        ResidentTensor tensor{.inferences = number(1),
                              .first_row = number(0),
                              .inference_rows = number(0),
                              .panel_rows = number(0),
                              .columns = number(1)};
        for (std::uint64_t axes = random() % 4; axes > 0; --axes)
            tensor.axes.push_back({.extent = number(1), .apart = number(0)});
        // Some have few rows that are not where the first is.
        for (std::uint32_t* const apart : {&tensor.inference_rows, &tensor.panel_rows}) {
            if (random() % 2 == 0) *apart = 0;
        }
        for (isa::RowAxis& axis : tensor.axes) {
            if (random() % 2 == 0) axis.extent = 1;
        }
        const std::uint64_t lanes = 1 + random() % 1024;
        const auto span = [](std::uint64_t count, std::uint64_t apart) { return Uint128{count - 1} * apart; };
        Uint128 end = Uint128{tensor.first_row} + 1 + span(tensor.inferences, tensor.inference_rows) +
                      span(divide_up(std::uint64_t{tensor.columns}, lanes), tensor.panel_rows);
        for (const isa::RowAxis& axis : tensor.axes) end += span(axis.extent, axis.apart);
        const std::uint64_t found = tensor.end_row(lanes);
        CHECK((found > hbm_row_limit) == (end > hbm_row_limit));
        if (end > hbm_row_limit) continue;
        ++inside;
        CHECK(found == static_cast<std::uint64_t>(end));
    }
    CHECK(inside >= systole::tests::random_share(200));
    // Inferences go beyond the last row, and one panel adds nothing.
    const ResidentTensor beyond{
        .inferences = 2, .first_row = UINT32_MAX, .inference_rows = 1, .axes = {{.extent = 1, .apart = 0}}};
    CHECK(beyond.end_row(8) > hbm_row_limit);
    CHECK(ResidentTensor{.first_row = UINT32_MAX}.end_row(8) == hbm_row_limit);
}
