#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hw/machine/config_error.h"
#include "sim/cli/command.h"
#include "sim/cli/progress_line.h"
#include "sim/cli/run_options.h"
#include "sim/explain/explain.h"
#include "sim/page/page.h"
#include "sim/report/report.h"
#include "sim/report/report_file.h"
#include "sim/run/run.h"

namespace systole::cli {
namespace {

struct RunCommand {
    RunOptions options;
    bool quiet = false;
    bool json = false;
    std::vector<std::string> show;

    void operator()() const {
        const run::RunConfig config = asked_for().config();
        if (shows("buffers") && config.print.empty()) {
            throw machine::ConfigError("--show buffers needs a buffer: give --print BUFFER");
        }
        if (!config.out.empty()) report::make_folder(config.out);  // before the long work
        // Before this process begins a simulation of its own: those behind an explanation are copies of it.
        std::optional<report::Explanations> why;
        if (!config.out.empty() && config.explain) why = explained(config);
        report::Report report = report::make_report(simulate(config));
        report.explanations = std::move(why);
        if (!config.out.empty()) write(report, config.out);
        if (json) {
            fmt::print("{}\n", report::to_json_text(report));
        } else if (!quiet) {
            fmt::print("{}", report::to_text(report, show));
            if (!config.out.empty()) {
                fmt::print("Report in {}, its page in {}\n", report::report_path(config.out).string(),
                           report::page_path(config.out).string());
            }
        }
    }

private:
    bool shows(std::string_view part) const {
        return std::find(show.begin(), show.end(), part) != show.end();
    }

    /// Who wants to see a part wants it to be there.
    RunOptions asked_for() const {
        RunOptions asked = options;
        if (shows("instructions")) asked.instructions = true;
        if (shows("registers") && asked.registers.empty()) asked.registers = "all";
        return asked;
    }

    static void write(const report::Report& report, const std::string& folder) {
        report::write_report(report, folder);
        const std::vector<page::NamedReport> shown{{.name = folder, .report = report::to_json(report)}};
        report::write_file(report::page_path(folder), page::to_html(shown));
    }

    /// None of a run that fails: that is for the run to say, whose traces show how far it came.
    static std::optional<report::Explanations> explained(const run::RunConfig& config) {
        try {
            return explain::explain(config);
        } catch (const explain::CannotRun&) {
            return std::nullopt;
        }
    }

    static run::Result simulate(const run::RunConfig& config) {
        ProgressLine progress;
        if (!progress.wanted()) return run::run(config);
        return run::run(config,
                        [&](std::uint64_t issued, std::uint64_t total) { progress.show(issued, total); });
    }
};

std::string section_list() {
    std::string names;
    for (const std::string_view name : report::section_names()) {
        names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
    }
    return names;
}

/// The text, broken at blanks into lines of at most 80 characters.
std::string wrapped(std::string text) {
    constexpr std::size_t columns = 80;
    for (std::size_t begin = 0; text.size() - begin > columns;) {
        const std::size_t blank = text.rfind(' ', begin + columns);
        text[blank] = '\n';
        begin = blank + 1;
    }
    return text;
}

/// What CLI11 tells of a part that there is not.
std::string section_error(const std::string& name) {
    const auto names = report::section_names();
    if (std::find(names.begin(), names.end(), name) != names.end()) return {};
    return fmt::format("{} is not one of {}", name, section_list());
}

}  // namespace

void add_run_command(CLI::App& app) {
    CLI::App* command = app.add_subcommand("run", "Run a network, or a program, on a machine");
    const auto run = std::make_shared<RunCommand>();
    add_model_options(*command, run->options, "run file, whose keys options override; or a program");
    add_run_only_options(*command, run->options);
    auto* quiet = command->add_flag("--quiet", run->quiet, "print nothing; for use with --out");
    auto* json = command->add_flag("--json", run->json, "print report.json instead of text");
    json->excludes(quiet);
    command->add_option("--show", run->show, "print only these parts of the text; see below")
        ->type_name("PART,...")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->excludes(quiet)
        ->excludes(json)
        ->check(section_error);
    command->footer(
        std::string("Examples:\n"
                    "  sim configs/runs/mnist_cnn.json\n"
                    "  sim run mnist_cnn --set machine.clock_mhz=1050 --batch 512 --out results/\n"
                    "  sim run --machine tpu_v1 --model models/mnist_cnn/mnist_cnn.h5 \\\n"
                    "      --input models/mnist_cnn/digits-images.idx3-ubyte.gz --batch 64\n"
                    "  sim run docs/micro_benchmarks/fifo_runs_dry.asm --machine tpu_v1 \\\n"
                    "      --instructions\n\n"
                    "A file that ends in .tpu, .asm or .s is a program; docs/isa.md describes them.\n"
                    "Relative paths are looked for in the current folder, then in the run file's\n"
                    "folder and in those above it. --input drops the labels of the run file,\n"
                    "--model its program, --program its model, batch and calibration.\n\n") +
        wrapped("Parts of the text: " + section_list() + "."));
    command->callback([run] { (*run)(); });
}

}  // namespace systole::cli
