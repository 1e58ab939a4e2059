#include "hw/isa/field_checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "hw/isa/program_error.h"

namespace systole::isa {

void FieldChecker::flags(std::span<const FlagsPart> /*parts*/) {}

void FieldChecker::host_address(std::uint64_t& address) {
    if (address >= host_memory_limit) {
        throw ProgramError(
            fmt::format("host address is {:#x}; it must be at most {:#x}", address, host_memory_limit - 1));
    }
}

void FieldChecker::rule(bool holds, std::string_view rule) {
    if (!holds) throw ProgramError(std::string(rule));
}

void FieldChecker::visit_number(const NumberField& field, std::uint64_t& value) {
    if (value < field.minimum) {
        throw ProgramError(fmt::format("{} is {}; it must be at least {}", field.name, value, field.minimum));
    }
    if (value > largest_of(field.bytes)) {
        throw ProgramError(
            fmt::format("{} is {}; it must be at most {}", field.name, value, largest_of(field.bytes)));
    }
}

void FieldChecker::visit_choice(std::string_view name, std::span<const std::string_view> words,
                                std::size_t& index) {
    if (index >= words.size()) {
        throw ProgramError(fmt::format("{} is {}; it must be below {}", name, index, words.size()));
    }
}

std::uint64_t code_of(DataType format, const FormatCode& code) {
    const auto found = std::find(code.formats.begin(), code.formats.end(), format);
    if (found == code.formats.end()) throw std::logic_error("a number format without a code");
    return static_cast<std::uint64_t>(found - code.formats.begin());
}

std::optional<std::vector<std::string_view>> code_words(const FormatField& field) {
    const std::uint64_t code = code_of(field.value, field.code);
    std::vector<std::string_view> words;
    for (std::size_t i = 0; i < field.code.bits.size(); ++i) {
        if (((code >> i) & 1) == 0) continue;
        if (field.code.bits[i].word.empty()) return std::nullopt;
        words.push_back(field.code.bits[i].word);
    }
    return words;
}

void check_fields(const Instruction& instruction) {
    FieldChecker checker;
    visit_fields(instruction, checker);
}

void visit_fields(const Instruction& instruction, FieldVisitor& visitor) {
    std::visit([&](auto copy) { copy.fields(visitor); }, instruction);
}

}  // namespace systole::isa
