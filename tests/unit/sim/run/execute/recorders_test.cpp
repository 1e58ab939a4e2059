#include "sim/run/execute/recorders.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <utility>
#include <vector>

#include "hw/isa/queue.h"
#include "tests/support/chip.h"

using namespace systole;

TEST_CASE("A tile occupies its slot from its fetch to its shift, or to the end of the run", "[run]") {
    run::SpanRecorder recorder;
    recorder.tile_fetched({.fetched = 1});
    recorder.tile_fetched({.fetched = 2});
    recorder.tile({.fetched = 1, .whole = 2, .shifted = 4});
    // Of a unit that describes no occupancy, none is noted.
    const std::vector<machine::UnitDescription> units{
        {.name = "matrix_unit"}, {.name = "weight_fifo", .occupied = machine::Occupied()}};
    const run::Occupancy occupancy = std::move(recorder).occupancy(isa::Program(), 6, units);
    CHECK(occupancy.values.memories.empty());
    REQUIRE(occupancy.most_held.size() == 1);
    CHECK(occupancy.most_held[0].unit == "weight_fifo");
    CHECK(occupancy.most_held[0].windows == std::vector<std::uint64_t>{0, 1, 2, 2, 1, 1});
}

TEST_CASE("The times of a repeated instruction are those of all its repetitions", "[run]") {
    run::SpanRecorder recorder;
    recorder.instruction({.unit = 3, .number = 2, .begun = 10, .released = 20, .complete = 35});
    recorder.instruction({.unit = 3, .number = 2, .begun = 20, .released = 30, .complete = 45});
    recorder.instruction({.unit = 3, .number = 0, .begun = 0, .released = 5, .complete = 5});
    REQUIRE(recorder.spans().size() == 3);
    CHECK(recorder.spans()[2].begun == 10);
    CHECK(recorder.spans()[2].released == 30);
    CHECK(recorder.spans()[2].complete == 45);
    CHECK(recorder.spans()[1].released == 0);  // never heard of
}

TEST_CASE("Phases are the cycles before the first rows and after the last results", "[run]") {
    const auto queue = [](isa::QueueId id, const hw::QueueTraces& traces) {
        return hw::TracedQueue{static_cast<std::size_t>(id), isa::name(id), traces};
    };
    run::PhaseRecorder recorder;
    recorder.begun(
        {.queues = {queue(isa::QueueId::Matrix, {.is_main = true, .computes = true, .tells_idle = true}),
                    queue(isa::QueueId::Activation, {.computes = true}),
                    queue(isa::QueueId::HostWrite, {})}});
    recorder.matrix_idle({.idle = {.without_rows = 7}});
    recorder.matrix_idle({.idle = {.without_rows = 9}});
    recorder.tile({.fetched = 5, .whole = 20});
    recorder.tile({.fetched = 3, .whole = 12});
    recorder.instruction({.unit = static_cast<std::size_t>(isa::QueueId::Activation), .complete = 40});
    recorder.instruction({.unit = static_cast<std::size_t>(isa::QueueId::Matrix), .complete = 30});
    recorder.instruction({.unit = static_cast<std::size_t>(isa::QueueId::HostWrite), .complete = 90});
    CHECK(recorder.phases() == run::Phases{.head = 7, .last_result = 40, .first_fetch = 3, .last_tile = 20});
}

TEST_CASE("The head of a unit that does not tell its idle cycles ends with its first instruction", "[run]") {
    constexpr auto tiles = static_cast<std::size_t>(isa::QueueId::Tiles);
    run::PhaseRecorder recorder;
    recorder.begun({.queues = {{tiles, "tiles", {.is_main = true, .computes = true}}}});
    recorder.instruction({.unit = tiles, .begun = 11, .complete = 20});
    recorder.instruction({.unit = tiles, .begun = 20, .complete = 25});
    CHECK(recorder.phases().head == 11);
    CHECK(recorder.phases().last_result == 25);
}

TEST_CASE("A record has all counters of the chip, in total and by tag", "[run]") {
    tests::Chip chip(tests::tpu_v1(),
                     ".array 256 256\n.tile 256 256 fill 1\nread_weights tile=0\n"
                     "tag 1\nmatmul ub=0 acc=0 rows=100\ntag 2\nread_weights tile=0\n"
                     "matmul ub=0 acc=200 rows=30\nhalt\n");
    chip.run();
    const run::Counters counters = run::counters_of(*chip);
    std::size_t count = 0;
    for (const auto& [path, group] : chip->counters()) {
        for (const hw::Counter& counter : *group) {
            ++count;
            const std::string name = path + "." + std::string(counter.name());
            INFO(name);
            const run::Counter& copy = counters.at(name);
            CHECK(copy.value() == counter.value());
            for (run::Tag tag = 0; tag < 4; ++tag) CHECK(copy.value(tag) == counter.value(tag));
            CHECK(copy.meaning == counter.meaning());
            CHECK(copy.group() == path);
            CHECK(copy.name() == counter.name());
        }
    }
    CHECK(counters.all.size() == count);
    CHECK(counters.at("matrix_unit.active_cycles").value(2) == 30);
    CHECK(counters.of("matrix_unit").front().path == "matrix_unit.active_cycles");
    CHECK_THROWS_AS(counters.at("matrix_unit.naps"), std::logic_error);
}
