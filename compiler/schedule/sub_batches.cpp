#include "compiler/schedule/sub_batches.h"

#include <algorithm>
#include <cstddef>

#include "base/arithmetic.h"

namespace systole::schedule {
namespace {

/// Lifetimes that are looked at, at most: by each number of first layers that is tried, all of them.
constexpr std::size_t most_lifetimes = std::size_t{1} << 22;

}  // namespace

// Step 0 reads the input and step l + 1 computes layer l, so a group has steps 1 to `layers`.

bool belongs_to_group(const Lifetime& lifetime, const SubBatches& groups) {
    return lifetime.first_step > 0 && lifetime.last_step <= groups.layers;
}

std::vector<Lifetime> lifetimes_in_groups(std::span<const Lifetime> one_image, std::uint32_t images,
                                          const SubBatches& groups) {
    std::vector<Lifetime> lifetimes(one_image.begin(), one_image.end());
    for (Lifetime& lifetime : lifetimes) {
        if (belongs_to_group(lifetime, groups)) {
            lifetime.rows *= groups.images;
            continue;
        }
        lifetime.rows *= images;
        if (lifetime.first_step <= groups.layers) {
            lifetime.first_step = 0;
            lifetime.last_step = std::max(lifetime.last_step, groups.layers);
        }
    }
    return lifetimes;
}

std::optional<SubBatches> find_sub_batches(std::span<const Lifetime> one_image, std::uint32_t images,
                                           std::uint64_t rows, std::span<const std::uint32_t> tiles,
                                           std::uint64_t limit) {
    std::optional<SubBatches> best;
    std::uint64_t first_tiles = 0;  // tiles of the layers that process groups
    for (std::uint32_t layers = 1; layers < tiles.size(); ++layers) {
        first_tiles += tiles[layers - 1];
        if (first_tiles >= limit || layers * one_image.size() > most_lifetimes) break;
        std::uint32_t tried = images;  // several counts have groups of the same size
        for (std::uint32_t count = 2; count <= images && first_tiles * (count - 1) < limit; ++count) {
            const SubBatches groups{.layers = layers, .images = divide_up(images, count)};
            const std::uint64_t again = first_tiles * (divide_up(images, groups.images) - 1);
            if (again >= limit) break;
            if (groups.images == tried) continue;
            tried = groups.images;
            const std::vector<Lifetime> lifetimes = lifetimes_in_groups(one_image, images, groups);
            if (rows_at_once(lifetimes) > rows || allocate_rows(lifetimes).rows > rows) continue;
            best = groups;
            limit = again;
            break;
        }
    }
    return best;
}

}  // namespace systole::schedule
