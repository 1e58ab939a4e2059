#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "sim/study/validate/results.h"

namespace systole::validate {

/// All tables, one after the other.
std::string to_text(const Results& results, const terminal::Look& look = {});

/// All tables by id, and what other programs read: "total_cycles_error" by workload, "mean" and
/// "held_out_mean", in fractions; "fit" with its parameters.
nlohmann::ordered_json to_json(const Results& results);

}  // namespace systole::validate
