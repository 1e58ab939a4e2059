#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "hw/machine/config_reader.h"
#include "sim/study/validate/named.h"

/// Fields that a file must have: what stands in these files are figures, which have no defaults.
namespace systole::validate {

/// Numbers that something is divided by.
inline constexpr machine::RealRange positive{1e-6, 1e12};
inline constexpr machine::RealRange not_negative{0.0, 1e12};
inline constexpr machine::RealRange percent{0.0, 100.0};

inline void need(machine::ConfigReader& reader, std::string_view key, std::string& value) {
    reader.field({key, "", ""}, value);
    reader.require(key);
}

inline void need(machine::ConfigReader& reader, std::string_view key, double& value,
                 machine::RealRange range) {
    reader.field({key, "", ""}, value, range);
    reader.require(key);
}

inline void need(machine::ConfigReader& reader, std::string_view key, std::uint32_t& value,
                 machine::Range range) {
    reader.field({key, "", ""}, value, range);
    reader.require(key);
}

/// A number and its key.
struct NumberField {
    std::string_view key;
    double& value;
};

inline void need_all(machine::ConfigReader& reader, machine::RealRange range,
                     std::initializer_list<NumberField> fields) {
    for (const NumberField& field : fields) need(reader, field.key, field.value, range);
}

/// An object, read by `describe(reader, section)`.
template <class Section>
void need_section(machine::ConfigReader& reader, std::string_view key, Section& section) {
    reader.section({key, "", ""}, section);
    reader.require(key);
}

/// An object of numbers within one range.
template <class Numbers, class Bounds>
struct Within {
    Numbers& numbers;
    Bounds range;
};

template <const auto& Names, class Number, class Bounds>
void describe(machine::ConfigReader& reader, Within<Named<Names, Number>, Bounds>& section) {
    for (std::size_t i = 0; i < Names.size(); ++i) {
        need(reader, Names[i], section.numbers.values[i], section.range);
    }
}

template <class Numbers, class Bounds>
void need_numbers(machine::ConfigReader& reader, std::string_view key, Numbers& numbers, Bounds range) {
    Within<Numbers, Bounds> section{numbers, range};
    need_section(reader, key, section);
}

/// A whole file, by `describe(reader, document)`, behind its schema and name.
template <class Document>
Document read_document(const nlohmann::json& object, const std::string& file, std::string_view schema) {
    machine::ConfigReader reader(object, file);
    Document document;
    need(reader, "schema", document.schema);
    if (document.schema != schema) reader.fail("schema", fmt::format("it must be \"{}\"", schema));
    need(reader, "name", document.name);
    describe(reader, document);
    reader.check_keys();
    return document;
}

}  // namespace systole::validate
