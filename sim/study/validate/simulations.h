#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "hw/machine/machine_config.h"
#include "sim/run/execute/executor.h"
#include "sim/run/execute/scratch_folder.h"
#include "sim/run/record/content.h"
#include "sim/study/validate/measurement.h"

/// Many simulations of a few networks on many machines.
namespace systole::validate {

using NetworkId = std::size_t;

/// One simulation: a batch of a network on a machine.
struct Case {
    NetworkId network = 0;
    machine::MachineConfig machine;
};

/// The interface for simulations. Tests implement it with made-up results.
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

/// Simulates on all cores, in worker processes, without values; equal cases once.
class ChipSimulator final : public Simulator {
public:
    /// Returns the number of the network for use in cases. Only the network's structure matters.
    NetworkId add(run::Content network, std::uint32_t batch);
    /// The same for a network that is not in a file.
    NetworkId add(const nlohmann::json& network, std::uint32_t batch);

    /// Throws std::runtime_error if a case cannot be simulated.
    std::vector<Measurement> run(std::span<const Case> cases) override;

private:
    struct Network {
        run::Content content;
        std::uint32_t batch = 1;
    };

    run::ScratchFolder made_;
    std::vector<Network> networks_;
    run::Executor executor_;
};

}  // namespace systole::validate
