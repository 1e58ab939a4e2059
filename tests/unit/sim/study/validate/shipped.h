#pragma once

#include <filesystem>
#include <string>

#include "sim/run/baselines/baseline.h"
#include "sim/run/path_finder.h"
#include "sim/study/validate/baseline_errors.h"
#include "sim/study/validate/published.h"
#include "sim/study/validate/setup.h"
#include "sim/study/validate/target.h"
#include "tests/support/source_dir.h"

/// The files that the project ships, for tests of what follows from them.
namespace systole::validate {

inline const std::filesystem::path project = tests::source_dir();
/// What the project's facts were collected in; beside the project, where it is there.
inline const std::filesystem::path reference_file = project.parent_path() / "shared/reference/tpu_v1.json";

inline Published shipped_figures() {
    return read_published(project / "configs/published/tpu_v1.json");
}

inline const Setup& shipped_setup() {
    static const Setup setup =
        read_setup((project / "configs/validation/tpu_v1.json").string(), run::PathFinder({}));
    return setup;
}

inline baselines::Baseline shipped_baseline(const std::string& name) {
    return baselines::read_baseline(project / "configs/baselines" / (name + ".json"));
}
inline baselines::Baseline shipped_cpu() {
    return shipped_baseline("haswell_e5_2699_v3");
}
inline baselines::Baseline shipped_gpu() {
    return shipped_baseline("k80");
}

inline BaselineErrors shipped_errors() {
    Formulas formulas = formulas_of(shipped_setup());
    return baseline_errors(shipped_setup(), formulas);
}

}  // namespace systole::validate
