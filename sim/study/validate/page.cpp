#include "sim/study/validate/page.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "hw/machine/config_error.h"
#include "sim/study/validate/plots/plots.h"
#include "sim/study/validate/tables/tables.h"

namespace systole::validate {

std::map<std::string, std::string> placeholders(const Results& results, const std::string& plot_folder) {
    std::map<std::string, std::string> values;
    for (const Table& table : all_tables(results)) values[table.id] = to_markdown(table);
    for (const Plot& plot : all_plots(results)) {
        values["plot_" + plot.name] = fmt::format("![{}]({}/{}.svg)\n", plot.alt, plot_folder, plot.name);
    }
    return values;
}

std::string fill(std::string_view text, const std::map<std::string, std::string>& values,
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
        const auto value = values.find(name);
        if (value == values.end()) {
            throw machine::ConfigError(
                fmt::format("{}: {{{{{}}}}} is no placeholder that anything stands for", file, name));
        }
        shown.insert(name);
        page += value->second;
        text.remove_prefix(end + 2);
        if (value->second.ends_with('\n') && text.starts_with('\n')) text.remove_prefix(1);
    }
    for (const auto& [name, value] : values) {
        if (!shown.contains(name)) {
            throw machine::ConfigError(fmt::format("{}: {{{{{}}}}} is nowhere in it", file, name));
        }
    }
    return page;
}

}  // namespace systole::validate
