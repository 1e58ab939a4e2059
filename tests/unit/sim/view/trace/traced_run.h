#pragma once

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hw/common/fan_out.h"
#include "hw/isa/program.h"
#include "hw/system/system.h"
#include "sim/view/trace/tracer.h"
#include "tests/support/fresh_simulation.h"
#include "tests/support/mixing_host.h"

/// Runs with traces.
namespace systole::tests {

inline const std::vector<std::string> all_kinds{"timeline", "csv", "text"};

/// The number of instructions up to `halt`, which are those that are executed.
inline std::size_t instructions_run(const isa::Program& program) {
    const auto halt =
        std::find_if(program.instructions.begin(), program.instructions.end(),
                     [](const auto& instruction) { return std::holds_alternative<isa::Halt>(instruction); });
    return static_cast<std::size_t>(std::distance(program.instructions.begin(), halt)) + 1;
}

/// The lines of a text, without a comma at the end.
inline std::multiset<std::string> lines_of(const std::string& text) {
    std::istringstream stream(text);
    std::multiset<std::string> lines;
    for (std::string line; std::getline(stream, line);) {
        if (!line.empty() && line.back() == ',') line.pop_back();
        lines.insert(line);
    }
    return lines;
}

/// Traces a run with each configuration into its folder; returns the run's cycles.
template <class Check>
Cycle run_traced(const isa::Program& program, const machine::MachineConfig& machine,
                 const std::vector<std::pair<trace::TraceConfig, std::filesystem::path>>& traces,
                 const Check& check) {
    const FreshSimulation simulation;
    std::vector<std::unique_ptr<trace::Tracer>> tracers;
    hw::TraceFanOut all;
    for (const auto& [config, folder] : traces) {
        tracers.push_back(std::make_unique<trace::Tracer>(config, program, machine, folder));
        all.add(tracers.back()->sink());
    }
    hw::System system("system", machine, program,
                      {.trace = all.sink(), .host = &tests::mixing_host(), .test_delta_delay = {}});
    system.run();
    for (const auto& tracer : tracers) tracer->finish(system.cycles(), {});
    check(system);
    return system.cycles();
}

}  // namespace systole::tests
