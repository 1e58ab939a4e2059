#include "hw/isa/encoding.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <stdexcept>

#include "hw/isa/assembly.h"
#include "hw/isa/field_checker.h"
#include "hw/isa/instruction.h"
#include "hw/isa/program_error.h"

namespace systole::isa {
namespace {

class FieldWriter final : public FieldChecker {
public:
    explicit FieldWriter(std::vector<std::uint8_t>& bytes) : bytes_(bytes) {}

    void flags(std::span<const FlagsPart> parts) override {
        std::uint64_t byte = 0;
        for (const FlagsPart& part : parts) {
            if (const auto* flag = std::get_if<FlagField>(&part)) {
                byte |= std::uint64_t{flag->value} << flag->bit;
                continue;
            }
            const auto& format = std::get<FormatField>(part);
            const std::uint64_t code = code_of(format.value, format.code);
            for (std::size_t i = 0; i < format.code.bits.size(); ++i) {
                byte |= ((code >> i) & 1) << format.code.bits[i].place;
            }
        }
        append(byte, 1);
    }

    void host_address(std::uint64_t& address) override {
        FieldChecker::host_address(address);
        append(address, host_address_bytes);
    }

protected:
    void visit_number(const NumberField& field, std::uint64_t& value) override {
        FieldChecker::visit_number(field, value);
        append(value, field.bytes);
    }

    void visit_choice(std::string_view name, std::span<const std::string_view> words,
                      std::size_t& index) override {
        FieldChecker::visit_choice(name, words, index);
        append(index, 1);
    }

private:
    void append(std::uint64_t value, std::uint8_t count) {
        for (std::uint8_t i = 0; i < count; ++i)
            bytes_.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
    }

    std::vector<std::uint8_t>& bytes_;
};

/// Reads the fields from the bytes of exactly one instruction.
class FieldReader final : public FieldChecker {
public:
    explicit FieldReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

    void flags(std::span<const FlagsPart> parts) override {
        const std::uint64_t byte = take(1);
        check_unused_bits(byte, parts);
        const auto bit = [byte](std::uint8_t place) { return (byte >> place) & 1; };
        for (const FlagsPart& part : parts) {
            if (const auto* flag = std::get_if<FlagField>(&part)) {
                flag->value = bit(flag->bit) != 0;
                continue;
            }
            const auto& format = std::get<FormatField>(part);
            std::uint64_t code = 0;
            for (std::size_t i = 0; i < format.code.bits.size(); ++i) {
                code |= bit(format.code.bits[i].place) << i;
            }
            if (!format.code.formats[code]) throw ProgramError(std::string(format.code.reserved_rule));
            format.value = *format.code.formats[code];
        }
    }

    void host_address(std::uint64_t& address) override { address = take(host_address_bytes); }

protected:
    void visit_number(const NumberField& field, std::uint64_t& value) override {
        value = take(field.bytes);  // a number of this many bytes always fits
        if (value < field.minimum) FieldChecker::visit_number(field, value);
    }

    void visit_choice(std::string_view name, std::span<const std::string_view> words,
                      std::size_t& index) override {
        index = take(1);
        FieldChecker::visit_choice(name, words, index);
    }

private:
    static void check_unused_bits(std::uint64_t byte, std::span<const FlagsPart> parts) {
        std::uint64_t used = 0;
        for (const FlagsPart& part : parts) {
            if (const auto* flag = std::get_if<FlagField>(&part)) {
                used |= std::uint64_t{1} << flag->bit;
                continue;
            }
            for (const auto& [place, word] : std::get<FormatField>(part).code.bits) {
                used |= std::uint64_t{1} << place;
            }
        }
        if ((byte & ~used) != 0) {
            if (std::has_single_bit(used + 1)) {
                throw ProgramError(
                    fmt::format("flags are {:#04x}; bits from {} on must be 0", byte, std::bit_width(used)));
            }
            throw ProgramError(
                fmt::format("flags are {:#04x}; other bits than {:#04x} must be 0", byte, used));
        }
    }

    std::uint64_t take(std::uint8_t count) {
        if (count > bytes_.size()) throw std::logic_error("encoded_bytes is too small for the fields");
        const auto taken = bytes_.first(count);
        bytes_ = bytes_.subspan(count);
        std::uint64_t value = 0;
        for (std::uint8_t i = 0; i < count; ++i) value |= std::uint64_t{taken[i]} << (8 * i);
        return value;
    }

    std::span<const std::uint8_t> bytes_;
};

/// The decoder of an opcode's instructions.
struct Kind {
    std::string_view mnemonic;
    std::size_t bytes = 0;  ///< opcode included; 0: the opcode does not exist
    Instruction (*read)(FieldReader&) = nullptr;
};

template <class Each>
Instruction read(FieldReader& reader) {
    Each instruction;
    instruction.fields(reader);
    return instruction;
}

constexpr std::array<Kind, 256> kinds = [] {
    std::array<Kind, 256> result;
    for_each_kind([&]<class Each>(const Each&) {
        Kind& kind = result[Each::opcode];
        if (kind.bytes != 0) throw "two instructions have the same opcode";  // makes the compilation fail
        kind = {.mnemonic = Each::mnemonic, .bytes = Each::encoded_bytes, .read = &read<Each>};
    });
    return result;
}();

}  // namespace

void encode(const Instruction& instruction, std::vector<std::uint8_t>& bytes) {
    const std::size_t begin = bytes.size();
    bytes.push_back(std::visit([](const auto& each) { return each.opcode; }, instruction));
    FieldWriter writer(bytes);
    try {
        visit_fields(instruction, writer);
    } catch (const ProgramError& error) {
        bytes.resize(begin);
        throw ProgramError(fmt::format("{}: {}", to_string(instruction), error.what()));
    }
}

Instruction decode(std::span<const std::uint8_t> bytes, std::size_t& offset) {
    if (offset >= bytes.size()) {
        throw ProgramError(fmt::format("byte {}: an instruction is missing", offset));
    }
    const std::span<const std::uint8_t> rest = bytes.subspan(offset);
    const Kind& kind = kinds[rest.front()];
    if (kind.bytes == 0) {
        throw ProgramError(fmt::format("byte {}: {:#04x} is not an opcode", offset, rest.front()));
    }
    if (rest.size() < kind.bytes) {
        throw ProgramError(fmt::format("byte {}: {} takes {} bytes; {} are left", offset, kind.mnemonic,
                                       kind.bytes, rest.size()));
    }
    FieldReader reader(rest.subspan(1, kind.bytes - 1));
    try {
        Instruction instruction = kind.read(reader);
        offset += kind.bytes;
        return instruction;
    } catch (const ProgramError& error) {
        throw ProgramError(fmt::format("byte {}: {}: {}", offset, kind.mnemonic, error.what()));
    }
}

std::size_t encoded_size(const Instruction& instruction) {
    return std::visit([](const auto& each) { return each.encoded_bytes; }, instruction);
}

std::string_view mnemonic(const Instruction& instruction) {
    return std::visit([](const auto& each) { return each.mnemonic; }, instruction);
}

}  // namespace systole::isa
