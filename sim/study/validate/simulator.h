#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "hw/machine/machine_config.h"
#include "sim/run/execute/executor.h"
#include "sim/run/execute/scratch_folder.h"
#include "sim/run/record/record.h"
#include "sim/study/validate/published.h"

/// Simulations of a few networks on many machines, and the quantities of their records that are compared.
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
    /// The records, with their phases, in the order of the cases.
    virtual std::vector<run::RunRecord> run(std::span<const Case> cases) = 0;

    /// One batch of each workload.
    ByWorkload<run::RunRecord> run_all(const machine::MachineConfig& machine,
                                       const ByWorkload<NetworkId>& networks);

protected:
    Simulator() = default;
    Simulator(const Simulator&) = default;
    Simulator& operator=(const Simulator&) = default;
};

/// Simulates on all cores, in worker processes, without values; equal cases once.
class ChipSimulator final : public Simulator {
public:
    /// Returns the number of the network for use in cases. Only the structure of the network matters.
    NetworkId add(run::Content network, std::uint32_t batch);
    /// The same for a network that is not in a file.
    NetworkId add(const nlohmann::json& network, std::uint32_t batch);

    /// Throws std::runtime_error if a case cannot be simulated.
    std::vector<run::RunRecord> run(std::span<const Case> cases) override;

private:
    struct Network {
        run::Content content;
        std::uint32_t batch = 1;
    };

    run::ScratchFolder made_;
    std::vector<Network> networks_;
    run::Executor executor_;
};

/// The network, as its file describes it, with 8-bit activations in all layers.
nlohmann::json with_8_bit_activations(nlohmann::json network);

double seconds(const run::RunRecord& record);
/// Without the cycles in which the chip only waits for its first input or only sends its last output.
double device_seconds(const run::RunRecord& record);
/// Cycles that `device_seconds` leaves out.
Cycle host_only_cycles(const run::RunRecord& record);
double inferences_per_second(const run::RunRecord& record);
/// 10^12 operations per second; a multiply-accumulate that the network asks for counts as two.
double tera_ops(const run::RunRecord& record);
/// Multiply-accumulates of the batch for each byte of the weight tiles' used cells; each tile counts once.
double macs_per_weight_byte(const run::RunRecord& record);
/// A counter of cycles as a share of the run's cycles.
double share_of_cycles(const run::RunRecord& record, std::string_view counter);
/// Row 2 of Table 3: useful multiply-accumulates, of all that the cells could do. A fraction. A 16-bit
/// multiply-accumulate takes several cell cycles and counts in each.
double useful_share(const run::RunRecord& record);
/// Row of Table 3 by index into table_3_rows: per cent of cycles, or 10^12 operations per second.
ByWorkload<double> table_3_values(std::size_t row, const ByWorkload<run::RunRecord>& records);

/// `quantity(record)` of each record.
template <class Quantity>
ByWorkload<double> of_each(const ByWorkload<run::RunRecord>& records, const Quantity& quantity) {
    return by_workload([&](std::size_t i) { return static_cast<double>(quantity(records[i])); });
}

/// Watts that grow evenly with the load.
struct Watts {
    double idle = 0.0;
    double busy = 0.0;

    double at(double load) const { return idle + load * (busy - idle); }
    double share_at(double load) const { return at(load) / busy; }
};
/// Watts of the die: static, and static with dynamic. 0 if the machine has no section `energy`.
Watts die_watts(const run::RunRecord& record);

}  // namespace systole::validate
