#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "compiler/ir/feature_map.h"
#include "compiler/target/tpu_v1/network/chunking.h"
#include "compiler/target/tpu_v1/network/tiling.h"

namespace systole::tpu_v1 {

/// Allocates accumulator rows in equal parts, used in turn, so that parts can be activated while the matrix
/// unit fills another. Two parts (halves) are enough if a chunk is streamed against several weight tiles.
/// With a single tile, more parts are in use at any time: a chunk occupies its rows from their entry into the
/// array until, as many cycles plus a delay later, all of them are activated.
class AccumulatorParts {
public:
    static constexpr std::uint32_t halves = 2;
    static constexpr std::uint32_t quarters = 4;
    /// Limits the number of instructions: each chunk is one for each of two units.
    static constexpr std::uint32_t most = 16;
    /// Where the work of several slices takes turns. Larger chunks give the fetches of weights more time,
    /// which are issued as far ahead as the units' queues hold instructions.
    static constexpr std::uint32_t most_of_pipeline = 8;

    /// `rows` is at least 1; more than 65535 rows are not used, because instructions count rows in 16 bits.
    explicit AccumulatorParts(std::uint32_t rows)
        : rows_(std::min<std::uint32_t>(rows, std::numeric_limits<std::uint16_t>::max())), last_(rows_ - 1) {}

    /// The largest number of rows of a chunk.
    std::uint32_t rows() const { return rows_; }
    /// The largest number of rows with which a chunk overlaps with its neighbours; at least 1.
    std::uint32_t part(std::uint32_t parts) const { return std::max(rows_ / parts, 1U); }

    /// The fewest parts with which chunks of one tile keep the array busy. `delay` is the number of cycles
    /// from a row's entry into the array to its activation; a chunk that reuses a part waits until all of it
    /// is activated. At least quarters, because sums are on their way; at most `most_parts`.
    std::uint32_t parts_behind(std::uint64_t delay, std::uint32_t most_parts = most) const {
        std::uint32_t parts = quarters;
        while (parts < most_parts && 2 * std::uint64_t{part(parts)} + delay > rows_) parts *= 2;
        return parts;
    }

    /// The first row of the next of `parts` parts, for a chunk of `rows` rows. A chunk that does not fit gets
    /// all rows.
    std::uint32_t take(std::uint32_t rows, std::uint32_t parts) {
        const std::uint32_t size = rows_ / parts;
        if (rows > size) {
            last_ = rows_ - 1;
            return 0;
        }
        // Rows after the last whole part belong to it.
        const std::uint32_t next = (std::min(last_ / size, parts - 1) + 1) % parts;
        last_ = (next + 1) * size - 1;
        return next * size;
    }

private:
    std::uint32_t rows_;
    std::uint32_t last_;  ///< last row of the part allocated last
};

/// How the rows of sums of a product are cut, so that their activation overlaps with matrix work.
struct ProductChunks {
    std::uint32_t parts = AccumulatorParts::halves;  ///< of the accumulators, used in turn
    std::vector<Chunk> chunks;
};

/// The chunks of `images` images of a product, whose rows of sums form a grid of `grid`'s height and width.
/// They have the size of a part of the accumulators; if a line does not fit in a part, that of all
/// accumulators. With a `delay` (see AccumulatorParts::parts_behind), products whose columns have a single
/// weight tile use as many parts as it asks for, at most `most_parts`, otherwise quarters.
ProductChunks cut_product(const Tiling& tiling, const ir::FeatureMap& grid, std::uint32_t images,
                          const AccumulatorParts& accumulators, std::optional<std::uint64_t> delay,
                          std::uint32_t most_parts = AccumulatorParts::most);

/// Whether the column has one weight tile, which stays in the array for all chunks.
bool is_single_tile(const ColumnTile& column);

}  // namespace systole::tpu_v1
