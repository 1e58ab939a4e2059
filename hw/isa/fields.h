#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "base/data_type.h"

namespace systole::isa {

/// A numeric field of an instruction.
struct NumberField {
    std::string_view name;      ///< in messages, and in assembly the key of `key=value`
    std::uint8_t bytes = 4;     ///< encoded, little endian
    std::uint64_t minimum = 0;  ///< smaller values are errors
    /// The default: assembly may leave the operand out if it has this value. Without one it is required.
    std::optional<std::uint64_t> absent = std::nullopt;
    bool positional = false;  ///< assembly takes the bare number
    bool is_signed = false;   ///< assembly shows it as two's complement
};

/// One bit of an instruction's flags byte.
struct FlagField {
    std::uint8_t bit = 0;
    std::string_view word;  ///< in assembly, present if the bit is set
    bool& value;
    std::string_view clear_word = {};  ///< in assembly, printed if the bit is clear
};

/// The code of number formats in three bits of a flags byte.
struct FormatCode {
    struct Bit {
        std::uint8_t place = 0;  ///< in the flags byte
        /// In assembly, present if the bit is set; empty if only `name=format` can express it.
        std::string_view word = {};
    };

    static constexpr std::size_t count = 8;

    std::array<Bit, 3> bits;  ///< the code's lowest bit first
    /// The format of each code; nullopt for reserved codes.
    std::array<std::optional<DataType>, count> formats;
    std::string_view reserved_rule = "the code of its number format is reserved";
};

/// The code of a format. Throws std::logic_error if it has none.
std::uint64_t code_of(DataType format, const FormatCode& code);

/// A number format in an instruction's flags byte.
struct FormatField {
    std::string_view name;  ///< in messages, and in assembly the key of `name=format`
    DataType& value;
    const FormatCode& code;
};

/// The words of the bits that are set in the field's code; nullopt if one of these bits has no word.
std::optional<std::vector<std::string_view>> code_words(const FormatField& field);

using FlagsPart = std::variant<FlagField, FormatField>;

/// Bytes of a host-memory address in an instruction.
inline constexpr std::uint8_t host_address_bytes = 5;
inline constexpr std::uint64_t host_memory_limit = std::uint64_t{1} << (8 * host_address_bytes);

/// The largest number that fits `bytes` bytes (1 to 8).
constexpr std::uint64_t largest_of(std::uint8_t bytes) {
    return ~std::uint64_t{0} >> (64 - 8 * bytes);
}

/// Visits the fields of an instruction in the order of their encoding. Every instruction lists its fields
/// once, in `fields(FieldVisitor&)`; encoding, decoding, printing and parsing are visitors. Some visitors
/// read the fields, the others set them.
class FieldVisitor {
public:
    FieldVisitor() = default;
    FieldVisitor(const FieldVisitor&) = delete;
    FieldVisitor& operator=(const FieldVisitor&) = delete;
    virtual ~FieldVisitor() = default;

    template <std::unsigned_integral Value>
    void number(const NumberField& field, Value& value) {
        std::uint64_t wide = value;
        visit_number(field, wide);
        value = static_cast<Value>(wide);
    }

    /// One byte: the index of a word.
    template <class Enum>
    void choice(std::string_view name, std::span<const std::string_view> words, Enum& value) {
        auto index = static_cast<std::size_t>(value);
        visit_choice(name, words, index);
        value = static_cast<Enum>(index);
    }

    /// One byte, with its parts in the order of assembly. Bits that belong to no part are 0.
    virtual void flags(std::span<const FlagsPart> parts) = 0;

    virtual void host_address(std::uint64_t& address) = 0;

    /// A condition on fields visited before; `rule` is the sentence for the error message.
    virtual void rule(bool holds, std::string_view rule) = 0;

protected:
    virtual void visit_number(const NumberField& field, std::uint64_t& value) = 0;
    virtual void visit_choice(std::string_view name, std::span<const std::string_view> words,
                              std::size_t& index) = 0;
};

}  // namespace systole::isa
