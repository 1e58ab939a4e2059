#include "compiler/frontend/text_values.h"

#include <fmt/format.h>

#include <limits>

#include "base/json_text.h"
#include "base/message_text.h"
#include "compiler/ir/model_error.h"

namespace systole::frontend {

using nlohmann::json;

json parse_json(std::string_view text, std::string_view what) {
    constexpr std::size_t deepest = 64;
    try {
        return systole::parse_json<json>(text, deepest);
    } catch (const JsonError& error) {
        throw ModelError(fmt::format("{} {}", what, error.what()));
    }
}

std::string describe(const json& value) {
    if (value.is_object()) return "an object";
    if (value.is_string()) return in_quotes(value.get_ref<const std::string&>());
    if (!value.is_array()) return value.dump();
    constexpr std::size_t longest_list = 8;
    std::string text = "[";
    for (const json& element : value) {
        if (value.size() > longest_list || element.is_structured()) return "a list";
        text += (text.size() > 1 ? ", " : "") + describe(element);
    }
    return text + "]";
}

std::optional<std::uint32_t> as_unsigned(const json& value) {
    if (!value.is_number_unsigned()) return std::nullopt;
    const auto number = value.get<std::uint64_t>();
    if (number > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
    return static_cast<std::uint32_t>(number);
}

}  // namespace systole::frontend
