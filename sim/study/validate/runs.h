#pragma once

#include <functional>
#include <memory>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "hw/machine/machine_config.h"
#include "sim/run/execute/scratch_folder.h"
#include "sim/run/record/record.h"
#include "sim/study/sweep/metrics.h"
#include "sim/study/validate/formulas.h"
#include "sim/study/validate/setup.h"

/// The runs of a validation: points of a study, of which the target's file says machine, mapping and
/// networks.
namespace systole::validate {

/// Runs specs and returns their records, with phases, in the order of the specs. Tests pass functions with
/// made-up results.
using Simulate = std::function<std::vector<run::RunRecord>(std::span<const run::RunSpec>)>;

/// A spec cannot be simulated, as a network that does not fit its machine.
class NoSuchRun : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Simulates on all cores, in worker processes; equal specs once. The function throws NoSuchRun.
Simulate make_simulate();

/// What metrics of runs name: report.json of a run, and besides `phases` (`host_only_cycles`, in which the
/// chip only waits for its first input or only sends its last output; `fetch_cycles`, from the first byte of
/// the weights to the last), `network_macs` that the network asks for, `weight_tile_bytes` of the used cells,
/// each tile once, `weight_waits.KIND`, cycles in which the array waits for weights of layers of that kind,
/// and `scope_bounds.SCOPE`, what the layers whose names have SCOPE before their first '/' would take one
/// after the other, each by its largest bound (`outside`: what is of no layer).
///
/// The layers are most of a report: without them it is made in a fraction of the time.
nlohmann::ordered_json run_numbers(const run::RunRecord& record, bool with_layers = true);

/// A run of one model with further changes of its machine.
struct FitRun {
    std::string run;  ///< of the target's runs; empty: one batch on the target's machine
    std::string model;
    MachineChanges changes;
};
/// By name: `trial.METRIC`, and the keys of its machine, `machine.KEY`.
using FitNumbers = std::map<std::string, Number>;

class Runs {
public:
    Runs(const Setup& setup, Simulate simulate);

    /// Runs those of the target's runs whose names lead one of `names`, unless it has, and lets the formulas
    /// know their metrics: RUN.METRIC.MODEL.
    void need(const std::set<std::string>& names, Formulas& formulas);
    /// The same of some runs, on another machine than the target's, under their names. What they already are
    /// is replaced.
    void run_on(const machine::MachineConfig& machine, const std::vector<std::string>& runs,
                Formulas& formulas);

    /// Runs them; in their order.
    std::vector<FitNumbers> tried(const std::vector<FitRun>& trials, Formulas& formulas);

    /// The spec of one batch of a model in the target's mapping, without a machine.
    run::RunSpec spec(const std::string& model, Formulas& formulas) const;
    /// The metrics of a record, by name.
    std::vector<std::pair<std::string, Number>> metrics_of(const run::RunRecord& record,
                                                           bool with_own = true) const;

private:
    struct Wanted {
        std::string run;
        std::string model;
        run::RunSpec spec;  ///< without its feeding: the cycles do not depend on it
        run::Feeding feeding;
        std::uint32_t batches = 1;
        bool has_metrics = true;
    };

    /// The machine gets the changes of the run, the further ones, and those of the model, in this order.
    void add_wanted(const std::string& name, const RunSet& run, const machine::MachineConfig& machine,
                    const MachineChanges& further, Formulas& formulas, std::vector<Wanted>& to) const;
    run::Feeding feeding_of(const std::string& name, const RunSet& run, const std::string& model,
                            Formulas& formulas) const;
    const machine::MachineConfig& machine_named(const std::string& name, Formulas& formulas);
    /// The model's graph file, with 8-bit activations in all layers.
    run::Content with_8_bits(const std::string& model) const;
    /// Runs them and gives the metrics of each, in their order, to `use`.
    void simulate(std::span<const Wanted> wanted,
                  const std::function<void(const Wanted&, const run::RunRecord&)>& use) const;
    void simulate(std::span<const Wanted> wanted, Formulas& formulas) const;

    const Setup& setup_;
    Simulate simulate_;
    sweep::Metrics metrics_;
    sweep::Metrics common_metrics_;                           ///< those that every study has
    std::map<std::string, machine::MachineConfig> machines_;  ///< by name
    std::unique_ptr<run::ScratchFolder> made_;                ///< files of changed networks
    const bool names_layers_;                                 ///< whether a metric does
    std::set<std::string> done_;
};

}  // namespace systole::validate
