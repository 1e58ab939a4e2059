#include "sim/view/table/page.h"

#include <fmt/format.h>

#include <cstddef>
#include <set>

#include "hw/machine/config_error.h"

namespace systole::tables {

std::string filled_page(std::string_view text, const std::map<std::string, std::string>& tables,
                        const std::string& file) {
    std::string page;
    std::set<std::string> shown;
    for (;;) {
        const std::size_t begin = text.find("{{");
        page += text.substr(0, begin);
        if (begin == std::string_view::npos) break;
        const std::size_t end = text.find("}}", begin);
        if (end == std::string_view::npos) {
            const std::string_view beginning = text.substr(begin, 40);
            throw machine::ConfigError(fmt::format("{}: a placeholder is not closed: {}", file,
                                                   beginning.substr(0, beginning.find('\n'))));
        }
        const std::string name(text.substr(begin + 2, end - begin - 2));
        const auto table = tables.find(name);
        if (table == tables.end()) {
            throw machine::ConfigError(
                fmt::format("{}: {{{{{}}}}} is no placeholder that anything stands for", file, name));
        }
        shown.insert(name);
        page += table->second;
        text.remove_prefix(end + 2);
        if (table->second.ends_with('\n') && text.starts_with('\n')) text.remove_prefix(1);
    }
    for (const auto& [name, table] : tables) {
        if (!shown.contains(name)) {
            throw machine::ConfigError(fmt::format("{}: {{{{{}}}}} is nowhere in it", file, name));
        }
    }
    return page;
}

}  // namespace systole::tables
