#include "sim/view/energy/power_over_time.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "hw/isa/queue.h"
#include "sim/run/execute/recorders.h"

using namespace systole;
using Interval = run::WorkInterval;
using energy::PowerOverTime;

namespace {

constexpr double picojoules_a_joule = 1e12;

/// A machine without static power, at a cycle a second, whose events are not calibrated.
machine::MachineConfig slow() {
    machine::MachineConfig machine;
    machine.clock_mhz = 1e-6;
    machine.energy.emplace();
    return machine;
}

/// A unit that takes so many joules for each count of a counter.
machine::UnitDescription unit(const std::string& name, double joules, const std::string& counter,
                              const std::string& during) {
    machine::UnitDescription unit;
    unit.name = name;
    unit.energy = {{name, counter, joules * picojoules_a_joule, during}};
    return unit;
}

/// The counters of these paths, which have counted nothing.
run::Counters counters_of(std::initializer_list<std::string> paths) {
    run::Counters counters;
    for (const std::string& path : paths) counters.all.emplace_back().path = path;
    return counters;
}

void count(run::Counter& counter, std::uint64_t amount, run::Tag tag) {
    if (tag >= counter.by_tag.size()) counter.by_tag.resize(std::size_t{tag} + 1);
    counter.by_tag[tag] += amount;
    counter.total += amount;
}

}  // namespace

TEST_CASE("An event's energy is in the windows in which its unit worked for its tag", "[energy]") {
    run::Counters counters = counters_of({"array.products", "buffer.writes"});
    count(counters.all[0], 60, 1);
    count(counters.all[0], 6, 2);
    count(counters.all[1], 8, 1);
    const energy::Consumers consumers(
        {unit("array", 1.0, "array.products", "matrix"), unit("buffer", 0.5, "buffer.writes", "host_read")},
        counters, slow());
    // Tag 1: ten cycles in the first window, twenty in the second; tag 2: the rest of the second.
    const run::Work work{.activities = {"matrix", "host_read"},
                         .intervals = {{0, 1, 10, 40}, {0, 2, 40, 43}, {1, 1, 0, 1}, {1, 1, 39, 42}}};
    const PowerOverTime power = energy::power_over_time(consumers, slow(), work, 50, 3);
    CHECK(power.window_cycles == 17);
    REQUIRE(power.windows.size() == 3);
    CHECK(power.windows[0].at("array") == Approx(60.0 * 7 / 30));
    CHECK(power.windows[1].at("array") == Approx(60.0 * 17 / 30));
    CHECK(power.windows[2].at("array") == Approx(60.0 * 6 / 30 + 6));
    CHECK(power.windows[0].at("buffer") == Approx(4.0 / 4));
    CHECK(power.windows[1].at("buffer") == 0.0);
    CHECK(power.windows[2].at("buffer") == Approx(4.0 * 3 / 4));
    CHECK(power.seconds[0] == Approx(17.0));
    CHECK(power.seconds[2] == Approx(16.0));
}

TEST_CASE("Static energy, and energy of unknown times, is spread over the run", "[energy]") {
    run::Counters counters = counters_of({"sequencer.bytes", "weight_fifo.bytes"});
    count(counters.all[0], 30, 0);
    count(counters.all[1], 12, 9);
    machine::MachineConfig machine = slow();
    machine.power.idle_watts = 2.0;
    const energy::Consumers consumers({unit("sequencer", 1.0, "sequencer.bytes", ""),
                                       unit("weight_fifo", 1.0, "weight_fifo.bytes", "weight_fetch")},
                                      counters, machine);
    // Beyond the end: no time of the run.
    const run::Work work{.activities = {"weight_fetch"}, .intervals = {{0, 9, 7, 9}}};
    const PowerOverTime power = energy::power_over_time(consumers, machine, work, 6, 2);
    REQUIRE(power.windows.size() == 2);
    for (const energy::Joules& window : power.windows) {
        CHECK(window.at("chip_static") == Approx(2.0 * 3));
        CHECK(window.at("sequencer") == Approx(15.0));
        CHECK(window.at("weight_fifo") == Approx(6.0));
    }
}

TEST_CASE("There are at most as many windows as cycles", "[energy]") {
    const run::Counters counters;
    const energy::Consumers none({}, counters, slow());
    CHECK(energy::power_over_time(none, slow(), {}, 3, 10).windows.size() == 3);
    CHECK(energy::power_over_time(none, slow(), {}, 0, 10).windows.empty());
    CHECK(energy::power_over_time(none, slow(), {}, 3, 0).windows.empty());
}

TEST_CASE("Energy of something that is no unit is refused", "[energy]") {
    const run::Counters counters = counters_of({"array.products"});
    machine::UnitDescription array = unit("array", 1.0, "array.products", "");
    array.energy.front().unit = "arrray";
    CHECK_THROWS_WITH(energy::Consumers({array}, counters, slow()),
                      "array.products gives energy to arrray, which is no unit");
}

TEST_CASE("A unit takes no energy in the cycles in which it waits under an instruction", "[energy]") {
    constexpr auto ring = static_cast<std::size_t>(isa::QueueId::Ring);
    run::ActivityRecorder recorder;
    const auto stalled = [&](std::size_t unit, Cycle from, Cycle until) {
        recorder.stalled({.unit = unit, .number = 1, .tag = 3, .from = from, .until = until, .reason = {}});
    };
    const auto worked = [&](Cycle begun, Cycle released) {
        recorder.instruction({.unit = ring, .number = 1, .tag = 3, .begun = begun, .released = released});
    };
    stalled(ring, 10, 14);
    stalled(ring + 1, 12, 90);
    stalled(ring, 20, 25);
    worked(10, 30);
    worked(30, 31);
    CHECK(recorder.work().intervals ==
          std::vector<Interval>{{ring, 3, 14, 20}, {ring, 3, 25, 30}, {ring, 3, 30, 31}});
}

TEST_CASE("A tile's energy is in the cycles of its fetch and of its shift", "[energy]") {
    run::ActivityRecorder recorder;
    recorder.begun(
        {.queues = {{static_cast<std::size_t>(isa::QueueId::Weights),
                     "weights",
                     {.tiles = hw::TileTracks{.fetching = "weight_fetch", .shifting = "weight_shift"}}}}});
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
    const auto number_of = [&](std::string_view activity) {
        const auto& all = recorder.work().activities;
        return static_cast<std::uint8_t>(std::ranges::find(all, activity) - all.begin());
    };
    const std::uint8_t fetch = number_of("weight_fetch");
    const std::uint8_t shift = number_of("weight_shift");
    CHECK(recorder.work().intervals == std::vector<Interval>{{fetch, 3, 10, 1000},
                                                             {shift, 3, 1000, 1256},
                                                             {fetch, 4, 1000, 2000},
                                                             {shift, 4, 4744, 5000},
                                                             {number_of("activation"), 6, 2, 9}});
}
