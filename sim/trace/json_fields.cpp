#include "sim/trace/json_fields.h"

#include <cstdint>

#include "hw/isa/field_checker.h"

namespace systole::trace {
namespace {

class JsonFields final : public isa::FieldVisitor {
public:
    JsonFields(const isa::HostLabels& labels, TextBuffer& text) : labels_(labels), text_(text) {}

    void flags(std::span<const isa::FlagField> flags) override {
        for (const isa::FlagField& flag : flags) {
            if (flag.value) text_ << ",\"" << flag.word << "\":true";
        }
    }
    void host_address(std::uint64_t& address) override {
        // A label is a name: nothing in it needs escapes.
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
    const isa::HostLabels& labels_;
    TextBuffer& text_;
};

}  // namespace

void append_fields(const isa::Instruction& instruction, const isa::HostLabels& labels, TextBuffer& text) {
    JsonFields fields(labels, text);
    isa::visit_fields(instruction, fields);
}

}  // namespace systole::trace
