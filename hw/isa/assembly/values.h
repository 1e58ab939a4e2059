#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hw/isa/assembly/operands.h"

// The contents of weight tiles, constant host buffers and initial rows in assembly.
namespace systole::isa {

/// The number of bytes that generators may still make; it limits the memory that a short text can request.
class GenerationBudget {
public:
    static constexpr std::uint64_t bytes_of_text = std::uint64_t{1} << 28;

    /// Takes `bytes` from the budget; false if fewer are left.
    bool take(std::uint64_t bytes);

private:
    std::uint64_t left_ = bytes_of_text;
};

/// The elements that values are stored as.
struct ElementRules {
    unsigned bytes = 1;
    /// They are two's complement, and larger numbers are errors. Otherwise they are bytes of either sign.
    bool is_signed = false;
};

/// Takes `fill VALUE` or `random SEED`, if present, and generates `bytes` bytes of elements; `bytes` is a
/// multiple of theirs.
std::vector<std::uint8_t> generated_values(Operands& operands, std::uint64_t bytes,
                                           const ElementRules& element, GenerationBudget& budget);

/// Appends the values of a `.data`, `.int8`, `.uint8`, ... statement; false for other statements.
bool append_values(Operands& operands, std::vector<std::uint8_t>& bytes, const ElementRules& element,
                   GenerationBudget& budget);

/// The rest of a declaration's line, and the lines below it, that generate these values.
std::string values_text(const std::vector<std::uint8_t>& bytes, unsigned element_bytes,
                        GenerationBudget& budget);

}  // namespace systole::isa
