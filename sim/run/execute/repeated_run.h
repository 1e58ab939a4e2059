#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/cycle.h"
#include "compiler/ir/graph.h"
#include "sim/run/execute/process.h"
#include "sim/run/execute/run.h"
#include "sim/run/images.h"
#include "sim/run/record/record.h"

namespace systole::run {

/// Runs a network of arrays (sim/run/arrays.h) again and again, on other inputs each time. It is read at
/// once, and compiled once, at the latest for the first run; each run is simulated in a process of its own,
/// since the SystemC kernel has one simulation. This process must have no other thread and must not have
/// begun a simulation.
class RepeatedRun {
public:
    /// `spec` needs no data. Throws as `read_model` does, and ConfigError for a network that is none of
    /// arrays.
    explicit RepeatedRun(RunSpec spec);

    /// Throws as `prepare` does.
    void compile();

    const ir::Graph& graph() const { return graph_; }
    const RunSpec& spec() const { return spec_; }
    /// The inputs, in the order of the network.
    const std::vector<InputTensor>& inputs() const { return inputs_; }
    /// A run is so many inferences of all replicas: 1 if each core has a replica, else one for each core.
    /// Where they are several, arrays begin with an axis of them.
    std::uint32_t inferences() const { return spec_.machine.cores() / graph().replicas; }

    /// The outputs for an array of each input, in their order, in the formats that both have in files;
    /// without those that are constants, as in the graph. Throws UserError for what ends a run, and the first
    /// time as `prepare` does.
    std::vector<OutputArray> run(std::span<const OutputArray> arrays);

    /// The cycles of the last run, with all that goes in and out. Those of all runs are equal, because no
    /// cycle depends on values.
    Cycle cycles() const { return cycles_; }

private:
    RunSpec spec_;
    ir::Graph graph_;
    std::optional<Prepared> prepared_;
    std::vector<InputTensor> inputs_;
    ChildProcess child_;
    Cycle cycles_ = 0;
};

}  // namespace systole::run
