#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "hw/machine/machine_config.h"
#include "sim/run/baselines/baseline.h"
#include "sim/run/path_finder.h"
#include "sim/run/record/content.h"
#include "sim/study/validate/formulas.h"
#include "sim/study/validate/published.h"
#include "sim/study/validate/shapes.h"
#include "sim/study/validate/target.h"

/// The files of a validation, read.
namespace systole::validate {

struct Setup {
    std::string file;  ///< of the target, for messages
    run::PathFinder beside;
    nlohmann::json json;  ///< of the target
    Target target;
    Published published{};
    machine::MachineConfig machine{};                        ///< of the target, with its changes
    std::map<std::string, baselines::Baseline> baselines{};  ///< by the target's names
    Shapes shapes{};                                         ///< by model
    std::map<std::string, run::Content> models{};            ///< the files of the target's models
};

/// `target` is a file, or a name in configs/validation. Throws ConfigError, also for a model's file whose
/// content is not the pinned one.
Setup read_setup(const std::string& target, const run::PathFinder& paths);
/// The same for the file with a change, a JSON merge patch.
Setup changed(const Setup& setup, const nlohmann::json& change);

/// The inferences of a model's batch. Throws ConfigError where its formula gives no whole number from 1 to a
/// million.
std::uint32_t batch_of(const Setup& setup, const std::string& model, Formulas& formulas);

/// The target's formulas, with all numbers that are known before anything runs: published ones by their path,
/// those of the machine (`machine.KEY`), of the baselines and their models (`cpu.KEY`), and of the rooflines.
Formulas formulas_of(const Setup& setup);

}  // namespace systole::validate
