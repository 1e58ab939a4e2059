// Which of several waits is named as the cause where nothing moves any more.
#include "hw/core/stuck.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "hw/isa/assembly.h"
#include "hw/isa/program_error.h"
#include "hw/system/system.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/random_program/choices.h"
#include "tests/support/random_runs.h"

using namespace systole;

namespace {

machine::MachineConfig machine_for_syncs() {
    machine::MachineConfig machine;
    machine.matrix_unit.rows = 8;
    machine.matrix_unit.columns = 6;
    machine.sequencer.queue_depth = 64;
    return machine;
}

/// Waits and signals of all units, each semaphore with one unit that signals it and one that waits for it.
isa::Program random_syncs(tests::Choices& choices) {
    struct Pair {
        isa::QueueId signals = isa::QueueId::Matrix;
        isa::QueueId waits = isa::QueueId::Matrix;
    };
    const auto any_unit = [&] {
        return static_cast<isa::QueueId>(choices.from(0, static_cast<std::size_t>(isa::QueueId::Host)));
    };
    std::vector<Pair> semaphores(choices.from(1, 8));
    for (Pair& pair : semaphores) pair = {any_unit(), any_unit()};
    isa::Program program;
    program.geometry = {8, 6};
    for (std::uint64_t left = choices.from(2, 24); left > 0; --left) {
        const auto semaphore = static_cast<std::uint8_t>(choices.from(0, semaphores.size() - 1));
        const Pair& pair = semaphores[semaphore];
        if (choices.from(0, 2) == 0) {
            program.instructions.emplace_back(isa::SyncSignal{.unit = pair.signals, .semaphore = semaphore});
        } else {
            program.instructions.emplace_back(isa::SyncWait{.unit = pair.waits, .semaphore = semaphore});
        }
    }
    program.instructions.emplace_back(isa::Halt{});
    return program;
}

/// Where each unit waits for ever, found by moving one instruction after the other as long as one can move.
class Moved {
public:
    explicit Moved(const isa::Program& program) : program_(program) {
        for (std::size_t i = 0; i + 1 < program.instructions.size(); ++i) {
            queues_[static_cast<std::size_t>(*isa::queue_of(program.instructions[i]))].push_back(i);
        }
        for (bool moves = true; moves;) {
            moves = false;
            for (auto& queue : queues_) {
                while (!queue.empty() && move(queue.front())) {
                    queue.erase(queue.begin());
                    moves = true;
                }
            }
        }
    }

    /// The instruction that a unit waits in.
    std::optional<hw::InstructionNumber> waiting(std::size_t unit) const {
        if (queues_[unit].empty()) return std::nullopt;
        return queues_[unit].front();
    }

    /// The unit whose next signal would end the wait of this one.
    std::optional<std::size_t> ended_by(std::size_t unit) const {
        const auto& wait = std::get<isa::SyncWait>(program_.instructions[queues_[unit].front()]);
        for (std::size_t other = 0; other < isa::queue_count; ++other) {
            for (const hw::InstructionNumber number : queues_[other]) {
                const auto* signal = std::get_if<isa::SyncSignal>(&program_.instructions[number]);
                if (signal != nullptr && signal->semaphore == wait.semaphore) return other;
            }
        }
        return std::nullopt;
    }

    std::vector<std::size_t> stuck_units() const {
        std::vector<std::size_t> units;
        for (std::size_t unit = 0; unit < isa::queue_count; ++unit) {
            if (!queues_[unit].empty()) units.push_back(unit);
        }
        return units;
    }

private:
    bool move(hw::InstructionNumber number) {
        if (const auto* signal = std::get_if<isa::SyncSignal>(&program_.instructions[number])) {
            ++signals_[signal->semaphore];
            return true;
        }
        int& signals = signals_[std::get<isa::SyncWait>(program_.instructions[number]).semaphore];
        if (signals == 0) return false;
        --signals;
        return true;
    }

