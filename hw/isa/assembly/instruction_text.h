#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "hw/isa/assembly/operands.h"
#include "hw/isa/instruction.h"
#include "hw/isa/program.h"

namespace systole::isa {

/// The addresses of the host buffers declared so far, by name.
using HostAddresses = std::unordered_map<std::string, std::uint64_t>;

/// Writes host addresses as labels. A buffer's name is a label only if it needs no quotes in assembly.
class HostLabels {
public:
    HostLabels() = default;
    /// `buffers` must outlive this object and pass `validate`.
    explicit HostLabels(const std::vector<HostBuffer>& buffers);

    /// "name", "name+offset" or, outside of every buffer, a number.
    std::string text_of(std::uint64_t address) const;

private:
    std::vector<const HostBuffer*> by_address_;
};

/// The instruction of a statement; nullopt if its first word is not a mnemonic. Takes all operands.
std::optional<Instruction> parse_instruction(Operands& operands, const HostAddresses& addresses);

/// The instruction as one line of assembly, without the line end. Operands with their default value are left
/// out. Values out of range are printed too, because messages also use this text.
std::string instruction_text(const Instruction& instruction, const HostLabels& labels);

}  // namespace systole::isa
