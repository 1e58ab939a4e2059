// The test of the tests: what compares runs sees every difference, and what makes failing cases small does.
#include "tests/support/random_program/shrink.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <variant>

#include "hw/isa/assembly.h"
#include "hw/isa/program_error.h"
#include "tests/support/random_program/judge.h"
#include "tests/support/random_program/observe.h"
#include "tests/support/random_program/synchronize.h"

using namespace systole;
using tests::Case;
using tests::Failure;

namespace {

/// The first random case that fails, from a seed on, with its failure.
tests::FailingCase first_failing(const tests::Judge& judge, std::uint64_t first_seed = 400000) {
    const std::uint64_t last_seed = first_seed + 10000;  // far beyond the first that fails
    for (std::uint64_t seed = first_seed; seed < last_seed; ++seed) {
        tests::Choices choices(seed);
        Case random = tests::random_case(choices);
        if (const auto failure = judge(random)) return {std::move(random), *failure};
    }
    throw std::logic_error("no random case fails");
}

std::uint32_t strides(const isa::Program& program) {
    isa::Registers registers;
    std::uint32_t widest = 0;
    for (const isa::Instruction& instruction : program.instructions) {
        if (const auto* set = std::get_if<isa::SetConfig>(&instruction)) registers.set(set->reg, set->value);
        if (!std::holds_alternative<isa::Convolve>(instruction)) continue;
        widest = std::max(widest, registers[isa::Register::WindowStrideX]);
    }
    return widest;
}

template <class Kind>
std::size_t count(const isa::Program& program) {
    return static_cast<std::size_t>(
        std::count_if(program.instructions.begin(), program.instructions.end(),
                      [](const auto& each) { return std::holds_alternative<Kind>(each); }));
}

/// Pretends that the engines differ on convolutions with strides on machines with one accumulator port.
std::optional<Failure> strided_convolution(const Case& random) {
    if (random.machine.accumulators.ports != 1 || strides(random.program) < 2) return std::nullopt;
    return Failure{Failure::Kind::Engines, "planted"};
}

/// Pretends that every nonzero sum of a valid program is wrong. Excludes convolutions, whose padding gives
/// sums without any rows that were read, and values that are there at first.
std::optional<Failure> any_sum(const Case& random) {
    if (count<isa::Convolve>(random.program) > 0 || isa::has_initial_rows(random.program)) {
        return std::nullopt;
    }
    try {
        const auto sums = tests::execute(tests::synchronized(random), random.machine).accumulators;
        if (std::all_of(sums.begin(), sums.end(), [](std::int32_t sum) { return sum == 0; }))
            return std::nullopt;
    } catch (const isa::ProgramError& error) {
        return Failure{Failure::Kind::Refused, error.what()};
    }
    return Failure{Failure::Kind::Functional, "planted"};
}

/// The smallest of three cases that were made small: some programs need two steps at once to become smaller.
tests::FailingCase smallest_of_three(const tests::Judge& judge) {
    std::optional<tests::FailingCase> smallest;
    for (const std::uint64_t seed : {400000U, 500000U, 600000U}) {
        tests::FailingCase small = tests::shrink(first_failing(judge, seed), judge);
        const auto cells = [](const tests::FailingCase& of) {
            return of.failing.program.geometry.rows * of.failing.program.geometry.columns;
        };
        if (!smallest || cells(small) < cells(*smallest)) smallest = std::move(small);
    }
    return *std::move(smallest);
}

/// The queues of machines with an array are the first ones.
constexpr std::size_t queues_of_array = static_cast<std::size_t>(isa::QueueId::Host) + 1;

/// A run of some program with all units at work.
struct Run {
    Run() {
        for (std::uint64_t seed = 410000; !everything_happened(); ++seed) {
            tests::Choices choices(seed);
            random = tests::random_case(choices);
            program = tests::synchronized(random);
            observed = tests::observe(program, random.machine, machine::Engine::Wavefront);
        }
    }
    bool everything_happened() const {
        return !observed.tiles.empty() &&
               std::none_of(observed.times.begin(), observed.times.begin() + queues_of_array,
                            [](const auto& times) { return times.empty(); });
    }

