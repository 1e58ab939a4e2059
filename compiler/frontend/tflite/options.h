#pragma once

#include <tflite_generated.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace systole::frontend::tflite {

/// The name of an enumerator in the format, such as "CONV_2D" of "BuiltinOperator"; "" for other numbers.
std::string_view name_in(std::string_view enumeration, std::int64_t number);

/// The options of an operator as an object of their names: numbers, booleans, lists of numbers, and names of
/// enumerators. Absent options have their defaults. Empty if they have no fields that are read. Throws
/// ModelError for an enumerator that the format does not have.
nlohmann::json options_of(const Operator& node);

/// The default of an option in the table that an operator's options are.
nlohmann::json default_option(const Operator& node, const std::string& option);

}  // namespace systole::frontend::tflite
