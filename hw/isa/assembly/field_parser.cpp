#include "hw/isa/assembly/field_parser.h"

#include <fmt/format.h>

#include "hw/isa/fields.h"
#include "hw/isa/instruction.h"

namespace systole::isa {
namespace {

class FieldParser final : public FieldVisitor {
public:
    FieldParser(Operands& operands, const HostAddresses& addresses)
        : operands_(operands), addresses_(addresses) {}

    void flags(std::span<const FlagsPart> parts) override {
        for (const FlagsPart& part : parts) {
            if (const auto* field = std::get_if<FlagField>(&part)) {
                flag(*field);
            } else {
                format(std::get<FormatField>(part));
            }
        }
    }

    void host_address(std::uint64_t& address) override {
        const Token& token = operands_.word("host address");
        if (token.value.empty() || (token.value.front() >= '0' && token.value.front() <= '9')) {
            address = operands_.number(token, 0, host_memory_limit - 1);
            return;
        }
        const std::size_t plus = token.value.find('+');
        const auto label = addresses_.find(token.value.substr(0, plus));
        if (token.is_quoted || label == addresses_.end()) {
            operands_.fail(token,
                           "must be a number or a host buffer declared above, with or without +offset");
        }
        address = label->second;
        if (plus == std::string::npos) return;
        Token offset = token;
        offset.value = token.value.substr(plus + 1);
        address += operands_.number(offset, 0, host_memory_limit - 1 - address);
    }

    void rule(bool holds, std::string_view rule) override {
        if (!holds) operands_.fail(rule);
    }

protected:
    void visit_number(const NumberField& field, std::uint64_t& value) override {
        const Token* const token =
            field.positional ? &operands_.word(field.name) : operands_.keyed(field.name);
        if (token == nullptr) {
            if (!field.absent) operands_.fail(fmt::format("{}= is missing", field.name));
            value = *field.absent;
        } else if (field.is_signed) {
            value = operands_.bits(*token, token->value, field.bytes);
        } else {
            value = operands_.number(*token, field.minimum, largest_of(field.bytes));
        }
    }

    void visit_choice(std::string_view name, std::span<const std::string_view> words,
                      std::size_t& index) override {
        index = operands_.choice(name, words);
    }

private:
    void flag(const FlagField& field) {
        field.value = operands_.flag(field.word);
        if (field.clear_word.empty() || !operands_.flag(field.clear_word)) return;
        if (field.value) operands_.fail(fmt::format("{} contradicts {}", field.clear_word, field.word));
    }

    /// `name=format`, or the words of the code's bits.
    void format(const FormatField& field) {
        std::size_t code = 0;
        std::string_view last_word;
        for (std::size_t i = 0; i < field.code.bits.size(); ++i) {
            const std::string_view word = field.code.bits[i].word;
            if (word.empty() || !operands_.flag(word)) continue;
            code |= std::size_t{1} << i;
            last_word = word;
        }
        if (const Token* const name = operands_.keyed(field.name)) {
            const auto type = find_data_type(name->value);
            if (!type) operands_.fail(*name, "must be the name of a number format, like int16");
            if (!last_word.empty()) operands_.fail(*name, fmt::format("contradicts {}", last_word));
            field.value = *type;
            return;
        }
        if (!field.code.formats[code]) operands_.fail(field.code.reserved_rule);
        field.value = *field.code.formats[code];
    }

    Operands& operands_;
    const HostAddresses& addresses_;
};

}  // namespace

std::optional<Instruction> parse_instruction(Operands& operands, const HostAddresses& addresses) {
    std::optional<Instruction> result;
    for_each_kind([&](auto instruction) {
        if (operands.name() != instruction.mnemonic) return;
        FieldParser parser(operands, addresses);
        instruction.fields(parser);
        operands.finish();
        result = instruction;
    });
    return result;
}

}  // namespace systole::isa
