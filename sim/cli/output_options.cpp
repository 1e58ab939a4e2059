#include "sim/cli/output_options.h"

#include <fmt/format.h>

#include <algorithm>

namespace systole::cli {

CLI::Option* add_quiet_option(CLI::App& command, OutputOptions& options) {
    return command.add_flag("--quiet", options.quiet, "print nothing");
}

CLI::Option* add_json_option(CLI::App& command, OutputOptions& options, const std::string& what) {
    return command.add_flag("--json", options.json, fmt::format("print {} instead of text", what));
}

void add_color_option(CLI::App& command, Context& context) {
    using terminal::colours_names;
    const std::vector<std::string> names(colours_names.begin(), colours_names.end());
    CLI::Option* option = command.add_option_function<std::string>(
        "--color",
        [&context, names](const std::string& name) {
            const auto chosen = std::find(names.begin(), names.end(), name) - names.begin();
            context.screen.colours = static_cast<terminal::Colours>(chosen);
        },
        "auto (on a terminal, unless NO_COLOR is set), always, never");
    option->type_name("WHEN");
    context.only(option, names);
}

void print_json(const nlohmann::ordered_json& json) {
    // Texts from files may contain invalid UTF-8, which is replaced.
    constexpr auto replace = nlohmann::ordered_json::error_handler_t::replace;
    fmt::print("{}\n", json.dump(2, ' ', false, replace));
}

}  // namespace systole::cli
