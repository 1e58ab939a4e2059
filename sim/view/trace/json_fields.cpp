#include <cstdint>
#include <variant>

#include "hw/isa/assembly/instruction_text.h"
#include "hw/isa/field_checker.h"
#include "sim/view/trace/chrome_events.h"

namespace systole::trace {
namespace {

class JsonFields final : public isa::FieldVisitor {
public:
    JsonFields(const isa::HostLabels& labels, TextBuffer& text) : labels_(labels), text_(text) {}

    void flags(std::span<const isa::FlagsPart> parts) override {
        for (const isa::FlagsPart& part : parts) {
            if (const auto* flag = std::get_if<isa::FlagField>(&part)) {
                if (flag->value) set(flag->word);
                continue;
            }
            const auto& format = std::get<isa::FormatField>(part);
            if (const auto words = isa::code_words(format)) {
                for (const std::string_view word : *words) set(word);
            } else {
                text_ << ",\"" << format.name << "\":\"" << name_of(format.value) << '"';
            }
        }
    }
    void host_address(std::uint64_t& address) override {
        // A label is an identifier, so it needs no escapes.
        text_ << ",\"host_address\":\"" << labels_.text_of(address) << '"';
    }
    void rule(bool /*holds*/, std::string_view /*rule*/) override {}

protected:
    void visit_number(const isa::NumberField& field, std::uint64_t& value) override {
        if (field.absent && *field.absent == value) return;
        text_ << ",\"" << field.name << "\":";
        if (field.is_signed) {
            text_ << static_cast<std::int32_t>(value);
        } else {
            text_ << value;
        }
    }
    void visit_choice(std::string_view name, std::span<const std::string_view> words,
                      std::size_t& index) override {
        text_ << ",\"" << name << "\":\"" << words[index] << '"';
    }

private:
    void set(std::string_view word) { text_ << ",\"" << word << "\":true"; }

    const isa::HostLabels& labels_;
    TextBuffer& text_;
};

}  // namespace

void append_fields(const isa::Instruction& instruction, const isa::HostLabels& labels, TextBuffer& text) {
    JsonFields fields(labels, text);
    isa::visit_fields(instruction, fields);
}

}  // namespace systole::trace
