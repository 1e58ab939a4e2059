#include "hw/isa/assembly/field_printer.h"

#include <fmt/format.h>

#include "hw/isa/assembly.h"
#include "hw/isa/encoding.h"
#include "hw/isa/field_checker.h"

namespace systole::isa {
namespace {

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

std::string instruction_text(const Instruction& instruction, const HostLabels& labels) {
    FieldPrinter printer(labels);
    visit_fields(instruction, printer);
    return std::string(mnemonic(instruction)) + printer.operands();
}

std::string to_string(const Instruction& instruction) {
    return instruction_text(instruction, HostLabels());
}

}  // namespace systole::isa
