#include "sim/cli/context.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/user_error.h"
#include "hw/machine/config_reader.h"

namespace systole::cli {

Values Context::values_of(const CLI::Option& option) const {
    const auto noted = values_.find(&option);
    if (noted != values_.end()) return noted->second;
    const std::string type = option.get_type_name();
    const std::string name = type.empty() ? option.get_name(true) : type;
    return {.files = name.starts_with("FILE"), .folders = name.starts_with("DIR")};
}

void Context::only(CLI::Option* option, std::vector<std::string> words, bool listed) {
    option->check([words](const std::string& given) {
        if (std::find(words.begin(), words.end(), given) != words.end()) return std::string();
        if (nearest(given, words).empty()) {
            return fmt::format("{} is not one of {}", given, fmt::join(words, ", "));
        }
        return fmt::format("there is no {}{}", given, suggestion(given, words));
    });
    if (listed) option->delimiter(',')->allow_extra_args(false);
    note(option, {.words = std::move(words), .listed = listed});
}

}  // namespace systole::cli
