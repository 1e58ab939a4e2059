#include "sim/cli/arguments.h"

#include <fmt/format.h>

#include <set>
#include <vector>

#include "base/user_error.h"
#include "hw/machine/config_error.h"
#include "sim/cli/completion.h"

namespace systole::cli {
namespace {

bool has_option(const CLI::App& command, const std::string& name) {
    return command.get_option_no_throw(name) != nullptr;
}

std::vector<std::string> long_options(const CLI::App& command) {
    std::vector<std::string> names;
    for (const CLI::Option* option : command.get_options()) {
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
    return names;
}

/// Whether the word is a short option with its value: "-ofile.tpu".
bool has_value_attached(const CLI::App& command, const std::string& word) {
    if (word.size() < 3 || word[1] == '-' || !has_option(command, word.substr(0, 2))) return false;
    if (word.find_first_of("./") != std::string::npos) return true;
    // A long option with one dash begins as it should, and is about as long.
    const std::vector<std::string> known = long_options(command);
    const std::string_view near = nearest("-" + word, known);
    return near.empty() || near[2] != word[1] || near.size() > word.size() + 2 || near.size() < word.size();
}

/// The rule that an option breaks which the command does not have.
std::string unknown(const CLI::App& app, const CLI::App& command, const std::string& name) {
    const bool has_one_dash = !name.starts_with("--");
    const std::string with_dashes = has_one_dash ? "-" + name : name;
    if (has_one_dash && has_option(command, with_dashes)) {
        return "long options begin with two dashes" + did_you_mean(with_dashes);
    }
    const std::string none = command_text(command) + " has no such option";
    std::vector<const CLI::App*> others = visible_commands(app);
    others.push_back(&app);
    for (const CLI::App* other : others) {
        if (has_option(*other, with_dashes)) return fmt::format("{}; {} has it", none, command_text(*other));
    }
    const std::string proposed = suggestion(with_dashes, long_options(command));
    return none + (proposed.empty() ? fmt::format("; see {} --help", command_text(command)) : proposed);
}

/// The option's value is the next word, which is null at the end of the line.
void check_value(const CLI::Option& option, const std::string& word, const std::string* next) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (option.get_items_expected_min() == 0) return;
    const bool is_inside = equals != std::string::npos;
    if (!is_inside && (next == nullptr || is_option(*next))) {
        throw machine::ConfigError(
            fmt::format("{}: its value is missing: {} {}", name, name, option.get_type_name()));
    }
    if (is_inside ? equals + 1 == word.size() : next->empty()) {
        throw machine::ConfigError(fmt::format("{}: its value is empty", name));
    }
}

}  // namespace

bool is_option(std::string_view word) {
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-";
    return word.size() > 1 && word[0] == '-' && letters.find(word[1]) != std::string_view::npos;
}

std::string command_text(const CLI::App& command) {
    return command.get_parent() == nullptr ? "sim" : "sim " + command.get_name();
}

void check_arguments(const CLI::App& app, std::span<const std::string> arguments) {
    if (arguments.empty()) return;
    const CLI::App* const named = command_of(app, arguments.front());
    if (named != nullptr && named->get_group().empty()) return;  // a hidden one: its words are any
    const CLI::App& command = named == nullptr ? app : *named;
    std::set<const CLI::Option*> given;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& word = arguments[i];
        if (word == "--") return;
        if (word.empty()) throw machine::ConfigError("an argument is empty, \"\"");
        if (!is_option(word)) continue;
        const std::string name = word.substr(0, word.find('='));
        const CLI::Option* const option = command.get_option_no_throw(name);
        if (option == nullptr) {
            if (has_value_attached(command, word)) continue;
            throw machine::ConfigError(fmt::format("{}: {}", name, unknown(app, command, name)));
        }
        const bool is_last = i + 1 == arguments.size();
        check_value(*option, word, is_last ? nullptr : &arguments[i + 1]);
        if (option->get_items_expected_max() == 1 && !given.insert(option).second) {
            throw machine::ConfigError(fmt::format("{} is given twice", name));
        }
    }
}

}  // namespace systole::cli
