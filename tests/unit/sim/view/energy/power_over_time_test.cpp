#include "sim/view/energy/power_over_time.h"

#include <catch2/catch.hpp>
#include <vector>

#include "hw/isa/queue.h"
#include "sim/run/execute/recorders.h"

using namespace systole;
using energy::Activity;
using energy::Consumer;
using Interval = run::WorkInterval;
using energy::PowerOverTime;

namespace {

/// A machine without static power, at a cycle a second.
machine::MachineConfig slow() {
    machine::MachineConfig machine;
    machine.clock_mhz = 1e-6;
    return machine;
}

void count(run::Counter& counter, std::uint64_t amount, run::Tag tag) {
    if (tag >= counter.by_tag.size()) counter.by_tag.resize(std::size_t{tag} + 1);
    counter.by_tag[tag] += amount;
    counter.total += amount;
}

}  // namespace

TEST_CASE("An event's energy is in the windows in which its unit worked for its tag", "[energy]") {
    run::Counter first;
    run::Counter second;
    count(first, 60, 1);
    count(first, 6, 2);
    count(second, 8, 1);
    const std::vector<energy::Event> events{
        {.consumer = Consumer::MatrixUnit, .during = Activity::Matrix, .joules_each = 1.0, .counter = &first},
        {.consumer = Consumer::UnifiedBuffer,
         .during = Activity::HostRead,
         .joules_each = 0.5,
         .counter = &second}};
    // Tag 1: ten cycles in the first window, twenty in the second; tag 2: the rest of the second.
    const std::vector<Interval> intervals{{Activity::Matrix, 1, 10, 40},
                                          {Activity::Matrix, 2, 40, 43},
                                          {Activity::HostRead, 1, 0, 1},
                                          {Activity::HostRead, 1, 39, 42}};
    const PowerOverTime power = energy::power_over_time(events, slow(), intervals, 50, 3);
    CHECK(power.window_cycles == 17);
    REQUIRE(power.windows.size() == 3);
    CHECK(power.windows[0][Consumer::MatrixUnit] == Approx(60.0 * 7 / 30));
    CHECK(power.windows[1][Consumer::MatrixUnit] == Approx(60.0 * 17 / 30));
    CHECK(power.windows[2][Consumer::MatrixUnit] == Approx(60.0 * 6 / 30 + 6));
    CHECK(power.windows[0][Consumer::UnifiedBuffer] == Approx(4.0 / 4));
    CHECK(power.windows[1][Consumer::UnifiedBuffer] == 0.0);
    CHECK(power.windows[2][Consumer::UnifiedBuffer] == Approx(4.0 * 3 / 4));
    CHECK(power.seconds[0] == Approx(17.0));
    CHECK(power.seconds[2] == Approx(16.0));
}

TEST_CASE("Static energy, and energy of unknown times, is spread over the run", "[energy]") {
    run::Counter bytes;
    run::Counter unseen;
    count(bytes, 30, 0);
    count(unseen, 12, 9);
    const std::vector<energy::Event> events{
        {.consumer = Consumer::Sequencer, .during = Activity::Any, .joules_each = 1.0, .counter = &bytes},
        {.consumer = Consumer::WeightFifo,
         .during = Activity::WeightFetch,
         .joules_each = 1.0,
         .counter = &unseen}};
    machine::MachineConfig machine = slow();
    machine.power.idle_watts = 2.0;
    // Beyond the end: no time of the run.
    const std::vector<Interval> intervals{{Activity::WeightFetch, 9, 7, 9}};
    const PowerOverTime power = energy::power_over_time(events, machine, intervals, 6, 2);
    REQUIRE(power.windows.size() == 2);
    for (const energy::Joules& window : power.windows) {
        CHECK(window[Consumer::ChipStatic] == Approx(2.0 * 3));
        CHECK(window[Consumer::Sequencer] == Approx(15.0));
        CHECK(window[Consumer::WeightFifo] == Approx(6.0));
    }
}

TEST_CASE("There are at most as many windows as cycles", "[energy]") {
    CHECK(energy::power_over_time({}, slow(), {}, 3, 10).windows.size() == 3);
    CHECK(energy::power_over_time({}, slow(), {}, 0, 10).windows.empty());
    CHECK(energy::power_over_time({}, slow(), {}, 3, 0).windows.empty());
}

TEST_CASE("A tile's energy is in the cycles of its fetch and of its shift", "[energy]") {
    std::vector<Interval> intervals;
    run::ActivityRecorder recorder(intervals);
    recorder.tile(
        {.number = 0, .tile = 0, .tag = 3, .fetched = 10, .whole = 1000, .shifting = 1000, .shifted = 1256});
    recorder.tile(
        {.number = 0, .tile = 1, .tag = 4, .fetched = 12, .whole = 2000, .shifting = 4744, .shifted = 5000});
    recorder.instruction({.unit = static_cast<std::size_t>(isa::QueueId::Activation),
                          .number = 5,
                          .tag = 6,
                          .issued = 1,
                          .begun = 2,
                          .released = 9,
                          .complete = 12});
    // The tiles of a fetch say when, not the instruction.
    recorder.instruction({.unit = static_cast<std::size_t>(isa::QueueId::Weights), .number = 6});
    CHECK(intervals == std::vector<Interval>{{Activity::WeightFetch, 3, 10, 1000},
                                             {Activity::WeightShift, 3, 1000, 1256},
                                             {Activity::WeightFetch, 4, 1000, 2000},
                                             {Activity::WeightShift, 4, 4744, 5000},
                                             {Activity::Activation, 6, 2, 9}});
}
