#include "tests/support/random_program/observe.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "hw/isa/program_error.h"
#include "hw/system/system.h"
#include "sim/functional/executor.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/mixing_host.h"

namespace systole::tests {
namespace {

class Recorder final : public hw::TraceListener {
public:
    explicit Recorder(Observation& run) : run_(run) {}
    void instruction(const hw::InstructionTimes& times) override {
        run_.times.at(times.unit).push_back(times);
    }
    void tile(const hw::TileTimes& times) override { run_.tiles.push_back(times); }

private:
    Observation& run_;
};

std::set<hw::Tag> tags_of(const isa::Program& program) {
    std::set<hw::Tag> tags{0};
    for (const isa::Instruction& instruction : program.instructions) {
        if (const auto* tag = std::get_if<isa::DebugTag>(&instruction)) tags.insert(tag->tag);
    }
    return tags;
}

/// Reads off what the chip did.
void read(hw::System& system, const isa::Program& program, const machine::MachineConfig& machine,
          Observation& run) {
    run.cycles = system.cycles();
    const std::set<hw::Tag> tags = tags_of(program);
    for (const auto& [path, group] : system.counters()) {
        for (const hw::Counter& counter : *group) {
            for (const hw::Tag tag : tags) {
                run.counters.push_back({fmt::format("{}.{}", path, counter.name()), tag, counter.value(tag)});
            }
        }
    }
    const std::uint8_t* const bytes =
        system.tpu_v1_core().unified_buffer().read(0, machine.unified_buffer.rows);
    run.memories.unified_buffer.assign(bytes, bytes + machine.unified_buffer_bytes());
    const std::int32_t* const sums = system.tpu_v1_core().accumulators().read(0, machine.accumulators.rows);
    run.memories.accumulators.assign(
        sums, sums + std::size_t{machine.accumulators.rows} * machine.matrix_unit.columns);
    run.memories.host = host_of(system, program);
}

/// Where two lists of numbers part.
template <class List>
std::optional<std::string> first_difference(std::string_view what, const List& one, const List& other) {
    if (one.size() != other.size()) {
        return fmt::format("{}: {} and {} elements", what, one.size(), other.size());
    }
    const auto [left, right] = std::mismatch(one.begin(), one.end(), other.begin());
    if (left == one.end()) return std::nullopt;
    const auto at = static_cast<std::size_t>(left - one.begin());
    return fmt::format("{}, element {}: {} and {}", what, at, *left, *right);
}

std::string to_text(const hw::InstructionTimes& times) {
    return fmt::format("issued {}, begun {}, released {}, complete {} (tag {})", times.issued, times.begun,
                       times.released, times.complete, times.tag);
}

std::string to_text(const hw::TileTimes& times) {
    return fmt::format("fetched {}, whole {}, shifted {} (tag {})", times.fetched, times.whole, times.shifted,
                       times.tag);
}

std::optional<std::string> time_difference(const Observation& one, const Observation& other) {
    for (std::size_t unit = 0; unit < isa::queue_count; ++unit) {
        const auto& left = one.times[unit];
        const auto& right = other.times[unit];
        const auto name = isa::name(static_cast<isa::QueueId>(unit));
        for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
            if (left[i] == right[i]) continue;
            return fmt::format("{}: instruction {}: {}; instruction {}: {}", name, left[i].number,
                               to_text(left[i]), right[i].number, to_text(right[i]));
        }
        if (left.size() != right.size()) {
            return fmt::format("{}: {} and {} instructions", name, left.size(), right.size());
        }
    }
    for (std::size_t i = 0; i < std::min(one.tiles.size(), other.tiles.size()); ++i) {
        const hw::TileTimes& left = one.tiles[i];
        const hw::TileTimes& right = other.tiles[i];
        if (left == right) continue;
        return fmt::format("tile {} of instruction {}: {}; tile {} of instruction {}: {}", left.tile,
                           left.number, to_text(left), right.tile, right.number, to_text(right));
    }
    if (one.tiles.size() != other.tiles.size()) {
        return fmt::format("{} and {} tiles left the FIFO", one.tiles.size(), other.tiles.size());
    }
    return std::nullopt;
}

}  // namespace

Observation observe(const isa::Program& program, machine::MachineConfig machine, machine::Engine engine,
                    const std::function<unsigned()>& test_delta_delay) {
    machine.matrix_unit.engine = engine;
    FreshSimulation simulation;
    Observation run;
    Recorder recorder(run);
    try {
        hw::System system("system", machine, program,
                          {.trace = &recorder, .host = &mixing_host(), .test_delta_delay = test_delta_delay});
        system.run();
        read(system, program, machine, run);
    } catch (const isa::ProgramError& error) {
        run = {};
        run.error = error.what();
    } catch (const std::exception& error) {
        run = {};
        run.error = fmt::format("a mistake of the simulator: {}", error.what());
    }
    return run;
}

Memories execute(const isa::Program& program, const machine::MachineConfig& machine) {
    functional::Executor executor(program, machine, &mixing_host());
    executor.run();
    const auto bytes = executor.unified_buffer();
    const auto sums = executor.accumulators();
    return {.unified_buffer = {bytes.begin(), bytes.end()},
            .accumulators = {sums.begin(), sums.end()},
            .host = host_of(executor, program)};
}

std::optional<std::string> difference(const Memories& one, const Memories& other) {
    if (one == other) return std::nullopt;
    if (auto found = first_difference("accumulators", one.accumulators, other.accumulators)) return found;
    if (auto found = first_difference("unified buffer", one.unified_buffer, other.unified_buffer)) {
        return found;
    }
    for (std::size_t i = 0; i < one.host.size(); ++i) {
        if (auto found = first_difference(fmt::format("host buffer {}", i), one.host[i], other.host.at(i))) {
            return found;
        }
    }
    throw std::logic_error("memories that differ nowhere");
}

std::optional<std::string> difference(const Observation& one, const Observation& other) {
    if (one == other) return std::nullopt;
    if (one.error != other.error) return fmt::format("errors: \"{}\" and \"{}\"", one.error, other.error);
    if (auto found = time_difference(one, other)) return found;
    if (one.cycles != other.cycles) return fmt::format("cycles: {} and {}", one.cycles, other.cycles);
    for (std::size_t i = 0; i < std::min(one.counters.size(), other.counters.size()); ++i) {
        const CounterReading& left = one.counters[i];
        const CounterReading& right = other.counters[i];
        if (left == right) continue;
        return fmt::format("{} of tag {}: {}; {} of tag {}: {}", left.name, left.tag, left.value, right.name,
                           right.tag, right.value);
    }
    if (one.counters.size() != other.counters.size()) {
        return fmt::format("{} and {} counters", one.counters.size(), other.counters.size());
    }
    return difference(one.memories, other.memories);
}

}  // namespace systole::tests
