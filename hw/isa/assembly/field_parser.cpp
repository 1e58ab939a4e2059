#include "hw/isa/assembly/field_parser.h"

#include <fmt/format.h>

#include "hw/isa/fields.h"
#include "hw/isa/instruction_list.h"

namespace systole::isa {
namespace {

class FieldParser final : public FieldVisitor {
public:
    FieldParser(Operands& operands, const HostAddresses& addresses)
        : operands_(operands), addresses_(addresses) {}

    void flags(std::span<const FlagField> flags) override {
        for (const FlagField& flag : flags) {
            flag.value = operands_.flag(flag.word);
            if (flag.clear_word.empty() || !operands_.flag(flag.clear_word)) continue;
            if (flag.value) operands_.fail(fmt::format("{} contradicts {}", flag.clear_word, flag.word));
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
