#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/view/terminal/look.h"

/// Explanations of the cycles of a run, which sim/study/explain finds.
namespace systole::report {

/// The explanation of the cycles of the run, or of a layer.
struct Explanation {
    std::string name;  ///< of the layer; empty for the run
    std::uint64_t cycles = 0;
    std::optional<double> share;  ///< of the run's cycles
    std::string sentence;         ///< without the speedup of a change
    /// Index of the what-if that the explanation names; absent if no change is known to help.
    std::optional<std::size_t> what_if;
    std::optional<double> speedup;  ///< of an inference with this change; absent if no cycle is left
    std::string text;               ///< the whole explanation, for people
};

/// A change that was simulated.
struct WhatIf {
    std::string change;                 ///< "4x the weight bandwidth"
    std::vector<std::string> settings;  ///< KEY=VALUE, as --set takes them
    std::optional<double> speedup;      ///< of an inference of the run; absent if it cannot run
    std::string error;                  ///< why it cannot run
    std::string remark;                 ///< why it has this effect; empty where the change tells
};

struct Explanations {
    Explanation run;
    std::vector<Explanation> layers;  ///< by tag; tag 0 is the work outside layers
    std::vector<WhatIf> what_ifs;
};

/// {"text", "what_if": {"change", "speedup"}}. `what_if` is null if no change is known to help, the speedup
/// is null if no cycle is left.
nlohmann::ordered_json to_json(const Explanation& explanation, const std::vector<WhatIf>& what_ifs);

/// The explanation of the run, and {"what_ifs": [{"change", "settings", "speedup", "error", "remark"}]}.
nlohmann::ordered_json to_json(const Explanations& explanations);

/// The explanations as text. Lines have at most the width of the look, except settings, which are not broken.
/// Of many layers it explains the main ones (main_layers.h), unless all are wanted.
std::string to_text(const Explanations& explanations, const terminal::Look& look = {},
                    bool all_layers = false);

}  // namespace systole::report