    Case random;
    isa::Program program;
    tests::Observation observed;
};

}  // namespace

TEST_CASE("A planted failure is shrunk to the instruction and the parameter it comes from", "[equality]") {
    const tests::FailingCase small = tests::shrink(first_failing(strided_convolution), strided_convolution);
    const isa::Program& program = small.failing.program;
    CHECK(small.failure.kind == Failure::Kind::Engines);
    REQUIRE(program.instructions.size() == 3);
    CHECK(std::get<isa::SetConfig>(program.instructions[0]) ==
          isa::SetConfig{isa::Register::WindowStrideX, 2});
    CHECK(std::get<isa::Convolve>(program.instructions[1]) == isa::Convolve{.lines = 1});
    CHECK(std::holds_alternative<isa::Halt>(program.instructions[2]));
    CHECK(program.tiles.empty());
    CHECK(program.geometry == isa::Geometry{.rows = 1, .columns = 1});
    CHECK(small.failing.sync == tests::SyncStyle{});
    const machine::MachineConfig& machine = small.failing.machine;
    CHECK(machine.accumulators.ports == 1);
    CHECK(machine.matrix_unit.mac_latency_cycles == machine::MatrixUnitConfig{}.mac_latency_cycles);
    CHECK(machine.weight_memory.model == machine::WeightMemoryModel::Bandwidth);
    CHECK(machine.host_interface.latency_cycles == 0);
    CHECK(machine.unified_buffer.read_ports == machine::UnifiedBufferConfig{}.read_ports);
}

TEST_CASE("A wrong value is shrunk to one product of one element, ordered behind its input", "[equality]") {
    const tests::FailingCase small = smallest_of_three(any_sum);
    const isa::Program program = tests::synchronized(small.failing);
    INFO(tests::describe(small.failing, small.failure));
    CHECK(small.failure.kind == Failure::Kind::Functional);
    // Whatever makes the element, the host or the activation unit.
    CHECK(count<isa::ReadHostMemory>(program) + count<isa::Activate>(program) + count<isa::Vector>(program) ==
          1);
    CHECK(count<isa::ReadWeights>(program) == 1);
    CHECK(count<isa::MatrixMultiply>(program) == 1);
    CHECK(count<isa::SyncSignal>(program) == 1);
    CHECK(count<isa::SyncWait>(program) == 1);
    CHECK(count<isa::WriteHostMemory>(program) == 0);
    CHECK(program.geometry == isa::Geometry{.rows = 1, .columns = 1});
    // Nothing more can be taken away.
    for (std::size_t i = 0; i + 1 < small.failing.program.instructions.size(); ++i) {
        Case less = small.failing;
        less.program.instructions.erase(less.program.instructions.begin() + static_cast<std::ptrdiff_t>(i));
        const auto failure = any_sum(less);
        CHECK((!failure || failure->kind != small.failure.kind));
    }
}

TEST_CASE("A failing case is printed with its failure, its machine and its program", "[equality]") {
    const tests::FailingCase found = first_failing(any_sum);
    const std::string text = tests::describe(found.failing, found.failure);
    CHECK(text.starts_with("planted\nmachine:\n"));
    const auto machine_at = text.find('{');
    const auto program_at = text.find("program (with sync):\n");
    REQUIRE(program_at != std::string::npos);
    const auto machine = machine::read_machine(
        nlohmann::json::parse(text.substr(machine_at, program_at - machine_at)), "text");
    CHECK(machine::to_json(machine) == machine::to_json(found.failing.machine));
    const std::string assembly = text.substr(text.find('\n', program_at) + 1);
    CHECK(isa::assemble(assembly, "text") == tests::synchronized(found.failing));
}

