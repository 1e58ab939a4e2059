#pragma once

#include "compiler/frontend/hlo/module.h"

namespace systole::hlo {

/// The verified module of a parsed file. Throws ModelError in one line
/// that names computation, instruction, value and rule.
Module build_module(const hlo_proto::HloModuleProto& proto);

}  // namespace systole::hlo
