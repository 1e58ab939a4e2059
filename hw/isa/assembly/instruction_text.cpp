#include "hw/isa/assembly/instruction_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "hw/isa/assembly.h"
#include "hw/isa/assembly/lexer.h"
#include "hw/isa/encoding.h"
#include "hw/isa/field_checker.h"
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
        const bool begins_with_digit =
            token.value.empty() || (token.value.front() >= '0' && token.value.front() <= '9');
        if (begins_with_digit || operands_.is_number(token)) {
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
            if (std::ranges::find(field.code.formats, type) == field.code.formats.end()) {
                operands_.fail(*name, fmt::format("is {}, which no instruction takes", name_of(*type)));
            }
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

class FieldPrinter final : public FieldVisitor {
public:
    explicit FieldPrinter(const HostLabels& labels) : labels_(labels) {}

    void flags(std::span<const FlagsPart> parts) override {
        for (const FlagsPart& part : parts) {
            if (const auto* flag = std::get_if<FlagField>(&part)) {
                const std::string_view word = flag->value ? flag->word : flag->clear_word;
                if (!word.empty()) flags_ += fmt::format(" {}", word);
            } else {
                format(std::get<FormatField>(part));
            }
        }
    }

    void host_address(std::uint64_t& address) override {
        positional_ += fmt::format(" {}", labels_.text_of(address));
    }

    void rule(bool /*holds*/, std::string_view /*rule*/) override {}

    std::string operands() const { return positional_ + required_ + optional_ + flags_; }

protected:
    void visit_number(const NumberField& field, std::uint64_t& value) override {
        const std::string text =
            field.is_signed ? fmt::to_string(static_cast<std::int32_t>(value)) : fmt::to_string(value);
        if (field.positional) {
            positional_ += fmt::format(" {}", text);
        } else if (!field.absent) {
            required_ += fmt::format(" {}={}", field.name, text);
        } else if (*field.absent != value) {
            optional_ += fmt::format(" {}={}", field.name, text);
        }
    }

    void visit_choice(std::string_view name, std::span<const std::string_view> words,
                      std::size_t& index) override {
        positional_ +=
            index < words.size() ? fmt::format(" {}", words[index]) : fmt::format(" {}?{}", name, index);
    }

private:
    void format(const FormatField& field) {
        if (const auto words = code_words(field)) {
            for (const std::string_view word : *words) flags_ += fmt::format(" {}", word);
        } else {
            flags_ += fmt::format(" {}={}", field.name, name_of(field.value));
        }
    }

    const HostLabels& labels_;
    std::string positional_;
    std::string required_;
    std::string optional_;
    std::string flags_;
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

std::string instruction_text(const Instruction& instruction, const HostLabels& labels) {
    FieldPrinter printer(labels);
    visit_fields(instruction, printer);
    return std::string(mnemonic(instruction)) + printer.operands();
}

std::string to_string(const Instruction& instruction) {
    return instruction_text(instruction, HostLabels());
}

HostLabels::HostLabels(const std::vector<HostBuffer>& buffers) {
    for (const HostBuffer& buffer : buffers) {
        if (is_name(buffer.name)) by_address_.push_back(&buffer);
    }
    std::sort(by_address_.begin(), by_address_.end(),
              [](const HostBuffer* a, const HostBuffer* b) { return a->address < b->address; });
}

std::string HostLabels::text_of(std::uint64_t address) const {
    const auto above = std::upper_bound(
        by_address_.begin(), by_address_.end(), address,
        [](std::uint64_t wanted, const HostBuffer* buffer) { return wanted < buffer->address; });
    if (above != by_address_.begin()) {
        const HostBuffer& buffer = **std::prev(above);
        const std::uint64_t offset = address - buffer.address;
        if (offset == 0) return buffer.name;
        if (offset < buffer.bytes) return fmt::format("{}+{}", buffer.name, offset);
    }
    return fmt::format("{:#x}", address);
}

}  // namespace systole::isa
