#pragma once

#include <string>

#include "sim/cli/schema/documents.h"
#include "sim/view/terminal/look.h"

namespace systole::schema {

/// The keys of a document for people.
std::string reference_text(const Document& document, const terminal::Look& look = {});

}  // namespace systole::schema
