#pragma once

#include "hw/isa/fields.h"
#include "hw/isa/instruction.h"

namespace systole::isa {

/// Holds each field against its encoding and its rules. Throws ProgramError naming field, value and
/// rule, not the instruction.
class FieldChecker : public FieldVisitor {
public:
    void flags(std::span<const FlagsPart> parts) override;
    void host_address(std::uint64_t& address) override;
    void rule(bool holds, std::string_view rule) override;

protected:
    void visit_number(const NumberField& field, std::uint64_t& value) override;
    void visit_choice(std::string_view name, std::span<const std::string_view> words,
                      std::size_t& index) override;
};

/// Throws ProgramError naming field, value and rule, not the instruction.
void check_fields(const Instruction& instruction);

/// Shows the fields of `instruction` to a visitor that leaves them as they are.
void visit_fields(const Instruction& instruction, FieldVisitor& visitor);

}  // namespace systole::isa
