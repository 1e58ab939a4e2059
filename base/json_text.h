#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/user_error.h"

namespace systole {

/// A text is not JSON that the project reads. The message is the rule alone: its caller knows the file.
class JsonError : public UserError {
public:
    using UserError::UserError;
};

/// Parses JSON; every reader of JSON text goes through this function. Throws JsonError if the text is not
/// JSON, if an object has a key twice, or if values nest deeper than `deepest`, which would exhaust the stack
/// of recursive readers. For nlohmann::json and nlohmann::ordered_json.
template <class Json>
Json parse_json(std::string_view text, std::size_t deepest);

extern template nlohmann::json parse_json(std::string_view text, std::size_t deepest);
extern template nlohmann::ordered_json parse_json(std::string_view text, std::size_t deepest);

}  // namespace systole
