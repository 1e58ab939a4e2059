#pragma once

#include <google/protobuf/message.h>

#include "compiler/frontend/hlo/hlo_proto.h"
#include "compiler/frontend/hlo/opcode.h"

namespace systole::hlo {

/// Throws ModelError if a message, or one inside of it, has an unknown field that is not empty. Computations
/// and instructions are messages of their own: those inside are left out.
void check_unknown_fields(const google::protobuf::Message& message);

/// Throws ModelError if an instruction has a field that its opcode has no use for.
void check_fields_of_opcode(const hlo_proto::HloInstructionProto& instruction, Opcode opcode);

}  // namespace systole::hlo
