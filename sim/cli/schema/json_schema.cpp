
#include <fmt/format.h>

#include <stdexcept>

#include "sim/cli/schema/documents.h"

namespace systole::schema {
namespace {

using machine::KeyDescription;
using Json = nlohmann::ordered_json;
using Type = KeyDescription::Type;

Json object_schema(const std::vector<KeyDescription>& keys);

/// The schema of the key's value.
Json value_schema(const KeyDescription& key) {
    Json text{{"type", "string"}};
    switch (key.type) {
        case Type::WholeNumber:
            return {{"type", "integer"}, {"minimum", key.range->least}, {"maximum", key.range->most}};
        case Type::Number:
            return {
                {"type", "number"}, {"minimum", key.real_range->least}, {"maximum", key.real_range->most}};
        case Type::Switch:
            return {{"type", "boolean"}};
        case Type::Text:
            return text;
        case Type::ListOfTexts:
            return {{"anyOf", Json::array({text, {{"type", "array"}, {"items", text}}})}};
        case Type::ListOfNumbers: {
            const Json number{
                {"type", "number"}, {"minimum", key.real_range->least}, {"maximum", key.real_range->most}};
            return {{"anyOf", Json::array({number, {{"type", "array"}, {"items", number}}})}};
        }
        case Type::Choice:
            return {{"enum", key.choices}};
        case Type::Section:
            return object_schema(key.keys);
        case Type::Sections:
            return {{"type", "array"}, {"items", object_schema(key.keys)}};
        case Type::TextsByName:
            return {{"type", "object"}, {"additionalProperties", text}};
        case Type::ValuesByName:
            return {{"type", "object"}};
    }
    throw std::logic_error("a type of keys without a schema");
}

Json key_schema(const KeyDescription& key) {
    Json schema = value_schema(key);
    const std::string meaning = meaning_text(key);
    schema["description"] = key.unit.empty() ? meaning : fmt::format("{}: {}", key.unit, meaning);
    if (!key.value_if_absent.is_null()) schema["default"] = key.value_if_absent;
    return schema;
}

Json object_schema(const std::vector<KeyDescription>& keys) {
    Json schema{{"type", "object"}, {"properties", Json::object()}, {"additionalProperties", false}};
    Json needed = Json::array();
    for (const KeyDescription& key : keys) {
        schema["properties"][key.name] = key_schema(key);
        if (key.needed) needed.push_back(key.name);
    }
    if (!needed.empty()) schema["required"] = std::move(needed);
    return schema;
}

}  // namespace

Json json_schema(const Document& document) {
    Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                {"title", document.schema},
                {"description", document.what}};
    schema.update(object_schema(document.keys));
    schema["properties"]["schema"] = {{"const", document.schema}};
    return schema;
}

}  // namespace systole::schema
