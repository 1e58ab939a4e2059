#include "sim/run/execute/row_values.h"

#include <catch2/catch.hpp>

#include "hw/isa/assembly.h"

using namespace systole;
using run::RowTracker;
using run::RowValue;
using run::Span;

namespace {

constexpr std::size_t writer = 3;

Span span(Cycle begun, Cycle released, Cycle complete) {
    return {.begun = begun, .released = released, .complete = complete};
}

}  // namespace

TEST_CASE("A value lives from its first write to its last read", "[occupancy]") {
    RowTracker tracker;
    tracker.write({10, 20}, writer, 1, span(100, 110, 115));
    tracker.read({10, 20}, span(200, 210, 250));
    tracker.read({10, 15}, span(300, 310, 350));
    const std::vector<RowValue> values = std::move(tracker).take();
    REQUIRE(values.size() == 2);
    CHECK(values[0] == RowValue{writer, 1, {10, 15}, 100, 310});
    CHECK(values[1] == RowValue{writer, 1, {15, 20}, 100, 210});
}

TEST_CASE("A value that nothing reads lives until its last write is over", "[occupancy]") {
    RowTracker tracker;
    tracker.write({0, 4}, writer, 1, span(5, 8, 11));
    const std::vector<RowValue> values = std::move(tracker).take();
    CHECK(values == std::vector<RowValue>{{writer, 1, {0, 4}, 5, 11}});
    RowTracker again;
    again.write({0, 4}, writer, 1, span(5, 8, 11));
    again.write({0, 4}, writer, 1, span(50, 58, 61));
    const std::vector<RowValue> longer = std::move(again).take();
    CHECK(longer == std::vector<RowValue>{{writer, 1, {0, 4}, 5, 61}});
}

TEST_CASE("A write ends values that were read and continues values that were not", "[occupancy]") {
    RowTracker tracker;
    tracker.write({0, 8}, 1, 1, span(10, 12, 14));
    tracker.read({0, 4}, span(20, 24, 30));
    tracker.write({0, 8}, 2, 2, span(40, 42, 44));
    const std::vector<RowValue> values = std::move(tracker).take();
    REQUIRE(values.size() == 3);
    CHECK(values[0] == RowValue{1, 1, {0, 4}, 10, 24});
    CHECK(values[1] ==
          RowValue{1, 1, {4, 8}, 10, 44});  // nobody had read it: the rows were taken all the time
    CHECK(values[2] == RowValue{2, 2, {0, 4}, 40, 44});
}

TEST_CASE("Rows that were never written have no value", "[occupancy]") {
    RowTracker tracker;
    tracker.read({0, 100}, span(1, 2, 3));
    tracker.read({}, span(1, 2, 3));
    tracker.write({7, 7}, writer, 1, span(1, 2, 3));
    const std::vector<RowValue> values = std::move(tracker).take();
    CHECK(values.empty());
}

TEST_CASE("Rows written at once become one value again, after any earlier values", "[occupancy]") {
    RowTracker tracker;
    for (std::uint64_t row = 0; row < 10; ++row) {
        tracker.write({row, row + 1}, 1, 1, span(row, row + 1, row + 2));
        tracker.read({row, row + 1}, span(20 + row, 21 + row, 22 + row));
    }
    tracker.write({0, 10}, 2, 2, span(50, 60, 61));
    const std::vector<RowValue> values = std::move(tracker).take();
    REQUIRE(values.size() == 11);
    CHECK(values.back() == RowValue{2, 2, {0, 10}, 50, 61});
}

