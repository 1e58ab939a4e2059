#include "hw/common/unit_module.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <deque>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/cycle.h"
#include "hw/common/unit_bound.h"
#include "hw/machine/machine_config.h"
#include "hw/machine/unit_description.h"
#include "tests/support/fresh_simulation.h"

using namespace systole;

namespace {

struct RowCounters final : hw::CounterGroup {
    hw::Counter& rows = add("rows", hw::CounterUnit::Rows, "rows that passed");
};

/// A unit with counters of its own and of a part.
class Box final : public hw::UnitModule {
public:
    Box(const sc_core::sc_module_name& name, std::string_view part) : UnitModule(name) {
        register_counters(own_);
        register_counters(part, part_);
    }
    RowCounters own_;
    RowCounters part_;
};

struct Bench : tests::FreshSimulation {
    Box second{"second", "second_part"};
    Box first{"first", "first_part"};

    std::vector<hw::PlacedCounters> groups() const {
        std::vector<hw::PlacedCounters> all = second.counter_groups();
        all.insert(all.end(), first.counter_groups().begin(), first.counter_groups().end());
        return all;
    }
};

/// An invented unit: it sorts rows, and reads and writes bytes of the host for it.
class Sorter final : public hw::UnitModule {
public:
    Sorter(const sc_core::sc_module_name& name, std::uint32_t place) : UnitModule(name), place_(place) {
        register_counters(counters_);
        register_details("sorter.bytes", bytes_);
    }
    std::vector<hw::UnitBound> bounds(const machine::MachineConfig&) const override {
        const auto bound = [&](std::string_view name, const hw::Counter& counter,
                               std::uint64_t (hw::Amounts::*amount)(const hw::Counter&) const) {
            return hw::UnitBound{.name = name,
                                 .part = "sorter",
                                 .meaning = "rows are sorted",
                                 .cycles = [&counter, amount](const hw::Amounts& amounts) {
                                     return (amounts.*amount)(counter);
                                 }};
        };
        std::vector<hw::UnitBound> all{bound("sorted", counters_.rows, &hw::Amounts::of),
                                       bound("sorter_in", bytes_.in, &hw::Amounts::inbound),
                                       bound("sorter_out", bytes_.out, &hw::Amounts::outbound)};
        all[0].computes = true;
        all[1].place = place_;
        all[1].is_shared = is_shared_;
        return all;
    }

    struct Bytes final : hw::CounterGroup {
        hw::Counter& in = add("in", hw::CounterUnit::Bytes, "bytes that came");
        hw::Counter& out = add("out", hw::CounterUnit::Bytes, "bytes that went");
    };
    RowCounters counters_;
    Bytes bytes_;
    bool is_shared_ = false;  ///< what reads

private:
    const std::uint32_t place_;
};

std::vector<std::string> names_of(const std::vector<machine::Bound>& bounds) {
    std::vector<std::string> names;
    for (const machine::Bound& bound : bounds) names.push_back(bound.name);
    return names;
}

}  // namespace

TEST_CASE("A unit's groups of counters are under its name, or one of their own", "[hw][common]") {
    const Bench bench;
    std::vector<std::string> paths;
    for (const hw::PlacedCounters& placed : bench.groups()) {
        CHECK(placed.group->begin() != placed.group->end());
        paths.push_back(placed.path);
    }
    CHECK(paths == std::vector<std::string>{"second", "second_part", "first", "first_part"});
}

TEST_CASE("A counter has a path, and a path without a counter is an error", "[hw][common]") {
    Bench bench;
    bench.first.part_.rows.add(3, 0);
    bench.second.own_.rows.add(5, 1);
    const std::vector<hw::PlacedCounters> groups = bench.groups();
    CHECK(hw::find_counter(groups, "first_part.rows").value() == 3);
    CHECK(hw::find_counter(groups, "first.rows").value() == 0);
    CHECK(hw::find_counter(groups, "second.rows").value() == 5);
    CHECK_THROWS_WITH(hw::find_counter(groups, "third.rows"), "there is no counter third.rows");
    CHECK_THROWS_AS(hw::find_counter(groups, "first.columns"), std::logic_error);
    CHECK_THROWS_AS(hw::find_counter(groups, "first"), std::logic_error);
}

