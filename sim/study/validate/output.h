#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "sim/study/validate/validate.h"
#include "sim/view/terminal/look.h"

/// The output of a validation: text, JSON, and the page of documentation.
namespace systole::validate {

/// All tables, one after the other, but that of every figure, which page and JSON have.
std::string to_text(Results& results, const terminal::Look& look = {});

/// All tables by id, and values for other programs: the target's `json` by key, numbers or rows by element,
/// in fractions; "fit" and "splits" with their parameters; "parameters" of the machine.
nlohmann::ordered_json to_json(Results& results);

/// The page: the template with our tables (sim/view/table/page.h). Throws ConfigError, led by `file`.
std::string to_page(Results& results, std::string_view page_template, const std::string& file);

}  // namespace systole::validate
