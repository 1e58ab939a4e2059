#include "sim/cli/app.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <systemc>
#include <vector>

#include "base/user_error.h"
#include "base/whole_file.h"
#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"
#include "sim/cli/arguments.h"
#include "sim/cli/command.h"
#include "sim/cli/completion.h"
#include "sim/cli/messages.h"
#include "sim/cli/run_options.h"
#include "sim/run/path_finder.h"
#include "sim/view/terminal/layout.h"

namespace systole::cli {
namespace {

constexpr int success = 0;
constexpr int user_error = 2;
constexpr int internal_error = 70;  // EX_SOFTWARE

/// `reason` is errno.
[[noreturn]] void fail_on_stdout(int reason) {
    const std::string text = reason == EBADF ? "it is closed" : std::generic_category().message(reason);
    throw OutputError("stdout: cannot be written: " + text);
}

/// Runs a command that prints on stdout. Throws OutputError if anything could not be printed.
template <class Command>
int print_whole(const Command& command) {
    try {
        const int code = command();
        errno = 0;
        if (std::fflush(stdout) != 0) fail_on_stdout(errno);
        return code;
    } catch (const std::system_error& error) {
        if (std::ferror(stdout) != 0) fail_on_stdout(error.code().value());
        throw;
    }
}

/// CLI11's help, shortened: only the name of its value follows an option, without CLI11's notes on exclusions
/// and counts. Descriptions are wrapped.
class HelpFormatter : public CLI::Formatter {
public:
    explicit HelpFormatter(std::size_t columns) : room_(columns - names_width) { column_width(names_width); }

    std::string make_option_opts(const CLI::Option* option) const override {
        const std::string& type = option->get_type_name();
        return type.empty() ? "" : " " + type;
    }

    std::string make_option_desc(const CLI::Option* option) const override {
        return terminal::wrapped(option->get_description(), room_);
    }

private:
    static constexpr std::size_t names_width = 27;

    std::size_t room_;
};

void set_up(CLI::App& app, Context& context) {
    app.description(
        "Runs a neural network on a simulated tensor processing unit: what it answers,\n"
        "and where every cycle went.\n\n"
        "  sim configs/runs/mnist_cnn.json    a run; short for: sim run ...\n"
        "  sim docs/micro_benchmarks/fifo_runs_dry.asm --machine tpu_v1 --instructions\n"
        "                                     lines of assembly, and what each costs\n"
        "  sim COMMAND --help                 options and examples of a command\n");
    app.name("sim");
    app.require_subcommand(1);
    app.formatter(std::make_shared<HelpFormatter>(context.screen.out().width()));
    app.set_version_flag("--version", fmt::format("sim {} (Systole, with SystemC {}.{}.{})", SYSTOLE_VERSION,
                                                  SC_VERSION_MAJOR, SC_VERSION_MINOR, SC_VERSION_PATCH));
    add_run_command(app, context);
    add_compile_command(app, context);
    add_asm_command(app, context);
    add_disasm_command(app, context);
    add_validate_command(app, context);
    add_baseline_command(app, context);
    add_report_command(app, context);
    add_explain_command(app, context);
    add_advise_command(app, context);
    add_decode_command(app, context);
    add_sweep_command(app, context);
    add_train_command(app, context);
    add_chunk_command(app, context);
    add_schema_command(app, context);
    add_worker_command(app, context);
    add_completion_command(app, context);
}

std::vector<std::string> command_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* command : visible_commands(app)) names.push_back(command->get_name());
    return names;
}

/// Inserts `run` if the first word is not a command but names a run file, a network or a program.
std::vector<std::string> expand_shorthand(std::vector<std::string> arguments, CLI::App& app) {
    const std::string& first = arguments.front();
    if (first.starts_with('-') || command_of(app, first) != nullptr) return arguments;
    if (first.ends_with(".json") || names_program(first) || names_network(first) ||
        run::PathFinder({}).knows(first, "runs")) {
        arguments.insert(arguments.begin(), "run");
        return arguments;
    }
    const std::vector<std::string> commands = command_names(app);
    std::vector<std::string> known = commands;
    for (const std::string& name : run::PathFinder({}).names("runs")) known.push_back(name);
    const bool is_like_none = nearest(first, known).empty();
    throw machine::ConfigError(
        fmt::format("{}: it is neither a command, a run file, a network nor a program{}", first,
                    is_like_none ? fmt::format("; the commands are {}", fmt::join(commands, ", "))
                                 : suggestion(first, known)));
}

int parse_and_run(CLI::App& app, const Context& context, std::vector<std::string> arguments) {
    if (arguments.empty()) {
        fmt::print("{}", app.help());
        return success;
    }
    arguments = expand_shorthand(std::move(arguments), app);
    check_arguments(app, arguments);
    const CLI::App* const command = command_of(app, arguments.front());
    const std::string whose = command_text(command == nullptr ? app : *command);
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
    try {
        app.parse(std::move(arguments));
    } catch (const CLI::Success& asked) {  // --help, --version
        std::ostringstream text;
        const int code = app.exit(asked, text, text);
        fmt::print("{}", text.str());
        return code;
    } catch (const CLI::ParseError& error) {
        const std::string message = error.what();
        const std::string hint = message.ends_with('?') ? "" : fmt::format("; see {} --help", whose);
        print_error(context.screen.error(), message + hint);
        return user_error;
    }
    return context.exit_code;
}

}  // namespace

int run_app(int argc, const char* const* argv) {
    Context context;
    try {
        CLI::App app;
        set_up(app, context);
        return print_whole([&] { return parse_and_run(app, context, {argv + 1, argv + argc}); });
    } catch (const std::exception& error) {
        print_error(context.screen.error(), line_of(error));
        return is_internal(error) ? internal_error : user_error;
    }
}

}  // namespace systole::cli
