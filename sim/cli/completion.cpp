#include "sim/cli/completion.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "sim/cli/arguments.h"
#include "sim/run/path_finder.h"

namespace systole::cli {
namespace {

/// The option that a word names; "--batch=3" names "--batch".
const CLI::Option* option_of(const CLI::App& command, const std::string& word) {
    return command.get_option_no_throw(word.substr(0, word.find('=')));
}

/// The position of the cursor, as the words before it determine it.
struct Place {
    const CLI::Option* option = nullptr;  ///< the option whose value may come next
    bool value_is_due = false;            ///< only this option's value may come next
    std::size_t positionals = 0;          ///< values without an option so far
    bool options_ended = false;           ///< by "--"
};

Place place_behind(const CLI::App& command, std::span<const std::string> words) {
    Place place;
    for (const std::string& word : words) {
        if (!place.options_ended && word == "--") {
            place = {.positionals = place.positionals, .options_ended = true};
        } else if (!place.options_ended && is_option(word)) {
            const CLI::Option* option = option_of(command, word);
            const bool takes_value = option != nullptr && option->get_items_expected_max() > 0;
            const bool has_value = word.find('=') != std::string::npos;
            place.option = takes_value && !has_value ? option : nullptr;
            place.value_is_due = place.option != nullptr && option->get_items_expected_min() > 0;
        } else if (place.option != nullptr) {
            const bool takes_more =
                place.option->get_items_expected_max() > 1 && place.option->get_allow_extra_args();
            if (!takes_more) place.option = nullptr;
            place.value_is_due = false;
        } else {
            ++place.positionals;
        }
    }
    return place;
}

/// The command's positional argument with this index; null if it has no such argument.
const CLI::Option* positional(const CLI::App& command, std::size_t number) {
    const auto all = command.get_options([](const CLI::Option* option) { return option->get_positional(); });
    if (all.empty()) return nullptr;
    if (number < all.size()) return all[number];
    return all.back()->get_items_expected_max() > 1 ? all.back() : nullptr;
}

/// Collects the candidates that begin with `typed`; `before` is the part of the same word before them.
class Collector {
public:
    Collector(std::string_view typed, std::string before) : typed_(typed), before_(std::move(before)) {}

    void add(std::string_view word, std::string_view meaning = {}) {
        if (!word.starts_with(typed_)) return;
        completion_.candidates.push_back({before_ + std::string(word), std::string(meaning)});
    }

    void add_values(const Values& values) {
        for (const std::string& word : values.words) add(word);
        if (!values.presets.empty()) {
            for (const std::string& name : run::PathFinder({}).names(values.presets)) {
                add(name, values.presets == "models" ? values.presets : "configs/" + values.presets);
            }
        }
        if (values.folders) completion_.paths = Completion::Paths::Folders;
        if (values.files) completion_.paths = Completion::Paths::Files;
    }

    void add_options(const CLI::App& command) {
        for (const CLI::Option* option : command.get_options()) {
            for (const std::string& name : option->get_lnames()) add("--" + name, option->get_description());
            for (const std::string& name : option->get_snames()) add("-" + name, option->get_description());
        }
    }

