#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/view/terminal/look.h"

/// Why a run takes what it takes; sim/study/explain finds it.
namespace systole::report {

/// Why the run, or a layer, takes its cycles.
struct Explanation {
    std::string name;  ///< of the layer; empty for the run
    std::uint64_t cycles = 0;
    std::optional<double> share;  ///< of the run's cycles
    std::string sentence;         ///< without what a change would bring
    /// Which of the what-ifs it speaks of; absent where none is known to help.
    std::optional<std::size_t> what_if;
    std::optional<double> speedup;  ///< under it, an inference; absent where no cycle is left
    std::string text;               ///< all of it, for people
};

/// A change that was simulated.
struct WhatIf {
    std::string change;                 ///< "4x the weight bandwidth"
    std::vector<std::string> settings;  ///< KEY=VALUE, as --set takes them
    std::optional<double> speedup;      ///< of the run, an inference; absent where it cannot run so
    std::string error;                  ///< why it cannot
};

struct Explanations {
    Explanation run;
    std::vector<Explanation> layers;  ///< by tag; tag 0 is what lies outside layers
    std::vector<WhatIf> what_ifs;
};

/// {"text", "what_if": {"change", "speedup"}}, the latter null where no change is known to help, a speedup
/// null where no cycle is left.
nlohmann::ordered_json to_json(const Explanation& explanation, const std::vector<WhatIf>& what_ifs);

/// That of the run, and {"what_ifs": [{"change", "settings", "speedup", "error"}]}.
nlohmann::ordered_json to_json(const Explanations& explanations);

/// The same for people. Lines are as wide as the look says, but for settings, which stay whole.
std::string to_text(const Explanations& explanations, const terminal::Look& look = {});

}  // namespace systole::report