    const isa::Program& program_;
    std::array<std::vector<hw::InstructionNumber>, isa::queue_count> queues_;
    std::map<std::uint8_t, int> signals_;
};

/// The cause: from the unit with the earliest instruction on, the first that no unit can help, or the circle
/// of units that wait for each other, from its earliest instruction on.
std::vector<std::size_t> cause_of(const Moved& moved, std::vector<std::size_t> stuck) {
    const auto earlier = [&](std::size_t a, std::size_t b) { return *moved.waiting(a) < *moved.waiting(b); };
    std::size_t unit = *std::min_element(stuck.begin(), stuck.end(), earlier);
    // After as many steps as there are units, what is left is the end, or in the circle.
    for (std::size_t i = 0; i < isa::queue_count; ++i) unit = moved.ended_by(unit).value_or(unit);
    if (!moved.ended_by(unit)) return {unit};
    std::vector<std::size_t> circle{unit};
    for (std::size_t next = *moved.ended_by(unit); next != unit; next = *moved.ended_by(next)) {
        circle.push_back(next);
    }
    std::rotate(circle.begin(), std::min_element(circle.begin(), circle.end(), earlier), circle.end());
    return circle;
}

std::string stuck_error_of(const isa::Program& program) {
    const tests::FreshSimulation simulation;
    hw::System system("system", machine_for_syncs(), program, {});
    try {
        system.run();
    } catch (const isa::ProgramError& error) {
        return error.what();
    }
    return {};
}

}  // namespace

TEST_CASE("Of several units that are stuck, the cause is that of the earliest instruction", "[order]") {
    constexpr std::uint64_t first_seed = 350000;
    std::size_t alone = 0, in_circles = 0, chosen = 0;
    for (std::uint64_t seed = first_seed; seed < first_seed + tests::random_runs(1000); ++seed) {
        tests::Choices choices(seed);
        const isa::Program program = random_syncs(choices);
        INFO("seed " << seed << "\n" << isa::disassemble(program));
        const Moved moved(program);
        const std::vector<std::size_t> stuck = moved.stuck_units();
        const std::string error = stuck_error_of(program);
        if (stuck.empty()) {
            CHECK(error.empty());
            continue;
        }
        std::vector<std::size_t> expected = cause_of(moved, stuck);
        const std::size_t causes = expected.size();
        for (const std::size_t unit : stuck) {
            if (std::find(expected.begin(), expected.end(), unit) == expected.end()) expected.push_back(unit);
        }
        const auto end = static_cast<hw::InstructionNumber>(program.instructions.size() - 1);
        hw::StuckProgram state{.program = program, .issued = end, .waiting = {}};
        for (std::size_t unit = 0; unit < isa::queue_count; ++unit) state.waiting[unit] = moved.waiting(unit);
        const std::vector<hw::StuckWait> waits = hw::waits_of(state);
        REQUIRE(waits.size() == expected.size() + 1);
        for (std::size_t i = 0; i < expected.size(); ++i) {
            CHECK(waits[i].unit == isa::name(static_cast<isa::QueueId>(expected[i])));
            CHECK(waits[i].number == *moved.waiting(expected[i]));
        }
        CHECK(waits.back().unit == "sequencer");
        CHECK(waits.back().number == end);
        CHECK_THAT(error,
                   Catch::StartsWith(fmt::format("the program cannot finish: {} waits in instruction {} (",
                                                 waits.front().unit, waits.front().number)));
        alone += causes == 1 && stuck.size() > 1;
        in_circles += causes > 1;
        chosen += expected.front() != stuck.front();
    }
    CHECK(alone >= tests::random_share(300));
    CHECK(in_circles >= tests::random_share(10));
    CHECK(chosen >= tests::random_share(100));
}

TEST_CASE("Of two waits that nothing can end, the earlier is named first", "[order]") {
    const auto first_named = [](const std::string& text) {
        return stuck_error_of(isa::assemble(".array 8 6\n" + text + "halt\n", "test"));
    };
    CHECK_THAT(first_named("sync.wait activation sem=1\nsync.wait matrix sem=2\n"),
               Catch::StartsWith("the program cannot finish: activation waits in instruction 0 "));
    CHECK_THAT(first_named("sync.wait matrix sem=2\nsync.wait activation sem=1\n"),
               Catch::StartsWith("the program cannot finish: matrix waits in instruction 0 "));
    // The earliest waits for a unit that waits for ever; a third unit has nothing to do with it.
    CHECK_THAT(first_named("sync.wait activation sem=1\nsync.wait host_read sem=3\nsync.wait weights sem=2\n"
                           "sync.signal weights sem=1\n"),
               Catch::StartsWith("the program cannot finish: weights waits in instruction 2 "));
}
