#pragma once

#include <string>

#include "compiler/frontend/hlo/module.h"

namespace systole::hlo {

/// A module as text, for tests and for people: one instruction a line, computations in their order. Constants
/// of more than eight elements are shown by the first ones and a checksum of all.
std::string to_text(const Module& module);

}  // namespace systole::hlo
