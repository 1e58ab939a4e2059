// The facts of an explanation, from the counters of a record.
#include "sim/study/explain/facts.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hw/isa/assembly.h"
#include "sim/run/execute/run.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/unit_descriptions.h"

using namespace systole;
using explain::Facts;

namespace {

/// The counters whose sum each cause must have.
const std::map<std::string, std::vector<std::string>> counters_of_causes{
    {"weight_stall", {"weight_stall_cycles"}},
    {"weight_shift", {"weight_shift_cycles"}},
    {"activations", {"non_matrix_reasons.raw_cycles"}},
    {"input", {"non_matrix_reasons.input_cycles", "non_matrix_reasons.input_buffer_cycles"}},
    {"accumulators", {"non_matrix_reasons.accumulators_cycles"}},
    {"output_buffer", {"non_matrix_reasons.output_buffer_cycles"}},
    {"vector_work", {"non_matrix_reasons.vector_work_cycles"}},
    {"setup", {"non_matrix_reasons.setup_cycles"}},
    {"ports", {"non_matrix_reasons.port_cycles"}},
    {"issue",
     {"non_matrix_reasons.not_arrived_cycles", "non_matrix_reasons.queue_full_cycles",
      "non_matrix_reasons.issue_cycles"}},
    {"sync", {"non_matrix_reasons.sync_cycles"}},
    {"host", {"non_matrix_reasons.host_cycles"}},
    {"begin_and_end", {"non_matrix_reasons.program_begin_cycles", "non_matrix_reasons.program_end_cycles"}}};

/// Checks the facts against the counters, whose value `value` gives.
template <class Value>
void check_facts(const Facts& facts, const run::Counters& counters, Value value) {
    const auto read = [&](const std::string& name) { return value(counters.at("matrix_unit." + name)); };
    CHECK(facts.active_cycles == read("active_cycles"));
    CHECK(facts.useful_macs == read("useful_macs"));
    CHECK(facts.unused_macs == read("unused_macs"));
    CHECK(facts.by_cause.size() == counters_of_causes.size());
    for (const auto& [cause, names] : counters_of_causes) {
        INFO(cause);
        std::uint64_t sum = 0;
        for (const std::string& name : names) sum += read(name);
        REQUIRE(facts.by_cause.contains(cause));
        CHECK(facts.by_cause.at(cause) == sum);
    }
    // No counter of cycles is in none of them.
    std::size_t of_causes = 0;
    for (const auto& [cause, names] : counters_of_causes) of_causes += names.size();
    CHECK(counters.of("matrix_unit.non_matrix_reasons").size() + 2 == of_causes);
}

run::RunRecord some_record() {
    const tests::FreshSimulation simulation;
    run::RunSpec spec;
    spec.machine.matrix_unit.rows = 8;
    spec.machine.matrix_unit.columns = 6;
    spec.machine.clock_mhz = 333;
    spec.program.emplace();
    spec.timing_only = true;
    run::Prepared prepared;
    prepared.program = isa::assemble(
        ".array 8 6\n.tile 5 4 fill 1; .tile 8 2 fill 1\n"
        "tag 1\nread_weights tile=0\nmatmul ub=0 acc=0 rows=3\n"
        "tag 2\nread_weights tile=1 count=1\nread_weights tile=0\nmatmul ub=0 acc=0 rows=3 repeat=1\nhalt\n",
        "test");
    return run::simulate(spec, prepared);
}

}  // namespace

TEST_CASE("Each fact is its counter, of the run and of each tag", "[explain]") {
    run::RunRecord record = some_record();
    record.units = tests::descriptions_of(record.spec.machine);
    // Counters of which no two are equal. A program without work for the host has no counter for it.
    const auto behind = std::ranges::find(
        record.counters.all, "matrix_unit.non_matrix_reasons.program_end_cycles", &run::Counter::path);
    REQUIRE(behind != record.counters.all.end());
    record.counters.all.insert(behind + 1, *behind)->path = "matrix_unit.non_matrix_reasons.host_cycles";
    std::uint64_t next = 1000;
    for (run::Counter& counter : record.counters.all) {
        counter.by_tag.clear();
        counter.total = next++;
        for (std::size_t tag = 0; tag < record.program.tags.size(); ++tag) counter.by_tag.push_back(next++);
    }
    const explain::Simulation facts = explain::facts_of(record);
    check_facts(facts.run, record.counters, [](const run::Counter& counter) { return counter.value(); });
    REQUIRE(facts.tags.size() == 3);
    for (std::size_t tag = 0; tag < facts.tags.size(); ++tag) {
        INFO("tag " << tag);
        check_facts(facts.tags[tag].facts, record.counters,
                    [tag](const run::Counter& counter) { return counter.value(static_cast<run::Tag>(tag)); });
    }
}

TEST_CASE("The tiles of a run are those of its tags, and its clock is the machine's", "[explain]") {
    const explain::Simulation facts = explain::facts_of(some_record());
    CHECK(facts.clock_hz == 333'000'000);
    CHECK(facts.inferences == 1);
    REQUIRE(facts.tags.size() == 3);
    CHECK(facts.tags[1].name == "tag 1");
    CHECK(facts.tags[1].facts.fetched ==
          run::TileUse{.tiles = 1, .rows = 5, .columns = 4, .cells = 20, .weights = 20, .widest_columns = 4});
    CHECK(
        facts.tags[2].facts.fetched ==
        run::TileUse{.tiles = 2, .rows = 13, .columns = 6, .cells = 36, .weights = 36, .widest_columns = 4});
    CHECK(
        facts.run.fetched ==
        run::TileUse{.tiles = 3, .rows = 18, .columns = 10, .cells = 56, .weights = 56, .widest_columns = 4});
}
