#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/graph.h"
#include "hw/isa/program.h"
#include "hw/machine/machine_config.h"
#include "sim/validate/measurement.h"

/// Many simulations of a few networks on many machines.
namespace systole::validate {

using NetworkId = std::size_t;

/// One simulation: a batch of a network on a machine.
struct Case {
    NetworkId network = 0;
    machine::MachineConfig machine;
};

/// Who simulates. Tests give one that computes what they want.
class Simulator {
public:
    virtual ~Simulator() = default;
    /// The measurements, in the order of the cases.
    virtual std::vector<Measurement> run(std::span<const Case> cases) = 0;

protected:
    Simulator() = default;
    Simulator(const Simulator&) = default;
    Simulator& operator=(const Simulator&) = default;
};

/// Simulates on all cores, a process each, without values. Programs are compiled once for each network and
/// target of the compiler; equal cases are simulated once.
class ChipSimulator final : public Simulator {
public:
    /// The number stands for the network in cases. Only its structure matters.
    NetworkId add(const ir::Graph& graph, std::uint32_t batch);

    std::vector<Measurement> run(std::span<const Case> cases) override;

    std::size_t simulations() const { return known_.size(); }

private:
    struct Network {
        ir::Graph graph;  ///< without weights
        std::uint32_t batch = 1;
        std::uint64_t macs = 0;  ///< of one inference
    };

    const isa::Program& program(const Case& wanted);

    std::vector<Network> networks_;
    /// By network and serialized target: all that a program depends on.
    std::map<std::pair<NetworkId, std::string>, std::unique_ptr<const isa::Program>> programs_;
    std::map<std::string, Measurement> known_;
};

}  // namespace systole::validate
