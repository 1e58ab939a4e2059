#include "compiler/frontend/text_values.h"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <system_error>
#include <vector>

#include "compiler/ir/model_error.h"
#include "compiler/ir/names.h"

namespace systole::frontend {

using nlohmann::json;

json parse_json(std::string_view text, std::string_view what) {
    std::vector<std::set<std::string>> keys;  // keys of the objects that are open
    const auto check = [&](int depth, json::parse_event_t event, json& parsed) {
        constexpr int deepest = 64;  // values are copied recursively
        if (depth >= deepest) throw ModelError(fmt::format("{} is nested more than {} deep", what, deepest));
        if (event == json::parse_event_t::object_start) keys.emplace_back();
        if (event == json::parse_event_t::object_end) keys.pop_back();
        if (event == json::parse_event_t::key) {
            const auto& key = parsed.get_ref<const std::string&>();
            if (!keys.back().insert(key).second) {
                throw ModelError(
                    fmt::format("{} has an object with the key {} twice", what, ir::quoted(key)));
            }
        }
        return true;
    };
    try {
        return json::parse(text, check);
    } catch (const json::parse_error& error) {
        throw ModelError(fmt::format("{} is not valid JSON (at byte {})", what, error.byte));
    } catch (const json::exception&) {
        throw ModelError(fmt::format("{} is not valid JSON (a number is out of range)", what));
    }
}

std::string describe(const json& value) {
    if (value.is_object()) return "an object";
    if (value.is_string()) return ir::quoted(value.get_ref<const std::string&>());
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

std::string read_text(const std::filesystem::path& path) {
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        throw ModelError(fmt::format("{}: it cannot be opened: {}", path.string(),
                                     std::generic_category().message(errno)));
    }
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace systole::frontend
