#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "hw/common/fan_out.h"
#include "hw/system/system.h"
#include "sim/view/trace/tracer.h"
#include "tests/support/files.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/mixing_host.h"
#include "tests/support/vcd.h"

/// Runs with waves, and the waves read back.
namespace systole::tests {

/// A run's events and registers, as the chip reported them.
struct WaveListener final : hw::TraceListener, hw::RegisterSink {
    struct Registers {
        std::vector<std::int16_t> activations, weights, shadow_weights;
        std::vector<std::int32_t> partial_sums;
    };

    void instruction(const hw::InstructionTimes& times) override { instructions.push_back(times); }
    void issued(const hw::IssueTimes& times) override { last_issue = times.issued; }
    void stream(const hw::StreamTimes& times) override { streams.push_back(times); }
    void cycle(Cycle cycle, const hw::ArrayRegisters& now) override {
        registers[cycle] = {{now.activations.begin(), now.activations.end()},
                            {now.weights.begin(), now.weights.end()},
                            {now.shadow_weights.begin(), now.shadow_weights.end()},
                            {now.partial_sums.begin(), now.partial_sums.end()}};
    }

    std::vector<hw::InstructionTimes> instructions;
    std::vector<hw::StreamTimes> streams;
    Cycle last_issue = 0;
    std::map<Cycle, Registers> registers;
};

/// The text of a file of waves without the date.
inline std::string waves_without_date(const std::filesystem::path& path) {
    std::string text = text_in(path);
    const std::size_t begin = text.find("$date");
    const std::size_t end = text.find("$end", begin);
    REQUIRE(end != std::string::npos);
    return text.erase(begin, end - begin);
}

inline ReadVcd read_waves(const Folder& folder) {
    return read_vcd(text_in(folder / trace::waves_file));
}

template <class Check>
void run_with_waves(const isa::Program& program, const machine::MachineConfig& machine,
                    const trace::TraceConfig& config, const Folder& folder, const Check& check) {
    const FreshSimulation simulation;
    WaveListener listener;
    trace::Tracer tracer(config, program, machine, folder.path());
    hw::TraceFanOut all;
    all.add(&listener);
    all.add(tracer.sink());
    hw::RegisterFanOut registers;
    registers.add(&listener);
    registers.add(tracer.registers());
    hw::System system("system", machine, program,
                      {.trace = all.sink(),
                       .registers = registers.sink(),
                       .host = &tests::mixing_host(),
                       .test_delta_delay = {}});
    system.run();
    tracer.finish(system.cycles(), {});
    check(system, listener);
}

/// Every cycle has exactly one class, and the bits agree with the counters, which count a cycle for each of
/// the arrays of a unit.
inline void check_states(const ReadVcd& waves, const hw::System& system, std::uint64_t arrays = 1) {
    for (const std::string state : {"active", "weight_stall", "weight_shift", "non_matrix", "raw_stall",
                                    "input_stall", "setup_stall", "port_stall"}) {
        CAPTURE(state);
        CHECK(waves.count("matrix_unit." + state) * arrays ==
              system.counter("matrix_unit." + state + "_cycles").value());
    }
    std::vector<std::uint64_t> states_in(system.cycles());
    for (const std::string state : {"active", "weight_stall", "weight_shift", "non_matrix"}) {
        const auto values = waves.by_cycle("matrix_unit." + state);
        REQUIRE(values.size() == states_in.size());
        for (std::size_t cycle = 0; cycle < values.size(); ++cycle) states_in[cycle] += *values[cycle];
    }
    CHECK(std::all_of(states_in.begin(), states_in.end(), [](std::uint64_t count) { return count == 1; }));
}

}  // namespace systole::tests
