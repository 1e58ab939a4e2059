#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hw/isa/assembly/operands.h"

// The contents of weight tiles and constant host buffers as assembly writes them.
namespace systole::isa {

/// Bytes that generators may still make: what a short text can ask for has an end.
class GenerationBudget {
public:
    static constexpr std::uint64_t bytes_of_text = std::uint64_t{1} << 28;

    /// Whether `bytes` more may be made; takes them if so.
    bool take(std::uint64_t bytes);

private:
    std::uint64_t left_ = bytes_of_text;
};

/// Takes `fill VALUE` or `random SEED`, if there, and makes `bytes` bytes of elements of
/// `element_bytes`. The bytes are a multiple of the element's.
std::vector<std::uint8_t> generated_values(Operands& operands, std::uint64_t bytes, unsigned element_bytes,
                                           GenerationBudget& budget);

/// Appends the values of a `.data`, `.int8`, `.int16` or `.int32` statement; false if it is none.
bool append_values(Operands& operands, std::vector<std::uint8_t>& bytes, GenerationBudget& budget);

/// The rest of a declaration's line and the lines below it that make these values.
std::string values_text(const std::vector<std::uint8_t>& bytes, unsigned element_bytes,
                        GenerationBudget& budget);

}  // namespace systole::isa
