#include "compiler/target/tpu_v1/network/chunking.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "compiler/target/tpu_v1/network/accumulator_parts.h"

namespace systole::tpu_v1 {

TEST_CASE("Items are cut into the fewest pieces, of nearly equal size", "[compiler][mapping]") {
    for (std::uint32_t total = 0; total <= 40; ++total) {
        for (std::uint32_t limit = 1; limit <= 41; ++limit) {
            const std::vector<Piece> pieces = cut_evenly(total, limit);
            CHECK(pieces.size() == (total + limit - 1) / limit);
            std::uint32_t next = 0, smallest = limit, largest = 0;
            for (const Piece& piece : pieces) {
                CHECK(piece.first == next);
                next += piece.count;
                smallest = std::min(smallest, piece.count);
                largest = std::max(largest, piece.count);
            }
            CHECK(next == total);
            CHECK(largest <= limit);
            if (!pieces.empty()) {
                CHECK(largest - smallest <= 1);
                CHECK(pieces.front().count == largest);
            }
        }
    }
}

TEST_CASE("Images that fit are not cut", "[compiler][mapping]") {
    const ir::FeatureMap output{.height = 3, .width = 4, .channels = 9};
    CHECK(cut_lines(output, 5, 24) == std::vector<Chunk>{{0, 0, 6}, {2, 0, 6}, {4, 0, 3}});
    CHECK(cut_lines(output, 5, 23) ==
          std::vector<Chunk>{{0, 0, 3}, {1, 0, 3}, {2, 0, 3}, {3, 0, 3}, {4, 0, 3}});
    CHECK(cut_lines(output, 5, 60) == std::vector<Chunk>{{0, 0, 15}});
}

TEST_CASE("Images that do not fit are cut into lines, each chunk in one image", "[compiler][mapping]") {
    const ir::FeatureMap output{.height = 3, .width = 4, .channels = 9};
    CHECK(cut_lines(output, 2, 11) == std::vector<Chunk>{{0, 0, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 1}});
    CHECK(cut_lines(output, 1, 7) == std::vector<Chunk>{{0, 0, 1}, {0, 1, 1}, {0, 2, 1}});
}

TEST_CASE("A line is never cut", "[compiler][mapping]") {
    CHECK(cut_lines({.height = 2, .width = 9, .channels = 1}, 1, 5) ==
          std::vector<Chunk>{{0, 0, 1}, {0, 1, 1}});
}

TEST_CASE("Chunks take the accumulator halves in turn", "[compiler][mapping]") {
    AccumulatorParts accumulators(9);
    CHECK(accumulators.rows() == 9);
    CHECK(accumulators.part(AccumulatorParts::halves) == 4);
    CHECK(accumulators.take(4, AccumulatorParts::halves) == 0);
    CHECK(accumulators.take(1, AccumulatorParts::halves) == 4);
    CHECK(accumulators.take(3, AccumulatorParts::halves) == 0);
}

TEST_CASE("Chunks take the accumulator quarters in turn", "[compiler][mapping]") {
    AccumulatorParts accumulators(8);
    CHECK(accumulators.part(AccumulatorParts::quarters) == 2);
    for (const std::uint32_t first : {0U, 2U, 4U, 6U, 0U}) {
        CHECK(accumulators.take(2, AccumulatorParts::quarters) == first);
    }
}

TEST_CASE("There are enough parts to keep the array busy until rows are activated", "[compiler][mapping]") {
    // Of p parts of c rows, p - 2 must be enough for the delay.
    const AccumulatorParts accumulators(64);
    CHECK(accumulators.parts_behind(0) == 4);
    CHECK(accumulators.parts_behind(32) == 4);  // 16 + 16 + 32
    CHECK(accumulators.parts_behind(33) == 8);
    CHECK(accumulators.parts_behind(48) == 8);  // 8 + 8 + 48
    CHECK(accumulators.parts_behind(49) == 16);
    CHECK(accumulators.parts_behind(1000) == 16);
}

TEST_CASE("Between layers of halves and quarters a chunk does not take the rows of the last",
          "[compiler][mapping]") {
    AccumulatorParts accumulators(8);
    CHECK(accumulators.take(2, AccumulatorParts::quarters) == 0);
    CHECK(accumulators.take(4, AccumulatorParts::halves) == 4);
    CHECK(accumulators.take(1, AccumulatorParts::quarters) == 0);
    CHECK(accumulators.take(2, AccumulatorParts::quarters) == 2);
    CHECK(accumulators.take(3, AccumulatorParts::halves) == 4);
    CHECK(accumulators.take(3, AccumulatorParts::halves) == 0);
    CHECK(accumulators.take(2, AccumulatorParts::quarters) == 4);
}

TEST_CASE("A chunk above its part begins at row 0", "[compiler][mapping]") {
    AccumulatorParts accumulators(9);
    CHECK(accumulators.take(4, AccumulatorParts::halves) == 0);
    CHECK(accumulators.take(5, AccumulatorParts::halves) == 0);
    CHECK(accumulators.take(9, AccumulatorParts::halves) == 0);
}

TEST_CASE("A single accumulator row is its own part", "[compiler][mapping]") {
    AccumulatorParts accumulators(1);
    CHECK(accumulators.part(AccumulatorParts::halves) == 1);
    CHECK(accumulators.take(1, AccumulatorParts::halves) == 0);
    CHECK(accumulators.take(1, AccumulatorParts::quarters) == 0);
}

TEST_CASE("Rows that 16 bits cannot count are left alone", "[compiler][mapping]") {
    CHECK(AccumulatorParts(65535).rows() == 65535);
    CHECK(AccumulatorParts(65536).rows() == 65535);
}

}  // namespace systole::tpu_v1
