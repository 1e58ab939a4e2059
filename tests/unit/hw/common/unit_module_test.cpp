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

/// A module that counts nothing, with two units inside.
class Core final : public sc_core::sc_module {
public:
    explicit Core(const sc_core::sc_module_name& name) : sc_module(name) {}
    Box second{"second", "second_part"};
    Box first{"first", "first_part"};
};

struct System final : sc_core::sc_module {
    explicit System(const sc_core::sc_module_name& name) : sc_module(name) {}
    Core core0{"core0"};
    Core core1{"core1"};
};

struct Bench : tests::FreshSimulation {
    System system{"system"};
};

std::vector<std::string> paths_below(const sc_core::sc_object& module) {
    std::vector<std::string> paths;
    for (const hw::PlacedCounters& placed : hw::counters_below(module)) {
        CHECK(placed.group->begin() != placed.group->end());
        paths.push_back(placed.path);
    }
    return paths;
}

}  // namespace

TEST_CASE("Counters are found in the tree of modules, in the order in which units were built",
          "[hw][common]") {
    const Bench bench;
    CHECK(paths_below(bench.system.core1) ==
          std::vector<std::string>{"second", "second_part", "first", "first_part"});
    CHECK(paths_below(bench.system) ==
          std::vector<std::string>{"core0.second", "core0.second_part", "core0.first", "core0.first_part",
                                   "core1.second", "core1.second_part", "core1.first", "core1.first_part"});
}

TEST_CASE("A counter has a path, and a path without a counter is an error", "[hw][common]") {
    Bench bench;
    Core& core = bench.system.core1;
    core.first.part_.rows.add(3, 0);
    core.second.own_.rows.add(5, 1);
    CHECK(hw::find_counter(core, "first_part.rows").value() == 3);
    CHECK(hw::find_counter(core, "first.rows").value() == 0);
    CHECK(hw::find_counter(core, "second.rows").value() == 5);
    CHECK(hw::find_counter(bench.system, "core1.second.rows").value() == 5);
    CHECK(hw::find_counter(bench.system, "core0.second.rows").value() == 0);
    CHECK_THROWS_WITH(hw::find_counter(core, "third.rows"), "there is no counter third.rows");
    CHECK_THROWS_AS(hw::find_counter(core, "first.columns"), std::logic_error);
    CHECK_THROWS_AS(hw::find_counter(core, "first"), std::logic_error);
}
