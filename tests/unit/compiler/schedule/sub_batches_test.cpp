#include "compiler/schedule/sub_batches.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>

#include "tests/support/random_runs.h"

namespace systole::schedule {
namespace {

/// A chain: each layer's result lives until the next layer has read it.
std::vector<Lifetime> chain(const std::vector<std::uint64_t>& rows) {
    std::vector<Lifetime> lifetimes;
    for (std::uint32_t step = 0; step < rows.size(); ++step) {
        lifetimes.push_back({.rows = rows[step], .first_step = step, .last_step = step + 1});
    }
    return lifetimes;
}

}  // namespace

TEST_CASE("Tensors inside a group have rows for a group, other tensors for all images",
          "[compiler][schedule]") {
    // Input, two results of the group, what the group leaves behind, the output.
    const SubBatches groups{.layers = 3, .images = 2};
    const std::vector<Lifetime> lifetimes = lifetimes_in_groups(chain({5, 8, 4, 2, 1}), 6, groups);
    CHECK(lifetimes == std::vector<Lifetime>{{30, 0, 3}, {16, 1, 2}, {8, 2, 3}, {12, 0, 4}, {6, 4, 5}});
    CHECK(lifetimes_in_groups(chain({5, 8}), 6, {}) == std::vector<Lifetime>{{30, 0, 1}, {48, 1, 2}});
}

TEST_CASE("Groups fetch the fewest tiles again of all that fit", "[compiler][schedule]") {
    const std::uint32_t seed = 4711;
    INFO("seed " << seed);
    std::mt19937 random(seed);
    std::uint32_t found = 0, none = 0;
    for (std::uint32_t run = 0; run < tests::random_runs(300); ++run) {
        const std::size_t layers = random() % 7 + 1;
        std::vector<std::uint64_t> rows;
        std::vector<std::uint32_t> tiles;
        for (std::size_t l = 0; l <= layers; ++l) rows.push_back(random() % 20 + 1);
        for (std::size_t l = 0; l < layers; ++l) tiles.push_back(static_cast<std::uint32_t>(random() % 5));
        const std::vector<Lifetime> lifetimes = chain(rows);
        const auto images = static_cast<std::uint32_t>(random() % 8 + 1);
        // From half of what one group of all images takes to just that.
        const std::uint64_t whole = allocate_rows(lifetimes_in_groups(lifetimes, images, {})).rows;
        const std::uint64_t available = whole / 2 + random() % (whole / 2 + 1);
        const std::uint64_t limit = random() % 40;

        std::uint64_t fewest = limit;
        for (std::uint32_t first = 1; first < layers; ++first) {
            for (std::uint32_t size = 1; size < images; ++size) {
                const SubBatches groups{.layers = first, .images = size};
                const std::uint32_t count = (images + size - 1) / size;
                // A larger size for the same number of groups is not tried.
                if (size != (images + count - 1) / count) continue;
                const std::uint64_t again =
                    (count - 1) * std::accumulate(tiles.begin(), tiles.begin() + first, std::uint64_t{0});
                if (allocate_rows(lifetimes_in_groups(lifetimes, images, groups)).rows > available) continue;
                fewest = std::min(fewest, again);
            }
        }
        const auto groups = find_sub_batches(lifetimes, images, available, tiles, limit);
        REQUIRE(groups.has_value() == (fewest < limit));
        ++(groups ? found : none);
        if (!groups) continue;
        CHECK(allocate_rows(lifetimes_in_groups(lifetimes, images, *groups)).rows <= available);
        const std::uint64_t count = (images + groups->images - 1) / groups->images;
        CHECK((count - 1) *
                  std::accumulate(tiles.begin(), tiles.begin() + groups->layers, std::uint64_t{0}) ==
              fewest);
    }
    CHECK(found >= tests::random_share(31));
    CHECK(none >= tests::random_share(31));
}

}  // namespace systole::schedule
