#pragma once

#include <nlohmann/json.hpp>

#include "sim/cli/schema/documents.h"

namespace systole::schema {

/// JSON Schema, draft 2020-12: for editors that complete and check configuration files. Rules between keys
/// are in the descriptions alone.
nlohmann::ordered_json json_schema(const Document& document);

}  // namespace systole::schema
