#pragma once

#include <filesystem>
#include <string>

#include "hw/machine/machine_config.h"
#include "sim/run/baselines/baseline.h"
#include "sim/run/path_finder.h"
#include "sim/study/validate/published.h"
#include "sim/study/validate/rooflines.h"
#include "sim/study/validate/simulate.h"
#include "sim/study/validate/target.h"

/// The files of a validation, read.
namespace systole::validate {

struct Setup {
    std::string file;  ///< of the target, for messages
    run::PathFinder beside;
    Target target;
    Published published{};
    machine::MachineConfig machine{};            ///< with fitted parameters
    machine::MachineConfig published_machine{};  ///< with published parameters alone
    baselines::Baseline cpu{}, gpu{};
    Shapes shapes{};
    ByWorkload<run::RunSpec> workloads{};  ///< one batch each, in the pinned mapping; without a machine
};

/// `target` is a file, or a name in configs/validation. Throws ConfigError, also for a workload's file whose
/// content is not the pinned one.
Setup read_setup(const std::string& target, const run::PathFinder& paths);

/// Runs of the workloads in another way: on `machine` with the variant's settings.
struct VariantRuns {
    machine::MachineConfig machine;
    ByWorkload<run::RunSpec> workloads;
    ByWorkload<run::RunRecord> records{};
};

/// The machine, the networks and the mapping of the variant. Throws ConfigError, ModelError.
machine::MachineConfig machine_of(const Setup& setup, const Variant& variant,
                                  const machine::MachineConfig& machine);
ByWorkload<run::RunSpec> workloads_of(const Setup& setup, const Variant& variant);
/// One batch of each workload; of several batches, one in the middle: the difference of two runs.
VariantRuns run_variant(const Setup& setup, const Variant& variant, const machine::MachineConfig& machine,
                        const Simulate& simulate);

}  // namespace systole::validate