    Completion take() && { return std::move(completion_); }

private:
    std::string_view typed_;
    std::string before_;
    Completion completion_;
};

/// Values of an option: `typed` is the typed part of the value, `before` the part of the word before it.
Completion values_for(const Values& values, std::string_view typed, std::string before) {
    if (values.listed) {
        const std::size_t begin = typed.rfind(',') + 1;  // 0 where there is none
        before += typed.substr(0, begin);
        typed.remove_prefix(begin);
    }
    Collector collector(typed, std::move(before));
    collector.add_values(values);
    return std::move(collector).take();
}

Completion complete_in(const CLI::App& command, const Context& context, std::span<const std::string> before,
                       const std::string& current) {
    const Place place = place_behind(command, before);
    if (place.value_is_due) return values_for(context.values_of(*place.option), current, "");
    if (!place.options_ended && !current.empty() && current.front() == '-') {
        const std::size_t equals = current.find('=');
        const CLI::Option* option = option_of(command, current);
        if (equals != std::string::npos && option != nullptr) {
            return values_for(context.values_of(*option), std::string_view(current).substr(equals + 1),
                              current.substr(0, equals + 1));
        }
        Collector collector(current, "");
        collector.add_options(command);
        return std::move(collector).take();
    }
    if (place.option != nullptr) return values_for(context.values_of(*place.option), current, "");
    const CLI::Option* next = positional(command, place.positionals);
    return next == nullptr ? Completion{} : values_for(context.values_of(*next), current, "");
}

/// The commands, and the arguments of `sim run`, because the word `run` may be left out.
Completion complete_first(const CLI::App& app, const Context& context, const std::string& current) {
    Collector collector(current, "");
    for (const CLI::App* command : visible_commands(app)) {
        collector.add(command->get_name(), command->get_description());
    }
    if (!current.empty() && current.front() == '-') {
        collector.add_options(app);
    } else {
        collector.add_values(context.values_of(*positional(*app.get_subcommand("run"), 0)));
    }
    return std::move(collector).take();
}

struct Script {
    std::string_view shell;
    std::string_view text;
};

constexpr std::array<Script, 3> scripts{
    {{"bash", R"(# Completion of sim's command line: source <(sim completion bash)
_sim_complete() {
    local words=() i word
    for ((i = 1; i <= COMP_CWORD; ++i)); do
        word=${COMP_WORDS[i]}
        # bash takes "=" and ":" for words of their own; sim does not.
        if ((i > 1)) && [[ $word == [=:] || ${COMP_WORDS[i - 1]} == [=:] ]]; then
            words[-1]+=$word
        else
            words+=("$word")
        fi
    done
    # bash puts what it gets behind the last of them.
    local current=${words[-1]} kept
    kept=${current%"${current##*[=:]}"}
    local paths candidate meaning
    COMPREPLY=()
    {
        read -r paths
        while IFS=$'\t' read -r candidate meaning; do
            COMPREPLY+=("${candidate#"$kept"}")
        done
    } < <("${COMP_WORDS[0]/#\~/$HOME}" complete-words -- "${words[@]}" 2>/dev/null)
    case $paths in
        files) mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "${current#"$kept"}") ;;
        folders) mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -d -- "${current#"$kept"}") ;;
    esac
    # Where no completion is under way, as in a test, there is nothing to set.
    [[ $paths == none ]] || compopt -o filenames 2>/dev/null
    [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null
}
complete -F _sim_complete sim
)"},
     {"zsh", R"(#compdef sim
# Completion of sim's command line: source <(sim completion zsh)
_sim_complete() {
    local -a lines candidates unfinished
    local line word
    lines=("${(@f)$("${(Q)words[1]/#\~/$HOME}" complete-words -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
    for line in "${(@)lines[2,-1]}"; do
        word=${line%%$'\t'*}
        if [[ $word == *= ]]; then
            unfinished+=("$word")
        else
            candidates+=("${word//:/\\:}:${line#*$'\t'}")
        fi
    done
    ((${#unfinished})) && compadd -S '' -a unfinished
    ((${#candidates})) && _describe sim candidates
    case ${lines[1]} in
        files) _files ;;
        folders) _files -/ ;;
    esac
}
compdef _sim_complete sim
# Found in fpath, this text is itself the function of the first completion.
[[ ${funcstack[1]} != _sim ]] || _sim_complete
)"},
     {"fish", R"(# Completion of sim's command line: sim completion fish | source
function __sim_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l lines (eval (string escape -- $words[1]) complete-words -- (string escape -- $words[2..-1]) 2>/dev/null)
    printf '%s\n' $lines[2..-1]
    switch "$lines[1]"
        case files
            __fish_complete_path (commandline -ct)
        case folders
            __fish_complete_directories (commandline -ct) ''
    end
end
complete -c sim -f -a '(__sim_complete)'
)"}}};

}  // namespace

Completion complete(const CLI::App& app, const Context& context, std::span<const std::string> words) {
    if (words.empty()) return {};
    const std::string& current = words.back();
    const std::span<const std::string> before = words.first(words.size() - 1);
    if (before.empty()) return complete_first(app, context, current);
    if (const CLI::App* command = command_of(app, before.front())) {
        return complete_in(*command, context, before.subspan(1), current);
    }
    return complete_in(*app.get_subcommand("run"), context, before, current);
}

std::string to_lines(const Completion& completion) {
    constexpr std::array<std::string_view, 3> paths{"none", "folders", "files"};
    std::string text = fmt::format("{}\n", paths[static_cast<std::size_t>(completion.paths)]);
    for (const Candidate& candidate : completion.candidates) {
        std::string meaning = candidate.meaning;
        std::replace(meaning.begin(), meaning.end(), '\n', ' ');
        text += fmt::format("{}\t{}\n", candidate.word, meaning);
    }
    return text;
}

std::vector<const CLI::App*> visible_commands(const CLI::App& app) {
    return app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

const CLI::App* command_of(const CLI::App& app, const std::string& name) {
    const auto found =
        app.get_subcommands([&](const CLI::App* command) { return command->get_name() == name; });
    return found.empty() ? nullptr : found.front();
}

std::string_view completion_script(std::string_view shell) {
    const auto found = std::find_if(scripts.begin(), scripts.end(),
                                    [&](const Script& script) { return script.shell == shell; });
    return found == scripts.end() ? std::string_view() : found->text;
}

std::vector<std::string> shell_names() {
    std::vector<std::string> names;
    names.reserve(scripts.size());
    for (const Script& script : scripts) names.emplace_back(script.shell);
    return names;
}

}  // namespace systole::cli
