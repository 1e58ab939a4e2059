#pragma once

#include <string>

namespace systole::schema {

/// docs/configuration.md: every key of every configuration file, in GitHub's Markdown.
std::string reference_page();

}  // namespace systole::schema
