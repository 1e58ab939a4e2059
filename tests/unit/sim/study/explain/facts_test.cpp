// The facts of an explanation, from the counters of a record.
#include "sim/study/explain/facts.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <string>

#include "hw/isa/assembly.h"
#include "sim/run/execute/run.h"
#include "tests/support/fresh_simulation.h"

using namespace systole;
using explain::Facts;

namespace {

/// The fields of the facts by the counter that each must have.
std::map<std::string, std::uint64_t> by_counter(const Facts& facts) {
    // A structured binding counts the fields, so a new one does not compile before it is here.
    const auto& [active, stall, shift, non_matrix, reasons, useful, unused, fetched] = facts;
    const auto& [raw, input, accumulators, output_buffer, input_buffer, vector_work, setup, port, not_arrived,
                 queue_full, issue, sync, program_begin, program_end, host] = reasons;
    const std::string of_reasons = "matrix_unit.non_matrix_reasons.";
    return {{"matrix_unit.active_cycles", active},
            {"matrix_unit.weight_stall_cycles", stall},
            {"matrix_unit.weight_shift_cycles", shift},
            {"matrix_unit.non_matrix_cycles", non_matrix},
            {"matrix_unit.useful_macs", useful},
            {"matrix_unit.unused_macs", unused},
            {of_reasons + "raw_cycles", raw},
            {of_reasons + "input_cycles", input},
            {of_reasons + "accumulators_cycles", accumulators},
            {of_reasons + "output_buffer_cycles", output_buffer},
            {of_reasons + "input_buffer_cycles", input_buffer},
            {of_reasons + "vector_work_cycles", vector_work},
            {of_reasons + "setup_cycles", setup},
            {of_reasons + "port_cycles", port},
            {of_reasons + "not_arrived_cycles", not_arrived},
            {of_reasons + "queue_full_cycles", queue_full},
            {of_reasons + "issue_cycles", issue},
            {of_reasons + "sync_cycles", sync},
            {of_reasons + "program_begin_cycles", program_begin},
            {of_reasons + "program_end_cycles", program_end},
            {of_reasons + "host_cycles", host}};
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
    for (const auto& [path, value] : by_counter(facts.run)) {
        INFO(path);
        CHECK(value == record.counters.at(path).value());
    }
    REQUIRE(facts.tags.size() == 3);
    for (std::size_t tag = 0; tag < facts.tags.size(); ++tag) {
        for (const auto& [path, value] : by_counter(facts.tags[tag].facts)) {
            INFO(path << " of tag " << tag);
            CHECK(value == record.counters.at(path).value(static_cast<run::Tag>(tag)));
        }
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