TEST_CASE("Shrinking stays with the kind of failure it was given and within its bound", "[equality]") {
    std::size_t judged = 0;
    const auto planted = [&](const Case& random) -> std::optional<Failure> {
        ++judged;
        const bool long_enough = random.program.instructions.size() > 5;
        return Failure{long_enough ? Failure::Kind::Law : Failure::Kind::Stopped, "planted"};
    };
    const tests::FailingCase found = first_failing([](const Case& random) -> std::optional<Failure> {
        if (random.program.instructions.size() < 30) return std::nullopt;
        return Failure{Failure::Kind::Law, "planted"};
    });
    const tests::FailingCase small = tests::shrink(found, planted);
    CHECK(small.failure.kind == Failure::Kind::Law);
    CHECK(small.failing.program.instructions.size() == 6);

    judged = 0;
    constexpr std::size_t most = 7;
    tests::shrink(found, planted, most);
    CHECK(judged == most);
}

TEST_CASE("Every difference between two runs is seen", "[equality]") {
    const Run run;
    CHECK(tests::difference(run.observed, run.observed) == std::nullopt);
    const auto seen = [&](auto change) {
        tests::Observation other = run.observed;
        change(other);
        return tests::difference(run.observed, other).has_value() &&
               tests::difference(other, run.observed).has_value();
    };
    CHECK(seen([](auto& other) { ++other.cycles; }));
    CHECK(seen([](auto& other) { other.error = "wrong"; }));
    for (std::size_t unit = 0; unit < queues_of_array; ++unit) {
        CAPTURE(unit);
        CHECK(seen([&](auto& other) { ++other.times[unit].back().issued; }));
        CHECK(seen([&](auto& other) { ++other.times[unit].back().begun; }));
        CHECK(seen([&](auto& other) { ++other.times[unit].back().released; }));
        CHECK(seen([&](auto& other) { ++other.times[unit].back().complete; }));
        CHECK(seen([&](auto& other) { other.times[unit].pop_back(); }));
    }
    CHECK(seen([](auto& other) { ++other.tiles.back().shifted; }));
    CHECK(seen([](auto& other) { other.tiles.pop_back(); }));
    for (std::size_t i = 0; i < run.observed.counters.size(); ++i) {
        CAPTURE(run.observed.counters[i].name);
        CHECK(seen([&](auto& other) { ++other.counters[i].value; }));
    }
    CHECK(seen([](auto& other) { other.counters.pop_back(); }));
    CHECK(seen([](auto& other) { other.memories.accumulators.back() ^= 1; }));
    CHECK(seen([](auto& other) { other.memories.unified_buffer.back() ^= 1; }));
    CHECK(seen([](auto& other) { other.memories.host.back().back() ^= 1; }));
}

TEST_CASE("A cycle, an instruction or a tile that is counted twice breaks a law", "[equality]") {
    const Run run;
    CHECK(tests::broken_law(run.observed, run.program, run.random.machine) == std::nullopt);
    const auto broken = [&](auto change) {
        tests::Observation other = run.observed;
        change(other);
        return tests::broken_law(other, run.program, run.random.machine).has_value();
    };
    std::size_t summed = 0;
    for (std::size_t i = 0; i < run.observed.counters.size(); ++i) {
        summed += broken([&](auto& other) { ++other.counters[i].value; }) ? 1 : 0;
    }
    // Of each unit with a queue and of the sequencer three or more, of the matrix unit six, two counts.
    CHECK(summed >= 6 * 3 + 6 + 2);
    CHECK(broken([](auto& other) { ++other.cycles; }));
    for (std::size_t unit = 0; unit < queues_of_array; ++unit) {
        CAPTURE(unit);
        CHECK(broken([&](auto& other) { other.times[unit].pop_back(); }));
        CHECK(broken([&](auto& other) { other.times[unit].back().complete = other.cycles + 1; }));
        CHECK(broken(
            [&](auto& other) { other.times[unit].back().begun = other.times[unit].back().released + 1; }));
    }
}
