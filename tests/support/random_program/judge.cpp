#include "tests/support/random_program/judge.h"

#include <fmt/format.h>

#include <array>
#include <random>

#include "hw/isa/assembly.h"
#include "hw/isa/program_error.h"
#include "tests/support/random_program/observe.h"
#include "tests/support/random_program/synchronize.h"

namespace systole::tests {
namespace {

constexpr std::size_t engine_count = machine::engine_names.size();

/// Holds processes back by few or by many delta cycles.
std::function<unsigned()> shuffled(std::uint64_t seed) {
    return [random = std::mt19937(static_cast<std::uint32_t>(seed))]() mutable {
        const auto drawn = static_cast<unsigned>(random());
        return drawn % 8 == 0 ? drawn / 8 % 9 : drawn / 8 % 3;
    };
}

}  // namespace

std::optional<Failure> judge(const Case& random) {
    using Kind = Failure::Kind;
    isa::Program program;
    Memories expected;
    try {
        program = synchronized(random);
        expected = execute(program, random.machine);
    } catch (const isa::ProgramError& error) {
        return Failure{Kind::Refused, error.what()};
    }

    std::optional<Observation> first;
    for (std::size_t i = 0; i < engine_count; ++i) {
        const auto engine = static_cast<machine::Engine>(i);
        const auto name = machine::engine_names[i];
        const Observation run = observe(program, random.machine, engine);
        if (first) {
            if (const auto differs = difference(*first, run)) {
                return Failure{Kind::Engines,
                               fmt::format("{} and {}: {}", machine::engine_names[0], name, *differs)};
            }
        }
        if (!run.error.empty()) return Failure{Kind::Stopped, fmt::format("{}: {}", name, run.error)};
        if (const auto broken = broken_law(run, program, random.machine)) {
            return Failure{Kind::Law, fmt::format("{}: {}", name, *broken)};
        }
        if (const auto differs = difference(expected, run.memories)) {
            return Failure{Kind::Functional, fmt::format("functional and {}: {}", name, *differs)};
        }
        const Observation again = observe(program, random.machine, engine, shuffled(random.sync.seed + i));
        if (const auto differs = difference(run, again)) {
            return Failure{Kind::Order, fmt::format("{}, calm and shuffled: {}", name, *differs)};
        }
        if (!first) first = run;
    }
    return std::nullopt;
}

std::string describe(const Case& random, const Failure& failure) {
    isa::Program program = random.program;
    std::string how = "as it is, without sync";
    try {
        program = synchronized(random);
        how = "with sync";
    } catch (const isa::ProgramError&) {
        // The text shows what could not be ordered.
    }
    return fmt::format("{}\nmachine:\n{}\nprogram ({}):\n{}", failure.text,
                       machine::to_json(random.machine).dump(1), how, isa::disassemble(program));
}

}  // namespace systole::tests