TEST_CASE("A value is named after the layer or host buffer that wrote it", "[occupancy]") {
    const isa::Program program = isa::assemble(
        ".array 4 4\n.tile 4 4 fill 1\n.buffer pixels input 0 16\n.buffer answers output 0x100 16\n"
        "read_host pixels ub=0 block=4 count=4\n"
        "tag 1\nread_weights tile=0\nmatmul ub=0 acc=8 rows=4\n"
        "tag 0\nwrite_host answers ub=0 block=4 count=4\nhalt\n",
        "test");
    run::Spans spans;
    spans.resize(program.instructions.size());
    std::size_t number = 0;
    for (const isa::Instruction& instruction : program.instructions) {
        const auto unit = isa::queue_of(instruction);
        if (unit && *unit != isa::QueueId::Weights)
            spans[number] = span(10 * number, 10 * number + 4, 10 * number + 9);
        ++number;
    }
    const run::MemoryValues values = run::find_values(
        program, spans,
        std::vector<machine::UnitDescription>{{.name = "accumulators", .occupied = machine::Occupied()},
                                              {.name = "unified_buffer", .occupied = machine::Occupied()}});
    REQUIRE(values.memories.size() == 2);
    CHECK(values.memories[0].unit == "unified_buffer");  // in the order of the memories, not of the units
    REQUIRE(values.in("unified_buffer").size() == 1);
    CHECK(values.writers[values.in("unified_buffer")[0].writer] == "pixels");
    CHECK(values.in("unified_buffer")[0].rows == run::RowRange{0, 4});
    CHECK(values.in("unified_buffer")[0].begin == 0);
    CHECK(values.in("unified_buffer")[0].end == 10 * 5 + 4);  // the write to the host reads it last
    REQUIRE(values.in("accumulators").size() == 1);
    CHECK(values.writers[values.in("accumulators")[0].writer] == "tag 1");
    CHECK(values.in("accumulators")[0].rows == run::RowRange{8, 12});
    CHECK(values.in("accumulators")[0].end == 10 * 3 + 9);
}

TEST_CASE("A value that is replaced in place ends where the new one begins", "[occupancy]") {
    RowTracker tracker(true);
    tracker.write({0, 8}, 1, 1, span(10, 12, 14));
    tracker.read({0, 8}, span(20, 28, 30));
    tracker.write({2, 8}, 2, 2, span(20, 28, 30));
    const std::vector<RowValue> values = std::move(tracker).take();
    REQUIRE(values.size() == 3);
    CHECK(values[0] == RowValue{1, 1, {0, 2}, 10, 28});
    CHECK(values[1] == RowValue{1, 1, {2, 8}, 10, 20});
    CHECK(values[2] == RowValue{2, 2, {2, 8}, 20, 30});
}

TEST_CASE("A tensor whose margins are exchanged is one value, of the bytes that a tile keeps of it",
          "[occupancy]") {
    // 2 x 2 pixels a tile with a margin of one pixel around them: 4 x 4 pixels of 4 bytes.
    const isa::Program program = isa::assemble(
        ".tiles 4 4\n.buffer image input 0 256\n"
        "set result.lines 8; set result.columns 8; set result.channels 4\n"
        "set result.top 1; set result.bottom 1; set result.left 1; set result.right 1\n"
        "set source.lines 8; set source.columns 8; set source.channels 4\n"
        "set source.top 1; set source.bottom 1; set source.left 1; set source.right 1\n"
        "read_tensor image at=16\nexchange at=16\nhalt\n",
        "test");
    run::Spans spans(program.instructions.size());
    constexpr std::size_t read = 14;
    spans[read] = span(100, 110, 120);
    spans[read + 1] = span(130, 140, 145);
    std::vector<machine::UnitDescription> units{{.name = "narrow_memory"}, {.name = "wide_memory"}};
    units[0].occupied.emplace().in_place = true;
    const run::MemoryValues values = run::find_values(program, spans, units);
    REQUIRE(values.memories.size() == 1);
    REQUIRE(values.in("narrow_memory").size() == 1);
    const RowValue& value = values.in("narrow_memory")[0];
    CHECK(values.writers[value.writer] == "image");
    CHECK(value.rows == run::RowRange{16, 16 + 64});
    CHECK(value.begin == 100);
    CHECK(value.end == 145);
    CHECK_THROWS_WITH(values.in("accumulators"), "no values of memory accumulators");
}
