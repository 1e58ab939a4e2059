#pragma once

#include <google/protobuf/message.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "compiler/frontend/hlo/hlo_proto.h"
#include "compiler/frontend/hlo/module.h"

/// What is read of an instruction beside its operands.
namespace systole::hlo {

/// Throws ModelError if a message, or one inside of it, has an unknown field that is not empty. Computations
/// and instructions are messages of their own: those inside are left out.
void check_unknown_fields(const google::protobuf::Message& message);

/// Throws ModelError if an instruction has a field that its opcode has no use for.
void check_fields_of_opcode(const hlo_proto::HloInstructionProto& instruction, Opcode opcode);

/// The attributes of an instruction with this opcode, null if it has none. `shapes` are those of the module.
/// What must fit the operands is not checked yet. Throws ModelError.
std::unique_ptr<const Attributes> read_attributes(const hlo_proto::HloInstructionProto& instruction,
                                                  Opcode opcode, ShapeId shape, ShapeTable& shapes);

/// The elements of a literal of this shape, row-major and little endian, whatever its layout. Throws
/// ModelError if the literal has another shape, or not as many elements of its type as it says.
std::vector<std::uint8_t> literal_bytes(const hlo_proto::LiteralProto& literal, ShapeId shape,
                                        ShapeTable& shapes);

/// Throws ModelError for a custom call that is not read.
void check_custom_target(const hlo_proto::HloInstructionProto& instruction);

FrontendAttributes read_frontend_attributes(const hlo_proto::FrontendAttributes& attributes);

}  // namespace systole::hlo