TEST_CASE("A unit's bounds are those of its counters, in the run and under each tag", "[hw][common]") {
    const tests::FreshSimulation simulation;
    Sorter sorter("sorter", 1);
    for (const hw::Tag tag : std::vector<hw::Tag>{2, 3, 5}) sorter.counters_.rows.add(100U + tag, tag);
    for (const hw::Tag tag : std::vector<hw::Tag>{0, 1, 2, 3, 5}) {
        sorter.bytes_.in.add(10U + tag, tag);
        sorter.bytes_.out.add(20U + tag, tag);
    }
    sorter.bytes_.out.add(1, 6);
    // Data outside layers come in for the first layer that is worked on, and go out for the last.
    const std::vector<machine::Bound> expected{
        {"sorter_in", "sorter", "rows are sorted", 61, {0, 11, 12 + 10, 13, 0, 15, 0}},
        {"sorted", "sorter", "rows are sorted", 310, {0, 0, 102, 103, 0, 105, 0}, true},
        {"sorter_out", "sorter", "rows are sorted", 112, {0, 21, 22, 23 + 20, 0, 25, 1}}};
    CHECK(hw::bounds_of({{.units = {&sorter}, .layers = 4}}, {}) == expected);
    CHECK(expected[0].value() == 61);
    CHECK(expected[0].value(2) == 22);
    CHECK(expected[0].value(7) == 0);

    // Where no layer is worked on, they stay outside of layers.
    const std::vector<machine::Bound> without = hw::bounds_of({{.units = {&sorter}, .layers = 1}}, {});
    CHECK(without[0].by_tag == std::vector<Cycle>{10, 11, 12, 13, 0, 15, 0});
    CHECK(without[2].by_tag == std::vector<Cycle>{20, 21, 22, 23, 0, 25, 1});
}

TEST_CASE("Bounds are in the order of their places, then of their units", "[hw][common]") {
    const tests::FreshSimulation simulation;
    const Sorter in_front("in_front", 1), behind("behind", hw::UnitBound::behind_all);
    CHECK(names_of(hw::bounds_of({{.units = {&in_front}}}, {})) ==
          std::vector<std::string>{"sorter_in", "sorted", "sorter_out"});
    CHECK(names_of(hw::bounds_of({{.units = {&behind}}}, {})) ==
          std::vector<std::string>{"sorted", "sorter_in", "sorter_out"});
}

TEST_CASE("Of several cores, the largest bound counts, and of a shared part the sum of its chip",
          "[hw][common]") {
    const tests::FreshSimulation simulation;
    std::deque<Sorter> sorters;
    for (const hw::Tag core : std::vector<hw::Tag>{0, 1, 2}) {
        Sorter& sorter = sorters.emplace_back(sc_core::sc_gen_unique_name("sorter"), 1U);
        sorter.is_shared_ = true;
        sorter.counters_.rows.add(100U * (core + 1U), core);
        sorter.bytes_.in.add(10U + core, 1);
    }
    // Two cores of one chip, and one of another.
    const std::vector<machine::Bound> bounds =
        hw::bounds_of({{.chip = 0, .units = {&sorters[0]}, .layers = 2},
                       {.chip = 0, .units = {&sorters[1]}, .layers = 2},
                       {.chip = 1, .units = {&sorters[2]}, .layers = 2}},
                      {});
    REQUIRE(names_of(bounds) == std::vector<std::string>{"sorter_in", "sorted", "sorter_out"});
    CHECK(bounds[0].run == 10 + 11);
    CHECK(bounds[0].by_tag == std::vector<Cycle>{0, 10 + 11, 0});
    CHECK(bounds[1].run == 300);
    CHECK(bounds[1].by_tag == std::vector<Cycle>{100, 200, 300});
}
