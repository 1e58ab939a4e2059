#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "hw/machine/config_reader.h"

/// Fields that a file must have: what stands in these files are figures, which have no defaults.
namespace systole::validate {

inline void need(machine::ConfigReader& reader, std::string_view key, std::string& value) {
    reader.field({key, "", ""}, value);
    reader.require(key);
}

inline void need(machine::ConfigReader& reader, std::string_view key, double& value,
                 machine::RealRange range = {0.0, 1e12}) {
    reader.field({key, "", ""}, value, range);
    reader.require(key);
}

inline void need(machine::ConfigReader& reader, std::string_view key, std::uint32_t& value,
                 machine::Range range) {
    reader.field({key, "", ""}, value, range);
    reader.require(key);
}

/// An object, read by `describe(reader, section)`.
template <class Section>
void need_section(machine::ConfigReader& reader, std::string_view key, Section& section) {
    reader.section({key, "", ""}, section);
    reader.require(key);
}

}  // namespace systole::validate
