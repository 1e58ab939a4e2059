// docs/timing.md, "More instructions ahead of data".
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <utility>
#include <vector>

#include "compiler/ir/model_error.h"
#include "hw/isa/encoding.h"
#include "hw/timing/transfers.h"
#include "sim/run/record/spec.h"
#include "tests/support/mapping_case.h"
#include "tests/support/random_runs.h"

namespace systole {
namespace {

/// The machine with a deeper queue, a larger instruction buffer, a faster issue, and all of these.
std::vector<std::pair<const char*, machine::MachineConfig>> with_more_instructions(
    const machine::MachineConfig& machine, std::uint32_t factor) {
    std::vector<std::pair<const char*, machine::MachineConfig>> machines;
    machine::MachineConfig all = machine;
    const auto add = [&](const char* name, std::uint32_t machine::SequencerConfig::*key,
                         std::uint32_t value) {
        machines.emplace_back(name, machine);
        machines.back().second.sequencer.*key = value;
        all.sequencer.*key = value;
    };
    add("queue", &machine::SequencerConfig::queue_depth, machine.sequencer.queue_depth * factor);
    add("buffer", &machine::SequencerConfig::instruction_buffer_bytes,
        machine.sequencer.instruction_buffer_bytes * factor);
    add("issue", &machine::SequencerConfig::issue_cycles, machine.sequencer.issue_cycles / factor);
    machines.emplace_back("all", all);
    return machines;
}

Cycle instruction_cycles(const isa::Program& program, const machine::MachineConfig& machine) {
    std::uint64_t bytes = 0;
    for (const isa::Instruction& instruction : program.instructions) bytes += isa::encoded_size(instruction);
    return timing::host_read_cycles(bytes, machine);
}

}  // namespace

TEST_CASE("More room for instructions costs at most the cycles that all of them take on the link",
          "[system][timing]") {
    constexpr std::uint32_t first_seed = 44800;
    std::uint32_t compared = 0, slower = 0;
    double worst = 1;
    for (std::uint32_t seed = first_seed; seed < first_seed + tests::random_runs(40); ++seed) {
        tests::MappingCase drawn = tests::mapping_case(seed);
        // Each unit has memory ports of its own.
        drawn.machine.unified_buffer.read_ports = 3;
        drawn.machine.unified_buffer.write_ports = 2;
        drawn.machine.accumulators.ports = 2;
        const std::uint32_t factor = std::array{2U, 16U, 1000U}.at(seed % 3);
        try {
            const isa::Program program =
                tests::compiled(drawn, machine::mapping_named(machine::MappingName::AsPublished)).program;
            const Cycle cycles = tests::cycles_of(program, drawn.machine);
            const Cycle most = cycles + instruction_cycles(program, drawn.machine);
            for (const auto& [name, machine] : with_more_instructions(drawn.machine, factor)) {
                INFO("seed " << seed << ", " << name << " times " << factor);
                const Cycle with = tests::cycles_of(program, machine);
                CHECK(with <= most);
                ++compared;
                slower += with > cycles;
                worst = std::max(worst, static_cast<double>(with) / static_cast<double>(cycles));
            }
        } catch (const ModelError&) {
            continue;  // an image does not fit the unified buffer
        }
    }
    UNSCOPED_INFO(fmt::format("{} of {} slower, the worst {:.3f} times", slower, compared, worst));
    CHECK(compared >= tests::random_share(80));
    CHECK(slower >= tests::random_share(3));  // the order on the link is what the page says
}

}  // namespace systole
