// Reads the options of any operator by the schema, which is part of the program in binary form.
#include "compiler/frontend/tflite/options.h"

#include <flatbuffers/reflection.h>
#include <fmt/format.h>
#include <tflite_bfbs_generated.h>

#include <cstdint>
#include <stdexcept>

#include "compiler/ir/model_error.h"

namespace systole::frontend::tflite {
namespace {

using nlohmann::json;

const reflection::Schema& schema() {
    return *reflection::GetSchema(ModelBinarySchema::data());
}

const reflection::Enum& enumeration_of(std::string_view name) {
    const std::string whole = "systole.frontend.tflite." + std::string(name);
    const reflection::Enum* const found = schema().enums()->LookupByKey(whole.c_str());
    if (found == nullptr) throw std::logic_error("the schema has no enumeration " + whole);
    return *found;
}

/// The name of an enumerator, or "".
std::string_view enumerator(const reflection::Enum& enumeration, std::int64_t number) {
    const reflection::EnumVal* const found = enumeration.values()->LookupByKey(number);
    return found == nullptr ? std::string_view() : found->name()->string_view();
}

/// The declaration of the options' table; null if the reader uses none of its fields.
const reflection::Object* declaration_of(const Operator& node) {
    const auto number = static_cast<std::int64_t>(node.builtin_options_type());
    const reflection::EnumVal* const member = enumeration_of("BuiltinOptions").values()->LookupByKey(number);
    if (number == 0 || member == nullptr) return nullptr;
    return schema().objects()->Get(static_cast<flatbuffers::uoffset_t>(member->union_type()->index()));
}

json integer_of(std::int64_t number) {
    // As a parser of JSON would give it.
    return number < 0 ? json(number) : json(static_cast<std::uint64_t>(number));
}

json named(const reflection::Field& field, std::int64_t number) {
    if (field.type()->index() < 0) return integer_of(number);
    const auto index = static_cast<flatbuffers::uoffset_t>(field.type()->index());
    const std::string_view name = enumerator(*schema().enums()->Get(index), number);
    if (name.empty()) {
        throw ModelError(
            fmt::format("{} is {}; the format has no such number", field.name()->string_view(), number));
    }
    return name;
}

json list_of(const flatbuffers::Vector<std::int32_t>* list) {
    json numbers = json::array();
    if (list != nullptr) {
        for (const std::int32_t number : *list) numbers.push_back(integer_of(number));
    }
    return numbers;
}

/// The value of a field, or its default if there is no table.
json value_of(const flatbuffers::Table* table, const reflection::Field& field) {
    const auto integer = [&](auto zero) -> std::int64_t {
        const auto absent = static_cast<decltype(zero)>(field.default_integer());
        return table == nullptr ? absent : table->GetField(field.offset(), absent);
    };
    switch (field.type()->base_type()) {
        case reflection::Bool:
            return integer(std::uint8_t{0}) != 0;
        case reflection::Byte:
            return named(field, integer(std::int8_t{0}));
        case reflection::Int:
            return named(field, integer(std::int32_t{0}));
        case reflection::Float: {
            const auto absent = static_cast<float>(field.default_real());
            return table == nullptr ? absent : table->GetField(field.offset(), absent);
        }
        case reflection::Vector:
            return list_of(table == nullptr
                               ? nullptr
                               : table->GetPointer<const flatbuffers::Vector<std::int32_t>*>(field.offset()));
        default:
            throw std::logic_error("the schema has an option of a type that is not read");
    }
}

}  // namespace

std::string_view name_in(std::string_view enumeration, std::int64_t number) {
    return enumerator(enumeration_of(enumeration), number);
}

json options_of(const Operator& node) {
    json options = json::object();
    const reflection::Object* const declaration = declaration_of(node);
    if (declaration == nullptr) return options;
    const auto* const table = static_cast<const flatbuffers::Table*>(node.builtin_options());
    for (const reflection::Field* const field : *declaration->fields()) {
        if (!field->deprecated()) options[field->name()->str()] = value_of(table, *field);
    }
    return options;
}

json default_option(const Operator& node, const std::string& option) {
    const reflection::Object* const declaration = declaration_of(node);
    const reflection::Field* const field =
        declaration == nullptr ? nullptr : declaration->fields()->LookupByKey(option.c_str());
    return field == nullptr ? json() : value_of(nullptr, *field);
}

}  // namespace systole::frontend::tflite
