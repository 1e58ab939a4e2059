#include "hw/common/unit_module.h"

#include <catch2/catch.hpp>
#include <stdexcept>
#include <string>
#include <vector>

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
