#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hw/isa/assembly/operands.h"

// The contents of weight tiles and constant host buffers in assembly.
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

/// Takes `fill VALUE` or `random SEED`, if present, and generates `bytes` bytes of elements of
/// `element_bytes` bytes; `bytes` is a multiple of that.
std::vector<std::uint8_t> generated_values(Operands& operands, std::uint64_t bytes, unsigned element_bytes,
                                           GenerationBudget& budget);

/// Appends the values of a `.data`, `.int8`, `.int16` or `.int32` statement; false for other statements.
bool append_values(Operands& operands, std::vector<std::uint8_t>& bytes, GenerationBudget& budget);

/// The rest of a declaration's line, and the lines below it, that generate these values.
std::string values_text(const std::vector<std::uint8_t>& bytes, unsigned element_bytes,
                        GenerationBudget& budget);

}  // namespace systole::isa
