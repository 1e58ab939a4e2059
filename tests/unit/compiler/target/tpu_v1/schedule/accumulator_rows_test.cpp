#include "compiler/target/tpu_v1/schedule/accumulator_rows.h"

#include <catch2/catch.hpp>

namespace systole::tpu_v1 {

TEST_CASE("Large chunks take the lowest rows that are free, small ones the highest", "[compiler][schedule]") {
    AccumulatorRows rows(64);
    CHECK(rows.take(20, 0) == 0);
    CHECK(rows.take(20, 0) == 20);
    CHECK(rows.take(4, 0) == 60);
    CHECK(rows.take(4, 0) == 56);
    CHECK(rows.take(16, 0) == 40);
}

TEST_CASE("A chunk takes the rows that are free first", "[compiler][schedule]") {
    AccumulatorRows rows(64);
    CHECK(rows.take(32, 0) == 0);
    CHECK(rows.take(32, 0) == 32);
    CHECK_FALSE(rows.free(32, 0));  // no sums are complete
    rows.release(0, 500);
    rows.release(32, 300);
    CHECK(rows.free(32, 0) == 300.0);
    CHECK(rows.free(64, 0) == 500.0);
    CHECK(rows.take(32, 0) == 32);
    CHECK(rows.free(32, 0) == 500.0);
    CHECK(rows.free(32, 700) == 500.0);
}

TEST_CASE("Rows that are free before a chunk can use them are alike", "[compiler][schedule]") {
    AccumulatorRows rows(64);
    rows.take(32, 0);
    rows.take(32, 0);
    rows.release(0, 500);
    rows.release(32, 300);
    CHECK(rows.take(32, 600) == 0);
}

}  // namespace systole::tpu_v1
