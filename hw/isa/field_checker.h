#pragma once

#include "hw/isa/fields.h"
#include "hw/isa/instruction.h"

namespace systole::isa {

/// Checks each field against its encoding and its rules. Throws ProgramError with field, value and rule,
/// without the instruction.
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

/// Checks all fields. Throws ProgramError with field, value and rule, without the instruction.
void check_fields(const Instruction& instruction);

/// Visits the fields of `instruction` with a visitor that does not change them.
void visit_fields(const Instruction& instruction, FieldVisitor& visitor);

}  // namespace systole::isa
