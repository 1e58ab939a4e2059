// `--mapping best` against the simpler mappings, on whole networks and odd machines.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <variant>

#include "compiler/ir/model_error.h"
#include "hw/isa/instruction.h"
#include "hw/isa/program.h"
#include "sim/run/record/spec.h"
#include "tests/support/mapping_case.h"
#include "tests/support/random_runs.h"
#include "tests/system/sim_process.h"

namespace systole {
namespace {

constexpr double one_percent_more = 1.01;

/// The streams and other instructions of a program.
std::uint64_t steps_of(const isa::Program& program) {
    std::uint64_t steps = program.instructions.size();
    for (const isa::Instruction& instruction : program.instructions) {
        if (const auto* const multiply = std::get_if<isa::MatrixMultiply>(&instruction)) {
            steps += multiply->repeat;
        } else if (const auto* const convolve = std::get_if<isa::Convolve>(&instruction)) {
            steps += convolve->repeat;
        }
    }
    return steps;
}

/// How the best mapping does against the simpler ones.
struct MappingsTried {
    std::uint32_t cases = 0, simpler = 0, by_part = 0;

    /// Returns the cycles of the best mapping over the fewest of the others.
    double add(const tests::MappingCase& drawn, const mapping::ComparisonSteps& steps = {}) {
        const mapping::Compiled best =
            tests::compiled(drawn, machine::mapping_named(machine::MappingName::Best), steps);
        const Cycle cycles = tests::cycles_of(best.program, drawn.machine);
        ++cases;
        simpler += best.chosen > 0;
        by_part += std::ranges::any_of(best.mappings, [&](const mapping::WholeMapping& each) {
            return each.simulated > 0 && each.simulated < drawn.options.inferences;
        });
        Cycle fewest = std::numeric_limits<Cycle>::max();
        for (const machine::MappingName name :
             {machine::MappingName::Plain, machine::MappingName::AsPublished}) {
            try {
                const isa::Program program = tests::compiled(drawn, machine::mapping_named(name)).program;
                fewest = std::min(fewest, tests::cycles_of(program, drawn.machine));
            } catch (const ModelError&) {
                continue;  // an image does not fit without what the best mapping saves
            }
        }
        return static_cast<double>(cycles) / static_cast<double>(fewest);
    }
};

}  // namespace

TEST_CASE("The best mapping is not slower than the simpler ones", "[system][mapping]") {
    constexpr std::uint32_t first_seed = 44000;
    MappingsTried tried;
    for (std::uint32_t seed = first_seed; seed < first_seed + tests::random_runs(20); ++seed) {
        INFO("seed " << seed);
        try {
            CHECK(tried.add(tests::mapping_case(seed)) <= one_percent_more);
        } catch (const ModelError&) {
            continue;  // not even a part of an image fits the unified buffer
        }
    }
    UNSCOPED_INFO(tried.simpler << " of " << tried.cases << " have a simpler mapping");
    CHECK(tried.cases >= tests::random_share(15));
    CHECK(tried.simpler >= tests::random_share(2));
}

TEST_CASE("A part of a run shows which mapping is best", "[system][mapping]") {
    constexpr std::uint32_t first_seed = 44520;
    // As if the networks were large. The choice is a prediction then: one in 50 may be wrong, by a little.
    constexpr mapping::ComparisonSteps few{.part = 500, .most = 2'000};
    constexpr double little_more = 1.05;
    constexpr std::uint32_t cases_for_one = 50;
    MappingsTried tried;
    std::uint32_t slower = 0;
    for (std::uint32_t seed = first_seed; seed < first_seed + tests::random_runs(20); ++seed) {
        INFO("seed " << seed);
        try {
            const double ratio = tried.add(tests::mapping_case(seed), few);
            CHECK(ratio <= little_more);
            slower += ratio > one_percent_more;
        } catch (const ModelError&) {
            continue;  // not even a part of an image fits the unified buffer
        }
    }
    UNSCOPED_INFO(tried.by_part << " of " << tried.cases << " by a part of the run");
    CHECK(slower * cases_for_one <= tried.cases);
    CHECK(tried.cases >= tests::random_share(15));
    CHECK(tried.by_part >= tests::random_share(1));
}

TEST_CASE("The cycles by which a mapping is chosen are those of its run", "[system][mapping]") {
    constexpr std::uint32_t first_seed = 44700;
    constexpr mapping::ComparisonSteps all_steps{.part = 1'000'000, .most = 1'000'000};
    std::uint32_t compared = 0;
    for (std::uint32_t seed = first_seed; seed < first_seed + tests::random_runs(10); ++seed) {
        INFO("seed " << seed);
        const tests::MappingCase drawn = tests::mapping_case(seed);
        try {
            constexpr std::uint64_t few_steps = 5'000;
            const mapping::Compiled best =
                tests::compiled(drawn, machine::mapping_named(machine::MappingName::Best), all_steps);
            if (best.mappings.empty() || steps_of(best.program) > few_steps) continue;
            const mapping::WholeMapping& chosen = best.mappings[best.chosen];
            CHECK(chosen.simulated == drawn.options.inferences);
            CHECK(chosen.cycles == tests::cycles_of(best.program, drawn.machine));
            ++compared;
        } catch (const ModelError&) {
            continue;
        }
    }
    CHECK(compared >= tests::random_share(5));
}

TEST_CASE("sim compile --explain shows the cycles of whole mappings", "[system][mapping]") {
    const std::string compile =
        "compile --model models/isca17/mlp1.json --machine tpu_v1 --batch 8 --random-input 1 --explain";
    const std::string best = tests::sim(compile).out;
    CHECK(best.find("all inferences, by the mapping of the whole network\n") != std::string::npos);
    CHECK(best.find("cycles  best  chosen\n") != std::string::npos);
    CHECK(best.find("cycles  as_published") != std::string::npos);
    CHECK(best.find("cycles  plain") != std::string::npos);
    CHECK(best.find("unified buffer: ") != std::string::npos);
    CHECK(tests::sim(compile + " --mapping plain").out.find("whole network") == std::string::npos);
}

TEST_CASE("A comparison of mappings counts the work of the host and of every batch", "[system][mapping]") {
    const tests::Folder folder;
    const std::string network = folder.file("net.json", R"({
      "schema": "sim.graph/1", "name": "attention", "input": {"shape": [64]}, "weights": {"seed": 4},
      "layers": [
        {"name": "features", "op": "dense", "inputs": ["input"], "units": 64, "activation": "relu"},
        {"name": "shares", "op": "softmax", "inputs": ["features"]},
        {"name": "classes", "op": "dense", "inputs": ["shares"], "units": 10}],
      "output": "classes"})");
    const std::string options = " --machine tpu_v1 --batch 20 --limit 50 --random-input 1 --model " + network;
    const std::string text = tests::sim("compile --explain" + options).out;
    const auto report = tests::report_of(options + " --timing-only");
    REQUIRE(report["units"]["host"]["segments"] == 3);
    CHECK_THAT(text,
               Catch::Contains(fmt::format("  {:>22} cycles  ", report["cycles"].get<std::uint64_t>())));
}

}  // namespace systole
