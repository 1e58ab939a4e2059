#pragma once

#include <memory>

#include "compiler/frontend/hlo/module.h"

namespace systole::hlo {

/// The attributes of an instruction with this opcode, null if it has none. `shapes` are those of the module.
/// What must fit the operands is not checked yet. Throws ModelError.
std::unique_ptr<const Attributes> read_attributes(const hlo_proto::HloInstructionProto& instruction,
                                                  Opcode opcode, ShapeId shape, ShapeTable& shapes);

/// Throws ModelError for a custom call that is not read.
void check_custom_target(const hlo_proto::HloInstructionProto& instruction);

FrontendAttributes read_frontend_attributes(const hlo_proto::FrontendAttributes& attributes);

}  // namespace systole::hlo
