#include <fmt/format.h>

#include <memory>

#include "sim/cli/command.h"
#include "sim/cli/progress_line.h"
#include "sim/cli/run_options.h"
#include "sim/report/report.h"
#include "sim/report/report_file.h"
#include "sim/run/run.h"

namespace systole::cli {
namespace {

struct RunCommand {
    RunOptions options;
    bool quiet = false;
    bool json = false;

    void operator()() const {
        const run::RunConfig config = options.config();
        if (!config.out.empty()) report::make_folder(config.out);  // before the long work
        const report::Report report = report::make_report(simulate(config));
        if (!config.out.empty()) report::write_report(report, config.out);
        if (json) {
            fmt::print("{}\n", report::to_json_text(report));
        } else if (!quiet) {
            fmt::print("{}", report::to_text(report));
            if (!config.out.empty()) fmt::print("Report in {}\n", report::report_path(config.out).string());
        }
    }

private:
    static run::Result simulate(const run::RunConfig& config) {
        ProgressLine progress;
        if (!progress.wanted()) return run::run(config);
        return run::run(config,
                        [&](std::uint64_t issued, std::uint64_t total) { progress.show(issued, total); });
    }
};

}  // namespace

void add_run_command(CLI::App& app) {
    CLI::App* command = app.add_subcommand("run", "Run a network, or a program, on a machine");
    const auto run = std::make_shared<RunCommand>();
    add_model_options(*command, run->options);
    add_run_only_options(*command, run->options);
    auto* quiet = command->add_flag("--quiet", run->quiet, "print nothing; for use with --out");
    command->add_flag("--json", run->json, "print report.json instead of text")->excludes(quiet);
    command->footer(
        "Examples:\n"
        "  sim configs/runs/mnist_cnn.json\n"
        "  sim run mnist_cnn --set machine.clock_mhz=1050 --batch 512 --out results/\n"
        "  sim run --machine tpu_v1 --model models/mnist_cnn/mnist_cnn.h5 \\\n"
        "      --input models/mnist_cnn/digits-images.idx3-ubyte.gz --batch 64\n\n"
        "Relative paths are looked for in the current folder, then in the run file's\n"
        "folder and in those above it. --input drops the labels of the run file,\n"
        "--model its program, --program its model, batch and calibration.");
    command->callback([run] { (*run)(); });
}

}  // namespace systole::cli
