#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/input_file.h"
#include "base/whole_file.h"
#include "hw/machine/config_error.h"
#include "sim/cli/command.h"
#include "sim/cli/messages.h"
#include "sim/cli/output_options.h"
#include "sim/run/path_finder.h"
#include "sim/study/validate/choices.h"
#include "sim/study/validate/output.h"
#include "sim/study/validate/parameter_study.h"
#include "sim/study/validate/validate.h"

namespace systole::cli {
namespace {

namespace fs = std::filesystem;

struct ValidateCommand {
    std::string target = "tpu_v1";
    std::string json_file;
    OutputOptions print;
    const terminal::Screen* screen = nullptr;
    std::string page;
    std::string page_template;
    bool choices = false;
    bool parameters = false;
    bool refit = false;

    void operator()() const {
        const run::PathFinder paths({});
        if (paths.names("validation").count(json_file) > 0) {
            throw machine::ConfigError(
                fmt::format("--json {0}: it is a target, not a file to write; write: sim validate {0} --json",
                            json_file));
        }
        // Opened before the long work, so that a wrong place is found at once.
        const std::string named = choices      ? "docs/validation_choices.template.md"
                                  : parameters ? "docs/parameters.template.md"
                                               : "docs/validation.template.md";
        const fs::path template_path =
            page.empty() ? fs::path() : paths.find(page_template.empty() ? named : page_template);
        const std::string text =
            page.empty() ? std::string() : read_input_file<machine::ConfigError>(template_path);
        std::optional<WholeFile> json_out;
        std::optional<WholeFile> page_out;
        if (!json_file.empty()) json_out.emplace(json_file);
        if (!page.empty()) page_out.emplace(page);
        const auto finish = [&](auto results) {
            const nlohmann::ordered_json json = validate::to_json(results);
            const bool json_only = print.json && json_file.empty();
            if (json_only) print_json(json);
            if (!json_only && !print.quiet)
                print_for_people(screen->out(), validate::to_text(results, screen->out()));
            if (json_out) {
                json_out->write(json.dump(2) + '\n');
                json_out->commit();
            }
            if (page_out) {
                page_out->write(validate::to_page(results, text, template_path.string()));
                page_out->commit();
            }
        };
        if (choices) {
            finish(validate::study_choices(target, paths, refit));
        } else if (parameters) {
            finish(validate::study_parameters(target, paths));
        } else {
            finish(validate::validate(target, paths));
        }
    }
};

}  // namespace

void add_validate_command(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("validate", "Compare the simulator with published measurements");
    const auto validate = std::make_shared<ValidateCommand>();
    validate->screen = &context.screen;
    CLI::Option* target = command
                              ->add_option("target", validate->target,
                                           "a file, or a name in configs/validation; tpu_v1 if not given")
                              ->type_name("TARGET");
    context.note(target, {.presets = "validation", .files = true});
    CLI::Option* json = command->add_option("--json", validate->json_file,
                                            "print all tables and errors as JSON instead of text; or "
                                            "write them to a file besides");
    json->type_name("[FILE]")->expected(0, 1);
    context.note(json, {.files = true});
    command->add_option("--page", validate->page, "write the tables as a page")->type_name("FILE.md");
    command->add_option("--template", validate->page_template, "the page's prose")->type_name("FILE.md");
    CLI::Option* choices = command->add_flag(
        "--choices", validate->choices,
        "instead: turn each choice that was made with published counters in view the other way");
    command
        ->add_flag("--refit", validate->refit,
                   "with --choices: also the scores that need a fit or many runs (minutes)")
        ->needs(choices);
    command
        ->add_flag(
            "--parameters", validate->parameters,
            "instead: list all parameters of the machines, with their sources and what notices a wrong "
            "value")
        ->excludes(choices);
    add_quiet_option(*command, validate->print);
    add_color_option(*command, context);
    command->footer(
        "Examples:\n"
        "  sim validate tpu_v1\n"
        "  sim validate tpu_v1 --json validation.json\n"
        "  sim validate tpu_v1 --page docs/validation.md\n"
        "  sim validate tpu_v1 --choices\n"
        "  sim validate tpu_v1 --parameters --page docs/parameters.md\n\n"
        "tpu_v1: the six workloads of the ISCA 2017 paper run with published parameters alone,\n"
        "then with three fitted ones, beside models that need no simulator. docs/validations.md\n"
        "says how to write another target.");
    command->callback([validate, json] {
        validate->print.json = json->count() > 0;
        (*validate)();
    });
}

}  // namespace systole::cli
